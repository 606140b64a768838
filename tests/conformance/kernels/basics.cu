// SPDX-License-Identifier: Apache-2.0
/* Small kernels that the tests of single calls use. */
__device__ int counter = 7;
__constant__ float table[4] = {1, 2, 4, 8};

extern "C" __global__ void fill_index(int *out, int n, int base)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = base + i;
}

extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= table[i & 3];
}

extern "C" __global__ void count(void)
{
    atomicAdd(&counter, 1);
}

/* Runs until the host says stop: keeps a stream busy for exactly as long as a test needs. */
extern "C" __global__ void wait_for(volatile int *flag)
{
    while (!*flag)
        ;
}

extern "C" __global__ void write_to(int *address)
{
    *address = 1;
}

struct mixed {
    char c;
    double d;
    short s[3];
};

/* Parameters of every alignment. */
extern "C" __global__ void mixed_params(char c, struct mixed m, short s, double *out, float f)
{
    out[0] = c + m.c + s;
    out[1] = m.d + f;
    out[2] = m.s[0] + m.s[1] + m.s[2];
}

extern "C" __global__ void dynamic_shared(int *out)
{
    extern __shared__ int memory[];

    memory[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void chain(int *x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        *x = *x * 3 + 1;
}

extern "C" __global__ void __launch_bounds__(64) bounded(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}
