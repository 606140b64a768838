// SPDX-License-Identifier: Apache-2.0
/* Managed variables: with a value and without, one that the host points elsewhere, and one that is not managed. */
extern "C" {
__device__ __managed__ int counter = 5;
__device__ __managed__ float table[1000];
__device__ __managed__ long long wide = 0x123456789abcdefLL;
__device__ __managed__ int *target;
__device__ int plain = 7;
}

extern "C" __global__ void add(int n)
{
    counter += n;
    wide -= n;
    plain += n;
}

extern "C" __global__ void fill(float base)
{
    for (int i = threadIdx.x; i < 1000; i += blockDim.x)
        table[i] = table[i] * 2 + base + i;
}

extern "C" __global__ void follow(int value)
{
    *target = value;
}

extern "C" __global__ void addresses(void **out)
{
    out[0] = &counter;
    out[1] = table;
    out[2] = &wide;
    out[3] = &target;
}
