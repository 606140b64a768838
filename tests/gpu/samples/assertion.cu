// SPDX-License-Identifier: Apache-2.0
/* A failed assertion: its message, the error that stays, and the process after it. */
#include "common.cuh"

#undef NDEBUG
#include <cassert>
#include <sys/wait.h>
#include <unistd.h>

__global__ void check(int limit) {
    assert((int)threadIdx.x < limit);
}

static int child() {
    int *d;

    check<<<1, 8>>>(8);
    SHOW(cudaDeviceSynchronize());
    check<<<1, 8>>>(7);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&d, 4));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaPeekAtLastError());
    return 0;
}

int main() {
    for (int i = 0; i < 2; i++) {
        pid_t p = fork();
        int status;

        if (!p) {
            dup2(1, 2);
            exit(child());
        }
        waitpid(p, &status, 0);
        printf("child ended %d\n", status);
    }
    return 0;
}
