// SPDX-License-Identifier: Apache-2.0
/* Arrays of one, two and three dimensions: what they are, copies to and from them. */
#include "common.h"

static unsigned char *from, *to;
static CUdeviceptr d;
static CUstream stream;

static void paint(size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++)
        from[i] = (unsigned char)next_random(&seed);
    memset(to, 0x5a, n);
}

static void describe(CUarray a) {
    CUDA_ARRAY3D_DESCRIPTOR d3 = {0};
    CUDA_ARRAY_DESCRIPTOR d2 = {0};
    CUresult r2 = cuArrayGetDescriptor(&d2, a);

    printf("  2D %d: %zu x %zu, format %d, %u\n", r2, d2.Width, d2.Height, (int)d2.Format,
           d2.NumChannels);
    SHOW(cuArray3DGetDescriptor(&d3, a));
    printf("  %zu x %zu x %zu, format %d, %u, flags %u\n", d3.Width, d3.Height, d3.Depth,
           (int)d3.Format, d3.NumChannels, d3.Flags);
}

static void one_row(void) {
    CUDA_ARRAY_DESCRIPTOR desc = {.Width = 1000, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray a, b;

    printf("-- one row\n");
    CK(cuArrayCreate(&a, &desc));
    CK(cuArrayCreate(&b, &desc));
    describe(a);
    paint(4000, 1);
    SHOW(cuMemcpyHtoA(a, 0, from, 4000));
    SHOW(cuMemcpyAtoA(b, 400, a, 0, 3600));
    SHOW(cuMemcpyAtoA(b, 0, a, 3600, 400));
    SHOW(cuMemcpyAtoD(d, b, 0, 4000));
    SHOW(cuMemcpyDtoA(a, 0, d, 4000));
    SHOW(cuMemcpyAtoH(to, a, 0, 4000));
    printf("%d\n", memcmp(to, from + 3600, 400) || memcmp(to + 400, from, 3600));
    paint(4000, 2);
    SHOW(cuMemcpyHtoAAsync(a, 100, from, 2000, stream));
    SHOW(cuMemcpyAtoHAsync(to, a, 100, 2000, stream));
    CK(cuStreamSynchronize(stream));
    printf("%d\n", memcmp(to, from, 2000));
    SHOW(cuMemcpyHtoA(a, 0, from, 4001));
    SHOW(cuMemcpyHtoA(a, 4, from, 4000));
    SHOW(cuMemcpyHtoA(a, 4000, from, 0));
    SHOW(cuMemcpyHtoA(a, 1 << 20, from, 16));
    SHOW(cuMemcpyHtoA(a, 0, NULL, 16));
    SHOW(cuMemcpyAtoH(NULL, a, 0, 16));
    SHOW(cuMemcpyAtoD(0, a, 0, 16));
    SHOW(cuMemcpyHtoA(NULL, 0, from, 16));
    SHOW(cuMemcpyAtoA(a, 0, NULL, 0, 16));
    SHOW(cuArrayDestroy(a));
    SHOW(cuArrayDestroy(b));
}

static void rows(const char *kind) {
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 1000, .Height = 700, .Format = CU_AD_FORMAT_UNSIGNED_INT16, .NumChannels = 2};
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = from,
                        .srcPitch = 4096,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .WidthInBytes = 4000,
                        .Height = 700};
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcXInBytes = 40,
                          .srcY = 3,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = 4096,
                          .WidthInBytes = 3200,
                          .Height = 600};
    int wrong = 0;
    CUarray a;

    printf("-- rows, %s\n", kind);
    CK(cuArrayCreate(&a, &desc));
    describe(a);
    up.dstArray = down.srcArray = a;
    paint(4096 * 700, 3);
    SHOW(cuMemcpy2D(&up));
    SHOW(cuMemcpy2D(&down));
    for (int y = 0; y < 600; y++)
        wrong += memcmp(to + y * 4096, from + (y + 3) * 4096 + 40, 3200) != 0 ||
                 to[y * 4096 + 3200] != 0x5a;
    printf("%d rows wrong\n", wrong);
    memset(to, 0x5a, 4096 * 700);
    SHOW(cuMemcpy2DAsync(&up, stream));
    SHOW(cuMemcpy2DAsync(&down, stream));
    CK(cuStreamSynchronize(stream));
    for (int y = wrong = 0; y < 600; y++)
        wrong += memcmp(to + y * 4096, from + (y + 3) * 4096 + 40, 3200) != 0;
    printf("%d rows wrong\n", wrong);
    up.Height = 701;
    SHOW(cuMemcpy2D(&up));
    up.Height = 1;
    up.WidthInBytes = 4004;
    SHOW(cuMemcpy2D(&up));
    up.WidthInBytes = 3;
    SHOW(cuMemcpy2D(&up));
    up.dstXInBytes = 2;
    up.WidthInBytes = 4;
    SHOW(cuMemcpy2D(&up));
    up.dstXInBytes = 0;
    up.dstY = 700;
    SHOW(cuMemcpy2D(&up));
    SHOW(cuArrayDestroy(a));
}

