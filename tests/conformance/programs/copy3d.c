// SPDX-License-Identifier: Apache-2.0
/* Copies of slices: pinned, pageable, within the device, between contexts; wrong arguments. */
#include "common.h"

#define PITCH 1024
#define HEIGHT 120
#define DEPTH 40
#define BYTES (PITCH * HEIGHT * DEPTH)

static unsigned char *from, *to, *image;
static CUdeviceptr d, e;
static CUstream stream;
static CUcontext context;

static void paint(unsigned char *p, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)next_random(&seed);
}

static size_t at(size_t x, size_t y, size_t z) {
    return x + PITCH * (y + HEIGHT * z);
}

struct box {
    size_t w, h, d, x, y, z;
};

/* A copy of a box between places of one layout. */
static CUDA_MEMCPY3D between(const struct box *b, CUmemorytype to_type, uint64_t to_base,
                             CUmemorytype from_type, uint64_t from_base) {
    CUDA_MEMCPY3D c = {.srcXInBytes = b->x,
                       .srcY = b->y,
                       .srcZ = b->z,
                       .srcMemoryType = from_type,
                       .srcHost = (void *)from_base,
                       .srcDevice = from_base,
                       .srcPitch = PITCH,
                       .srcHeight = HEIGHT,
                       .dstXInBytes = b->x,
                       .dstY = b->y,
                       .dstZ = b->z,
                       .dstMemoryType = to_type,
                       .dstHost = (void *)to_base,
                       .dstDevice = to_base,
                       .dstPitch = PITCH,
                       .dstHeight = HEIGHT,
                       .WidthInBytes = b->w,
                       .Height = b->h,
                       .Depth = b->d};

    return c;
}

static CUresult run(const CUDA_MEMCPY3D *c, int how) {
    CUDA_MEMCPY3D_PEER p;

    switch (how) {
    case 0:
        return cuMemcpy3D(c);
    case 1:
        CK(cuMemcpy3DAsync(c, stream));
        return cuStreamSynchronize(stream);
    default:
        memcpy(&p, c, sizeof(p));
        p.srcContext = p.dstContext = context;
        if (how == 2)
            return cuMemcpy3DPeer(&p);
        CK(cuMemcpy3DPeerAsync(&p, stream));
        return cuStreamSynchronize(stream);
    }
}

static void there_and_back(const char *kind, int how) {
    static const struct box boxes[] = {
        {1, 1, 1, 0, 0, 0},      {16, 5, 3, 1, 2, 3},      {1024, 120, 40, 0, 0, 0},
        {1000, 120, 3, 7, 0, 1}, {1024, 119, 40, 0, 1, 0}, {1, 120, 40, 1023, 0, 0},
        {700, 1, 40, 0, 119, 0}, {300, 77, 1, 50, 9, 39},
    };
    int wrong = 0;

    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        const struct box *b = &boxes[i];
        CUDA_MEMCPY3D up = between(b, CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_HOST, (uint64_t)from);
        CUDA_MEMCPY3D across = between(b, CU_MEMORYTYPE_DEVICE, e, CU_MEMORYTYPE_DEVICE, d);
        CUDA_MEMCPY3D down =
            between(b, CU_MEMORYTYPE_UNIFIED, (uint64_t)to, CU_MEMORYTYPE_UNIFIED, e);

        paint(from, BYTES, (uint32_t)i + 1);
        memset(to, 0x5a, BYTES);
        memset(image, 0x5a, BYTES);
        CK(cuMemsetD8(d, 0, BYTES));
        CK(cuCtxSynchronize());
        CK(run(&up, how));
        CK(run(&across, how));
        CK(run(&down, how));
        for (size_t z = b->z; z < b->z + b->d; z++) {
            for (size_t y = b->y; y < b->y + b->h; y++)
                memcpy(image + at(b->x, y, z), from + at(b->x, y, z), b->w);
        }
        wrong += memcmp(image, to, BYTES) != 0;
    }
    printf("%s %d: %d wrong\n", kind, how, wrong);
}

#define TRY(text, change)                                                                          \
    do {                                                                                           \
        CUDA_MEMCPY3D c = good;                                                                    \
        change;                                                                                    \
        if (step(text))                                                                            \
            printf(text " = %d, async %d\n", cuMemcpy3D(&c), cuMemcpy3DAsync(&c, stream));         \
        cuStreamSynchronize(stream);                                                               \
    } while (0)

