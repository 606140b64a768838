// SPDX-License-Identifier: Apache-2.0
/* Occupancy: what fits, with the callback that tells how much memory a block wants. */
#include "common.h"

KERNELS(basics);

static int calls;

static size_t four_bytes_each(int block) {
    calls++;
    return (size_t)block * 4;
}

static void potential(const char *what, CUfunction f) {
    int grid = -1, block = -1, blocks, processors;

    printf("-- %s\n", what);
    CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    printf("%d blocks for each processor, %d threads\n", grid / processors, block);
    CK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, block, 0));
    printf("as asked for itself: %d\n", grid == blocks * processors);
    SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 96));
    printf("%d blocks, %d threads\n", grid / processors, block);
    SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 100));
    printf("%d blocks, %d threads\n", grid / processors, block);
    SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 16384, 0));
    printf("%d blocks, %d threads\n", grid / processors, block);
    calls = 0;
    SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, four_bytes_each, 0, 0));
    printf("%d blocks, %d threads, asked %d\n", grid / processors, block, calls > 0);
    SHOW(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, NULL, 0, 0,
                                                   CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
    printf("%d blocks, %d threads\n", grid / processors, block);
}

static void wrong(void) {
    CUfunction f;
    int a, b;

    start();
    f = function(module(ptx_basics), "dynamic_shared");
    SHOW(cuOccupancyMaxPotentialBlockSize(NULL, &b, f, NULL, 0, 0));
    SHOW(cuOccupancyMaxPotentialBlockSize(&a, NULL, f, NULL, 0, 0));
    SHOW(cuOccupancyMaxPotentialBlockSize(&a, &b, f, NULL, 0, -1));
    SHOW(cuOccupancyMaxPotentialBlockSize(&a, &b, f, NULL, 1 << 30, 0));
    SHOW(cuOccupancyMaxPotentialBlockSizeWithFlags(&a, &b, f, NULL, 0, 0, 77));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 32, 0));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&a, f, 0, 0));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&a, f, -1, 0));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&a, f, 100000, 0));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&a, f, 32, 0, 77));
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(NULL, f, 1, 32));
}

static void no_function(void) {
    int a, b;

    start();
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&a, NULL, 32, 0));
    SHOW(cuOccupancyMaxPotentialBlockSize(&a, &b, NULL, NULL, 0, 0));
}

static void no_function_for_memory(void) {
    size_t bytes;

    start();
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 1, 32));
}

static void right(void) {
    int by_kernel, by_function;
    CUfunction f;
    size_t bytes;
    CUlibrary l;
    CUkernel k;

    start();
    f = function(module(ptx_basics), "dynamic_shared");
    potential("dynamic_shared", f);
    potential("bounded", function(module(ptx_basics), "bounded"));
    CK(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&k, l, "dynamic_shared"));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&by_kernel, (CUfunction)k, 64, 1024));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&by_function, f, 64, 1024));
    printf("a kernel as its function: %d\n", by_kernel == by_function);
    SHOW(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, (CUfunction)k, 2, 64));
}

int main(void) {
    apart("right", right);
    apart("wrong", wrong);
    apart("no function", no_function);
    apart("no function, memory", no_function_for_memory);
    return 0;
}
