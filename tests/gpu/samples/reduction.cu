// SPDX-License-Identifier: Apache-2.0
/* Sums by shared memory, by warp shuffles and by one atomic for each block. */
#include "common.cuh"

__global__ void by_shared(const int *in, long long *out, int n) {
    __shared__ long long part[256];
    long long sum = 0;

    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (!threadIdx.x)
        out[blockIdx.x] = part[0];
}

__global__ void by_shuffle(const int *in, unsigned long long *out, int n) {
    int sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, (unsigned long long)sum);
}

int main() {
    const int n = 1 << 22, blocks = 64;
    std::vector<int> v(n);
    std::vector<long long> parts(blocks);
    std::vector<unsigned long long> total(1);
    uint32_t seed = 3;
    long long expected = 0, sum = 0;

    for (int &x : v) {
        x = next_random(&seed) % 256;
        expected += x;
    }
    int *in = on_device(v);
    long long *out = on_device(parts);
    unsigned long long *one = on_device(total);
    by_shared<<<blocks, 256>>>(in, out, n);
    SHOW(cudaDeviceSynchronize());
    for (long long part : from_device(out, blocks))
        sum += part;
    printf("shared %lld right %d\n", sum, sum == expected);
    by_shuffle<<<blocks, 256>>>(in, one, n);
    SHOW(cudaDeviceSynchronize());
    printf("shuffle %llu\n", from_device(one, 1)[0]);
    return 0;
}
