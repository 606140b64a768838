// SPDX-License-Identifier: Apache-2.0
/* A parent with a context forks; the child gets errors, and its exit harms nothing. */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

int main(void) {
    CUdeviceptr p;
    CUcontext c;
    int status, value = 0, n = 4, base = 40, got[4], count;

    start();
    CUfunction f = function(module(ptx_basics), "fill_index");
    CK(cuMemAlloc(&p, 16));
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();

        if (!child) {
            SHOW(cuInit(0));
            SHOW(cuDeviceGetCount(&count));
            SHOW(cuCtxGetCurrent(&c));
            SHOW(cuMemAlloc(&p, 16));
            SHOW(cuCtxSynchronize());
            fflush(stdout);
            if (i == 1)
                _exit(0);
            if (i == 2)
                abort();
            exit(0);
        }
        waitpid(child, &status, 0);
        printf("child %d %s\n", i, WIFEXITED(status) ? "exited" : "was killed");
        fflush(stdout);
    }
    void *args[] = {&p, &n, &base};
    CK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(got, p, sizeof(got)));
    for (int i = 0; i < 4; i++)
        value += got[i];
    printf("parent goes on: %d\n", value);
    return 0;
}
