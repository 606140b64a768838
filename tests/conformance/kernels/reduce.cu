// SPDX-License-Identifier: Apache-2.0
/* Sum of n integers: shuffles within a warp, shared memory between warps, one atomic a block. */
extern "C" __global__ void reduce(const int *in, int n, unsigned long long *out)
{
    __shared__ int partial[32];
    int sum = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < (blockDim.x >> 5) ? partial[lane] : 0;
        for (int offset = 16; offset; offset >>= 1)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0)
            atomicAdd(out, (unsigned long long)(long long)sum);
    }
}
