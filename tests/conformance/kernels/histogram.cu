// SPDX-License-Identifier: Apache-2.0
/* 256 bins: counted in shared memory, then added to the result. */
extern "C" __global__ void histogram(const unsigned char *in, int n, unsigned int *bins)
{
    __shared__ unsigned int local[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}
