// SPDX-License-Identifier: Apache-2.0
/* What fits on a processor, and the attributes of functions. */
#include "common.cuh"

__global__ void small(int *v) {
    v[threadIdx.x] = threadIdx.x;
}

__global__ void __launch_bounds__(128) bounded(float *v) {
    __shared__ float s[1024];

    s[threadIdx.x] = v[threadIdx.x];
    __syncthreads();
    v[threadIdx.x] = s[127 - threadIdx.x];
}

static size_t shared_of(int block) {
    return block * sizeof(double);
}

template <typename F> static void attributes(const char *name, F f) {
    cudaFuncAttributes a;

    SHOW(cudaFuncGetAttributes(&a, f));
    printf("%s: shared %zu const %zu local %zu threads %d registers %d ptx %d binary %d "
           "dynamic %d carveout %d\n",
           name, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
           a.numRegs, a.ptxVersion, a.binaryVersion, a.maxDynamicSharedSizeBytes,
           a.preferredShmemCarveout);
}

int main() {
    int n = -1, grid, block;
    size_t bytes = 0;
    const char *name;

    for (int threads : {1, 32, 100, 128, 256, 512, 1024, 2048}) {
        cudaError_t r = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, small, threads, 0);

        printf("small %d: %d %s\n", threads, n, cudaGetErrorName(r));
    }
    for (size_t shared : {0, 1000, 40000, 100000, 240000}) {
        cudaError_t r = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, 128, shared);

        printf("bounded with %zu: %d %s\n", shared, n, cudaGetErrorName(r));
    }
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, 256, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, small, 256, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, small, 0, 0));
    SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, small, 0, 0));
    printf("grid %d block %d\n", grid, block);
    SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    printf("grid %d block %d\n", grid, block);
    SHOW(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, small, shared_of, 0));
    printf("grid %d block %d\n", grid, block);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, small, 4, 256));
    printf("shared for four %zu\n", bytes);
    attributes("small", small);
    attributes("bounded", bounded);
    SHOW(cudaFuncGetName(&name, (const void *)small));
    printf("name %s\n", name);
    SHOW(cudaFuncSetAttribute(bounded, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SHOW(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    SHOW(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SHOW(cudaFuncSetAttribute(bounded, (cudaFuncAttribute)99, 1));
    attributes("bounded", bounded);
    SHOW(cudaFuncSetCacheConfig(small, cudaFuncCachePreferL1));
    SHOW(cudaFuncSetCacheConfig(small, (cudaFuncCache)9));
    SHOW(cudaFuncGetAttributes(nullptr, (const void *)small));
    SHOW(cudaGetLastError());
    return 0;
}
