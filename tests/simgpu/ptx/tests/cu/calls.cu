// SPDX-License-Identifier: Apache-2.0
// Functions: recursion, pointers, virtual methods, structures by value, printf, assert.
#include <cassert>
#include <cstdio>

__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void recurse(int *out)
{
    out[threadIdx.x] = fib(threadIdx.x % 16);
}

__device__ __noinline__ int forever(int n)
{
    return n ? forever(n + 1) * 3 + n : 0;
}

extern "C" __global__ void overflow(int *out)
{
    out[0] = forever(out[1] + 1);
}

typedef float (*fn)(float, int);
__device__ float plus(float x, int k) { return x + k; }
__device__ float times(float x, int k) { return x * k; }
__device__ float minus(float x, int k) { return x - k; }
__device__ fn table[3] = {plus, times, minus};

extern "C" __global__ void pointers(float *out, int k)
{
    out[threadIdx.x] = table[threadIdx.x % 3](out[threadIdx.x], k);
}

struct Shape {
    float a;
    __device__ Shape(float x) : a(x) {}
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    __device__ Square(float x) : Shape(x) {}
    __device__ __noinline__ float area() const override { return a * a; }
};
struct Disc : Shape {
    __device__ Disc(float x) : Shape(x) {}
    __device__ __noinline__ float area() const override { return 3 * a * a; }
};

extern "C" __global__ void methods(float *out)
{
    Square s(out[threadIdx.x]);
    Disc d(out[threadIdx.x]);
    const Shape *shape = threadIdx.x & 1 ? (const Shape *)&s : &d;
    out[threadIdx.x] = shape->area();
}

struct Big {
    double d[5];
    short s;
    char c[3];
};

__device__ __noinline__ Big turn(Big b, int k)
{
    for (int i = 0; i < 5; i++)
        b.d[i] = b.d[i] * k + b.s;
    b.c[k % 3] = (char)k;
    return b;
}

extern "C" __global__ void by_value(Big in, Big *out)
{
    out[threadIdx.x] = turn(in, threadIdx.x);
}

extern "C" __global__ void speak(long long big)
{
    if (threadIdx.x == 1)
        printf("%d|%5.2f|%s|%c|%llx|%%|%-4u|%*d\n", -7, 2.5, "text", 'c', big, 42u, 4, 9);
}

extern "C" __global__ void claim(int limit)
{
    assert((int)threadIdx.x < limit);
}

__constant__ float coeff[4] = {1.5f, 2.5f, 3.5f, 4.5f};
__device__ int counter = 40;
__device__ int *where = &counter;
struct Node {
    const char *name;
    const float *value;
    int n;
};
__device__ Node node = {"node", &coeff[2], 7};

extern "C" __global__ void variables(float *out)
{
    *where += 2;
    out[0] = coeff[threadIdx.x + 1];
    out[1] = *node.value;
    out[2] = node.name[1];
    out[3] = node.n + counter;
}
