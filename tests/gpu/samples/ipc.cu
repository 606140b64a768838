// SPDX-License-Identifier: Apache-2.0
/* Two processes share memory and an event. */
#include "common.cuh"

#include <sys/wait.h>
#include <unistd.h>

struct parcel {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void add(int *v, int x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] += x;
}

static int child(int in, int out) {
    parcel p;
    int *d, ready = 1;
    cudaEvent_t e;

    if (read(in, &p, sizeof(p)) != sizeof(p))
        return 1;
    SHOW(cudaIpcOpenMemHandle((void **)&d, p.memory, cudaIpcMemLazyEnablePeerAccess));
    SHOW(cudaIpcOpenEventHandle(&e, p.event));
    SHOW(cudaStreamWaitEvent(nullptr, e, 0));
    add<<<4, 256>>>(d, 5, 1000);
    SHOW(cudaDeviceSynchronize());
    printf("the child sees %d\n", from_device(d, 1000)[999]);
    SHOW(cudaIpcCloseMemHandle(d));
    SHOW(cudaIpcCloseMemHandle(d));
    SHOW(cudaEventDestroy(e));
    // Of a handle that is wrong in a few bytes only the driver was seen to take no notice.
    for (char &c : p.memory.reserved)
        c ^= 0x55;
    printf("a wrong handle is refused %d\n",
           cudaIpcOpenMemHandle((void **)&d, p.memory, cudaIpcMemLazyEnablePeerAccess) !=
               cudaSuccess);
    return write(out, &ready, sizeof(ready)) != sizeof(ready);
}

int main() {
    int down[2], up[2], ready = 0, status;
    parcel p;
    int *d, *plain;
    cudaEvent_t e, no;

    if (pipe(down) || pipe(up))
        return 1;
    pid_t c = fork();
    if (!c) {
        // So that it sees the end of a parent that fails.
        close(down[1]);
        exit(child(down[0], up[1]));
    }
    CK(cudaMalloc(&d, 4000));
    CK(cudaMemset(d, 0, 4000));
    CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
    CK(cudaEventCreate(&no));
    add<<<4, 256>>>(d, 3, 1000);
    SHOW(cudaEventRecord(e));
    SHOW(cudaIpcGetMemHandle(&p.memory, d));
    SHOW(cudaIpcGetEventHandle(&p.event, e));
    SHOW(cudaIpcGetEventHandle(&p.event, no));
    SHOW(cudaIpcGetMemHandle(&p.memory, nullptr));
    SHOW(cudaIpcOpenMemHandle((void **)&plain, p.memory, cudaIpcMemLazyEnablePeerAccess));
    CK(cudaIpcGetMemHandle(&p.memory, d));
    CK(cudaIpcGetEventHandle(&p.event, e));
    if (write(down[1], &p, sizeof(p)) != sizeof(p))
        return 1;
    close(up[1]);
    if (read(up[0], &ready, sizeof(ready)) != sizeof(ready))
        printf("the child failed\n");
    waitpid(c, &status, 0);
    printf("the child ended %d, the parent sees %d\n", status, from_device(d, 1000)[999]);
    SHOW(cudaFree(d));
    return 0;
}
