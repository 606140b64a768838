// SPDX-License-Identifier: Apache-2.0
/* Occupancy: how many blocks of a function run at a time. A CUkernel is taken too. */
#include "barrier.h"
#include "cuda_calls.h"
#include "launch.h"
#include "wire.h"

static CUresult enter(struct thread **t, const void *out, CUfunction func, struct function **f) {
    CUresult r = guest_enter(t);

    if (r != CUDA_SUCCESS)
        return r;
    return out ? function_resolve(*t, func, f) : CUDA_ERROR_INVALID_VALUE;
}

/* Counts the changes of settings that occupancy may depend on. */
static uint32_t epoch;

void occupancy_forget(void) {
    __atomic_fetch_add(&epoch, 1, __ATOMIC_RELAXED);
}

/* Libraries ask before each launch. A question in 56 bits; 0: one that is not remembered. */
static uint64_t question(int block, size_t shared, unsigned int flags) {
    const uint64_t now = vcuda_load_once(&epoch) & ((1u << 23) - 1);

    if (block < 1 || block >> 11 || shared >> 20 || flags > 1)
        return 0;
    return now << 33 | (uint64_t)flags << 32 | shared << 12 | (uint64_t)block << 1 | 1;
}

static uint64_t *place_of(struct function *f, uint64_t asked) {
    return &f->occupancies[asked * 0x9e3779b97f4a7c15u >> 61];
}

VCUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags) {
    uint64_t asked = question(blockSize, dynamicSMemSize, flags), known;
    struct function *f;
    struct thread *t;
    CUresult r = enter(&t, numBlocks, func, &f);

    if (r != CUDA_SUCCESS)
        return r;
    known = vcuda_load_once(place_of(f, asked));
    if (asked && known >> 8 == asked && guest_fault(t) == CUDA_SUCCESS) {
        *numBlocks = known & 255;
        return CUDA_SUCCESS;
    }
    r = wire_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(t, numBlocks, f->name, blockSize,
                                                                  dynamicSMemSize, flags);
    if (r == CUDA_SUCCESS && asked && *numBlocks >= 0 && *numBlocks < 256)
        vcuda_store_once(place_of(f, asked), asked << 8 | (uint64_t)*numBlocks);
    return r;
}

VCUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

VCUDA_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                              CUfunction func, int numBlocks,
                                                              int blockSize) {
    struct function *f;
    struct thread *t;
    CUresult r = enter(&t, dynamicSmemSize, func, &f);

    return r == CUDA_SUCCESS ? wire_cuOccupancyAvailableDynamicSMemPerBlock(
                                   t, (uint64_t *)dynamicSmemSize, f->name, numBlocks, blockSize)
                             : r;
}

static CUresult ask_clusters(int *value, CUfunction func, const CUlaunchConfig *config,
                             enum vcuda_clusters which) {
    uint64_t stream, context;
    struct function *f;
    struct thread *t;
    struct vcuda_launch_attribute room[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    struct launch l;
    CUresult r = enter(&t, value, func, &f);

    if (r == CUDA_SUCCESS)
        r = launch_read_config(&l, room, config);
    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, l.stream, &stream, &context);
    if (r != CUDA_SUCCESS)
        return r;
    return wire_occupancy_clusters(t, f->name, which, l.grid[0], l.grid[1], l.grid[2], l.block[0],
                                   l.block[1], l.block[2], l.shared, stream, l.attributes,
                                   l.attribute_count * (uint32_t)sizeof(room[0]), value);
}

VCUDA_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                                         const CUlaunchConfig *config) {
    return ask_clusters(clusterSize, func, config, VCUDA_CLUSTERS_SIZE);
}

VCUDA_EXPORT CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                                   const CUlaunchConfig *config) {
    return ask_clusters(numClusters, func, config, VCUDA_CLUSTERS_ACTIVE);
}

/* One size of blocks, of which as many threads as possible shall be under way. */
struct candidates {
    CUfunction function;
    CUoccupancyB2DSize shared_of;
    size_t shared;
    unsigned int flags;
    int processors;
};

static CUresult try_size(const struct candidates *c, int size, int *blocks) {
    size_t shared = c->shared_of ? c->shared_of(size) : c->shared;

    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, c->function, size, shared,
                                                                c->flags);
}

/* The largest block, in whole warps, that keeps the most threads under way. */
static CUresult best_size(const struct candidates *c, int limit, int warp, int *grid, int *size) {
    int most = 0;
    CUresult r = CUDA_SUCCESS;

    *grid = *size = 0;
    for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
        int tried = rounded < limit ? rounded : limit, blocks = 0;

        r = try_size(c, tried, &blocks);
        if (r != CUDA_SUCCESS)
            return r;
        if (blocks * tried > most) {
            most = blocks * tried;
            *size = tried;
            *grid = blocks * c->processors;
        }
    }
    return r;
}

/* How large a block of the function may be, on the current device. */
static CUresult size_limit(CUfunction func, int wish, int *limit, int *warp, int *processors) {
    int device_limit = 0, function_limit = 0;
    struct function *f;
    struct thread *t;
    CUdevice dev = 0;
    CUresult r = enter(&t, func, func, &f);

    if (r == CUDA_SUCCESS)
        r = cuCtxGetDevice(&dev);
    if (r == CUDA_SUCCESS)
        r = cuDeviceGetAttribute(&device_limit, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, dev);
    if (r == CUDA_SUCCESS)
        r = cuDeviceGetAttribute(warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, dev);
    if (r == CUDA_SUCCESS)
        r = cuDeviceGetAttribute(processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev);
    if (r == CUDA_SUCCESS)
        r = cuFuncGetAttribute(&function_limit, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                               (CUfunction)f->name);
    *limit = device_limit < function_limit ? device_limit : function_limit;
    if (wish > 0 && wish < *limit)
        *limit = wish;
    return r;
}

VCUDA_EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
    unsigned int flags) {
    struct candidates c = {func, blockSizeToDynamicSMemSize, dynamicSMemSize, flags, 0};
    int limit, warp = 1;
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!minGridSize || !blockSize || blockSizeLimit < 0 ||
        flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!func)
        return CUDA_ERROR_INVALID_HANDLE;
    r = size_limit(func, blockSizeLimit, &limit, &warp, &c.processors);
    return r == CUDA_SUCCESS ? best_size(&c, limit, warp, minGridSize, blockSize) : r;
}

VCUDA_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}