static void wrong_ones(const char *kind) {
    static const struct box box = {32, 4, 2, 0, 0, 0};
    CUDA_MEMCPY3D good = between(&box, CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_HOST, (uint64_t)from);

    printf("-- wrong arguments, %s\n", kind);
    TRY("good", (void)c);
    TRY("no width", c.WidthInBytes = 0);
    TRY("no rows", c.Height = 0);
    TRY("no slices", c.Depth = 0);
    TRY("no slices, no source", (c.Depth = 0, c.srcHost = NULL));
    TRY("no slices, type 9", (c.Depth = 0, c.srcMemoryType = 9));
    TRY("source pitch 0", c.srcPitch = 0);
    TRY("destination pitch 0", c.dstPitch = 0);
    TRY("source height 0", c.srcHeight = 0);
    TRY("destination height 0", c.dstHeight = 0);
    TRY("pitches and heights 0, one row",
        (c.srcPitch = c.dstPitch = c.srcHeight = c.dstHeight = 0, c.Height = c.Depth = 1));
    TRY("pitches 0, one row", (c.srcPitch = c.dstPitch = 0, c.Height = c.Depth = 1));
    TRY("heights 0, one slice", (c.srcHeight = c.dstHeight = 0, c.Depth = 1));
    TRY("heights too small, one slice", (c.srcHeight = c.dstHeight = 3, c.Depth = 1));
    TRY("source height too small", c.srcHeight = 3);
    TRY("destination height too small", c.dstHeight = 3);
    TRY("source pitch too small", c.srcPitch = 31);
    TRY("destination pitch too small", c.dstPitch = 31);
    TRY("source pitch too small with x", c.srcXInBytes = PITCH - 31);
    TRY("destination pitch too small with x", c.dstXInBytes = PITCH - 31);
    TRY("source height too small with y", c.srcY = HEIGHT - 3);
    TRY("destination height too small with y", c.dstY = HEIGHT - 3);
    TRY("odd pitches", (c.srcPitch = 33, c.dstPitch = 35));
    TRY("source level 1", c.srcLOD = 1);
    TRY("destination level 1", c.dstLOD = 1);
    TRY("reserved", c.reserved0 = &c);
    TRY("type 0", c.srcMemoryType = 0);
    TRY("type 9", c.dstMemoryType = 9);
    TRY("no source", c.srcHost = NULL);
    TRY("no destination", c.dstDevice = 0);
    TRY("wild destination", c.dstDevice = 0x10);
    TRY("destination too short", c.dstZ = DEPTH - 1);
    TRY("destination far beyond", c.dstZ = 1ull << 34);
    TRY("no array", c.dstMemoryType = CU_MEMORYTYPE_ARRAY);
    TRY("device memory called host", c.srcHost = (void *)e);
    TRY("large pitch", (c.dstPitch = 1ull << 31, c.Height = c.Depth = 1));
}

static void peers(void) {
    static const struct box box = {32, 4, 2, 0, 0, 0};
    CUDA_MEMCPY3D c = between(&box, CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, e);
    CUDA_MEMCPY3D_PEER p;

    printf("-- between contexts\n");
    memcpy(&p, &c, sizeof(p));
    p.srcContext = p.dstContext = context;
    SHOW(cuMemcpy3DPeer(&p));
    p.srcContext = NULL;
    SHOW(cuMemcpy3DPeer(&p));
    SHOW(cuMemcpy3DPeerAsync(&p, stream));
    p.srcContext = context;
    p.dstContext = NULL;
    SHOW(cuMemcpy3DPeer(&p));
    CK(cuMemsetD32(e, 0x12345678, 1000));
    SHOW(cuMemcpyPeer(d, context, e, context, 4000));
    CK(cuMemcpyDtoH(to, d, 4000));
    printf("%x\n", *(unsigned int *)(to + 3996));
    CK(cuMemsetD32(e, 0x87654321, 1000));
    CK(cuCtxSynchronize());
    SHOW(cuMemcpyPeerAsync(d, context, e, context, 4000, stream));
    CK(cuStreamSynchronize(stream));
    CK(cuMemcpyDtoH(to, d, 4000));
    printf("%x\n", *(unsigned int *)(to + 3996));
    SHOW(cuMemcpyPeer(d, context, e, context, 0));
    SHOW(cuMemcpyPeer(0, context, e, context, 16));
    SHOW(cuMemcpyPeer(d, NULL, e, context, 16));
    SHOW(cuMemcpyPeer(d, context, e, NULL, 16));
    SHOW(cuMemcpyPeerAsync(d, context, 0x10, context, 16, stream));
    SHOW(cuMemcpy3DPeer(NULL));
    SHOW(cuMemcpy3DPeerAsync(NULL, stream));
    SHOW(cuCtxSynchronize());
}

int main(void) {
    CUDA_MEMCPY3D c = {0};

    SHOW(cuMemcpy3D(&c));
    context = start();
    CK(cuMemAlloc(&d, BYTES));
    CK(cuMemAlloc(&e, BYTES));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SHOW(cuMemcpy3D(NULL));
    SHOW(cuMemcpy3DAsync(NULL, stream));
    SHOW(cuMemcpy3D(&c));
    image = malloc(BYTES);
    from = malloc(BYTES);
    to = malloc(BYTES);
    for (int how = 0; how < 4; how++)
        there_and_back("pageable", how);
    wrong_ones("pageable");
    CK(cuMemAllocHost((void **)&from, BYTES));
    CK(cuMemAllocHost((void **)&to, BYTES));
    for (int how = 0; how < 4; how++)
        there_and_back("pinned", how);
    wrong_ones("pinned");
    peers();
    return 0;
}