static void slices(unsigned int flags) {
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 64,
                                    .Height = 64,
                                    .Depth = 12,
                                    .Format = CU_AD_FORMAT_SIGNED_INT32,
                                    .NumChannels = 4,
                                    .Flags = flags};
    CUDA_MEMCPY3D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = from,
                        .srcPitch = 1024,
                        .srcHeight = 64,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .WidthInBytes = 1024,
                        .Height = 64,
                        .Depth = 12};
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcXInBytes = 16,
                          .srcY = 1,
                          .srcZ = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = 1024,
                          .dstHeight = 64,
                          .WidthInBytes = 512,
                          .Height = 63,
                          .Depth = 10};
    int wrong = 0;
    CUarray a;
    CUresult r = cuArray3DCreate(&a, &desc);

    printf("-- slices, flags %u = %d\n", flags, r);
    if (r != CUDA_SUCCESS)
        return;
    describe(a);
    up.dstArray = down.srcArray = a;
    paint(1024 * 64 * 12, flags + 9);
    SHOW(cuMemcpy3D(&up));
    SHOW(cuMemcpy3D(&down));
    for (int z = 0; z < 10; z++) {
        for (int y = 0; y < 63; y++)
            wrong += memcmp(to + (z * 64 + y) * 1024, from + ((z + 2) * 64 + y + 1) * 1024 + 16,
                            512) != 0;
    }
    printf("%d rows wrong\n", wrong);
    down.Depth = 11;
    SHOW(cuMemcpy3D(&down));
    SHOW(cuArrayDestroy(a));
}

#define TRY(text, change)                                                                          \
    do {                                                                                           \
        CUDA_ARRAY3D_DESCRIPTOR c = good;                                                          \
        CUarray a = NULL;                                                                          \
        CUresult r;                                                                                \
        change;                                                                                    \
        r = cuArray3DCreate(&a, &c);                                                               \
        printf(text " = %d\n", r);                                                                 \
        if (r == CUDA_SUCCESS)                                                                     \
            CK(cuArrayDestroy(a));                                                                 \
    } while (0)

static void wrong_ones(void) {
    CUDA_ARRAY3D_DESCRIPTOR good = {
        .Width = 64, .Height = 64, .Depth = 6, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_ARRAY_DESCRIPTOR flat = {.Width = 0, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR d3;
    CUDA_ARRAY_DESCRIPTOR d2;
    CUarray a;

    printf("-- wrong arguments\n");
    TRY("good", (void)c);
    TRY("width 0", c.Width = 0);
    TRY("all 0", c.Width = c.Height = c.Depth = 0);
    TRY("height 0", c.Height = 0);
    TRY("height and depth 0", c.Height = c.Depth = 0);
    TRY("3 channels", c.NumChannels = 3);
    TRY("0 channels", c.NumChannels = 0);
    TRY("8 channels", c.NumChannels = 8);
    TRY("format 0", c.Format = 0);
    TRY("format 7", c.Format = 7);
    TRY("width 2^40", c.Width = 1ull << 40);
    TRY("width 2^20", c.Width = 1ull << 20);
    TRY("cube of 6", c.Flags = CUDA_ARRAY3D_CUBEMAP);
    TRY("cube of 5", (c.Flags = CUDA_ARRAY3D_CUBEMAP, c.Depth = 5));
    TRY("cube that is none", (c.Flags = CUDA_ARRAY3D_CUBEMAP, c.Height = 32));
    TRY("flags 0x8000", c.Flags = 0x8000);
    SHOW(cuArray3DCreate(NULL, &good));
    SHOW(cuArray3DCreate(&a, NULL));
    SHOW(cuArrayCreate(NULL, &flat));
    SHOW(cuArrayCreate(&a, NULL));
    SHOW(cuArrayCreate(&a, &flat));
    SHOW(cuArrayDestroy(NULL));
    SHOW(cuArrayGetDescriptor(&d2, NULL));
    SHOW(cuArray3DGetDescriptor(&d3, NULL));
    CK(cuArray3DCreate(&a, &good));
    SHOW(cuArrayGetDescriptor(NULL, a));
    SHOW(cuArray3DGetDescriptor(NULL, a));
    SHOW(cuArrayGetDescriptor(&d2, a));
    CK(cuArrayDestroy(a));
}

/* What an ended context had is gone. */
static void of_context(CUcontext before) {
    CUDA_ARRAY_DESCRIPTOR d2, desc = {.Width = 100, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUcontext c;
    CUarray a;

    printf("-- of a context\n");
    CK(cuCtxCreate_v2(&c, 0, 0));
    CK(cuArrayCreate(&a, &desc));
    CK(cuCtxSetCurrent(before));
    SHOW(cuArrayGetDescriptor(&d2, a));
    CK(cuCtxDestroy(c));
    CK(cuArrayCreate(&a, &desc));
    SHOW(cuArrayGetDescriptor(&d2, a));
    CK(cuArrayDestroy(a));
}

int main(void) {
    CUDA_ARRAY_DESCRIPTOR desc = {.Width = 100, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUcontext c;
    CUarray a;

    SHOW(cuArrayCreate(&a, &desc));
    CK(cuInit(0));
    SHOW(cuArrayCreate(&a, &desc));
    c = start();
    CK(cuMemAlloc(&d, 1 << 20));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    from = malloc(4 << 20);
    to = malloc(4 << 20);
    one_row();
    rows("pageable");
    for (unsigned int flags = 0; flags < 16; flags++)
        slices(flags);
    CK(cuMemAllocHost((void **)&from, 4 << 20));
    CK(cuMemAllocHost((void **)&to, 4 << 20));
    rows("pinned");
    slices(0);
    wrong_ones();
    of_context(c);
    return 0;
}
