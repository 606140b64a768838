// SPDX-License-Identifier: Apache-2.0
/* Copies of rows: pinned, pageable, within the device; wrong arguments. */
#include "common.h"

#define PITCH 4096
#define ROWS 1500

static unsigned char *from, *to, *image;
static CUdeviceptr d, e;
static CUstream stream;

static void paint(unsigned char *p, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)next_random(&seed);
}

/* What a copy of rows must do to `image`. */
static void expect(size_t dst, size_t dst_pitch, const unsigned char *src, size_t src_pitch,
                   size_t width, size_t rows) {
    for (size_t y = 0; y < rows; y++)
        memcpy(image + dst + y * dst_pitch, src + y * src_pitch, width);
}

static CUresult run(const CUDA_MEMCPY2D *c, int how) {
    switch (how) {
    case 0:
        return cuMemcpy2D(c);
    case 1:
        return cuMemcpy2DUnaligned(c);
    default:
        CK(cuMemcpy2DAsync(c, stream));
        return cuStreamSynchronize(stream);
    }
}

/* Up to a part of the device's memory, within it, and down again. */
static void there_and_back(const char *kind, int how) {
    static const struct {
        size_t width, rows, x, y;
    } cases[] = {
        {1, 1, 0, 0},       {64, 7, 3, 2},      {100, 100, 0, 0},   {4096, 16, 0, 1},
        {4093, 1000, 3, 9}, {8, 1400, 4088, 0}, {777, 1499, 11, 1}, {4096, 1500, 0, 0},
    };
    int wrong = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t w = cases[i].width, h = cases[i].rows, x = cases[i].x, y = cases[i].y;
        CUDA_MEMCPY2D up = {.srcXInBytes = x,
                            .srcY = y,
                            .srcMemoryType = CU_MEMORYTYPE_HOST,
                            .srcHost = from,
                            .srcPitch = PITCH,
                            .dstXInBytes = x,
                            .dstY = y,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = d,
                            .dstPitch = PITCH,
                            .WidthInBytes = w,
                            .Height = h};
        CUDA_MEMCPY2D across = {.srcXInBytes = x,
                                .srcY = y,
                                .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = d,
                                .srcPitch = PITCH,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = e,
                                .dstPitch = w,
                                .WidthInBytes = w,
                                .Height = h};
        CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .srcDevice = e,
                              .srcPitch = w,
                              .dstXInBytes = x,
                              .dstY = y,
                              .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .dstDevice = (CUdeviceptr)to,
                              .dstPitch = PITCH,
                              .WidthInBytes = w,
                              .Height = h};

        paint(from, PITCH * ROWS, (uint32_t)i + 1);
        memset(to, 0x5a, PITCH * ROWS);
        memset(image, 0x5a, PITCH * ROWS);
        CK(cuMemsetD8(d, 0, PITCH * ROWS));
        CK(cuCtxSynchronize());
        CK(run(&up, how));
        CK(run(&across, how));
        CK(run(&down, how));
        expect(y * PITCH + x, PITCH, from + y * PITCH + x, PITCH, w, h);
        wrong += memcmp(image, to, PITCH * ROWS) != 0;
    }
    printf("%s %d: %d wrong\n", kind, how, wrong);
}

static void on_host(void) {
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = 100,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = to,
                       .dstPitch = 300,
                       .WidthInBytes = 90,
                       .Height = 40};

    paint(from, PITCH, 5);
    memset(to, 0x5a, PITCH * 4);
    memset(image, 0x5a, PITCH * 4);
    expect(0, 300, from, 100, 90, 40);
    printf("host to host = %d\n", cuMemcpy2D(&c));
    printf("host to host: %d wrong\n", memcmp(image, to, PITCH * 4) != 0);
}

#define TRY(text, change)                                                                          \
    do {                                                                                           \
        CUDA_MEMCPY2D c = good;                                                                    \
        change;                                                                                    \
        if (step(text))                                                                            \
            printf(text " = %d, async %d\n", cuMemcpy2D(&c), cuMemcpy2DAsync(&c, stream));         \
        cuStreamSynchronize(stream);                                                               \
    } while (0)

static void wrong_ones(const char *kind) {
    CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = d,
                          .dstPitch = 64,
                          .WidthInBytes = 32,
                          .Height = 4};

    printf("-- wrong arguments, %s\n", kind);
    TRY("good", (void)c);
    TRY("no width", c.WidthInBytes = 0);
    TRY("no rows", c.Height = 0);
    TRY("no width, no source", (c.WidthInBytes = 0, c.srcHost = NULL));
    TRY("no rows, type 9", (c.Height = 0, c.srcMemoryType = 9));
    TRY("source pitch 0", c.srcPitch = 0);
    TRY("destination pitch 0", c.dstPitch = 0);
    TRY("source pitch 0, one row", (c.srcPitch = 0, c.Height = 1));
    TRY("destination pitch 0, one row", (c.dstPitch = 0, c.Height = 1));
    TRY("source pitch too small", c.srcPitch = 31);
    TRY("destination pitch too small", c.dstPitch = 31);
    TRY("source pitch too small, one row", (c.srcPitch = 31, c.Height = 1));
    TRY("destination pitch too small, one row", (c.dstPitch = 31, c.Height = 1));
    TRY("source pitch too small with x", c.srcXInBytes = 33);
    TRY("destination pitch too small with x", c.dstXInBytes = 33);
    TRY("odd pitches", (c.srcPitch = 33, c.dstPitch = 35));
    TRY("type 0", c.srcMemoryType = 0);
    TRY("type 9", c.dstMemoryType = 9);
    TRY("no source", c.srcHost = NULL);
    TRY("no destination", c.dstDevice = 0);
    TRY("wild destination", c.dstDevice = 0x10);
    TRY("destination too short", c.Height = 1 + PITCH * ROWS / 64);
    TRY("destination far beyond", c.dstY = 1ull << 34);
    TRY("no array", c.dstMemoryType = CU_MEMORYTYPE_ARRAY);
    TRY("device memory called host", (c.srcHost = (void *)e));
    TRY("device memory called unified", (c.srcMemoryType = CU_MEMORYTYPE_UNIFIED, c.srcDevice = e));
    TRY("unified, no source", (c.srcMemoryType = CU_MEMORYTYPE_UNIFIED, c.srcDevice = 0));
    TRY("large destination pitch", (c.dstPitch = 1ull << 31, c.Height = 1));
    TRY("larger destination pitch", (c.dstPitch = 1ull << 40, c.Height = 1));
    TRY("large source pitch", (c.srcPitch = 1ull << 31, c.Height = 1));
}

int main(void) {
    CUDA_MEMCPY2D c = {0};

    printf("%d\n", cuMemcpy2D(&c));
    start();
    CK(cuMemAlloc(&d, PITCH * ROWS));
    CK(cuMemAlloc(&e, PITCH * ROWS));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SHOW(cuMemcpy2D(NULL));
    SHOW(cuMemcpy2DAsync(NULL, stream));
    SHOW(cuMemcpy2D(&c));
    image = malloc(PITCH * ROWS);
    from = malloc(PITCH * ROWS);
    to = malloc(PITCH * ROWS);
    for (int how = 0; how < 3; how++)
        there_and_back("pageable", how);
    on_host();
    wrong_ones("pageable");
    CK(cuMemAllocHost((void **)&from, PITCH * ROWS));
    CK(cuMemAllocHost((void **)&to, PITCH * ROWS));
    for (int how = 0; how < 3; how++)
        there_and_back("pinned", how);
    on_host();
    wrong_ones("pinned");
    return 0;
}
