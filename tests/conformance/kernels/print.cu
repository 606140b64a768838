// SPDX-License-Identifier: Apache-2.0
/* Kernels that print, and one that asserts. */
#include <cassert>
#include <cstdio>

extern "C" __global__ void say(int id) {
    printf("kernel %d, thread %d\n", id, (int)threadIdx.x);
}

extern "C" __global__ void conversions(double x) {
    printf("%d %5.2f %s %c 100%%\n", -7, x, "text", 'c');
}

/* Without an end of line. */
extern "C" __global__ void dots(int count) {
    for (int i = 0; i < count; i++)
        printf(".");
}

extern "C" __global__ void claim(int limit) {
    assert((int)threadIdx.x < limit);
}
