// SPDX-License-Identifier: Apache-2.0
/* Two processes share device memory by handles. */
#include <sys/wait.h>

#include "common.h"

#define BYTES (1u << 20)

static int to_child[2], to_parent[2];

static void send(int fd, const void *data, size_t bytes) {
    if (write(fd, data, bytes) != (ssize_t)bytes)
        exit(1);
}

static void receive(int fd, void *data, size_t bytes) {
    if (read(fd, data, bytes) != (ssize_t)bytes)
        exit(1);
}

static void child(void) {
    CUdeviceptr d = 0, again = 0, base = 0, wild = 0;
    CUipcMemHandle handle, wrong;
    unsigned int word = 0;
    size_t size = 0;
    char go = 'x';

    receive(to_child[0], &handle, sizeof(handle));
    start();
    SHOW(cuIpcOpenMemHandle(&d, handle, 0));
    SHOW(cuIpcOpenMemHandle(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    wrong = handle;
    for (size_t i = 0; i < sizeof(wrong); i++)
        wrong.reserved[i] ^= 0x55;
    SHOW(cuIpcOpenMemHandle(&wild, wrong, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SHOW(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SHOW(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    printf("the same address: %d\n", d == again);
    SHOW(cuMemGetAddressRange(&base, &size, d + 100));
    printf("its range: %d, %zu bytes\n", base == d, size);
    CK(cuMemcpyDtoH(&word, d + BYTES - 4, 4));
    printf("the child reads %x\n", word);
    CK(cuMemsetD32(d, 0xc0ffee, BYTES / 4));
    CK(cuCtxSynchronize());
    SHOW(cuMemFree(d));
    send(to_parent[1], &go, 1);
    receive(to_child[0], &go, 1); /* the parent has written */
    CK(cuMemcpyDtoH(&word, d, 4));
    printf("then the child reads %x\n", word);
    SHOW(cuIpcCloseMemHandle(d));
    CK(cuMemcpyDtoH(&word, d, 4));
    printf("opened still: %x\n", word);
    SHOW(cuIpcCloseMemHandle(d));
    SHOW(cuIpcCloseMemHandle(d));
    SHOW(cuMemcpyDtoH(&word, d, 4));
    send(to_parent[1], &go, 1);
    receive(to_child[0], &go, 1); /* the parent has freed it */
    printf("ended memory is refused: %d\n",
           cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS);
}

static void parent(void) {
    CUipcMemHandle handle, again;
    CUdeviceptr d, self;
    unsigned int word = 0;
    void *host;
    char go;

    start();
    CK(cuMemAlloc(&d, BYTES));
    CK(cuMemAllocHost(&host, 4096));
    CK(cuMemsetD32(d, 0x5a5a5a5a, BYTES / 4));
    CK(cuCtxSynchronize());
    SHOW(cuIpcGetMemHandle(&handle, d));
    SHOW(cuIpcGetMemHandle(&again, d));
    printf("the same handle: %d\n", !memcmp(&handle, &again, sizeof(handle)));
    SHOW(cuIpcGetMemHandle(NULL, d));
    SHOW(cuIpcGetMemHandle(&again, 0));
    SHOW(cuIpcGetMemHandle(&again, (CUdeviceptr)host));
    printf("opened where it was made: refused %d\n",
           cuIpcOpenMemHandle(&self, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS);
    send(to_child[1], &handle, sizeof(handle));
    receive(to_parent[0], &go, 1);
    CK(cuMemcpyDtoH(&word, d + 4, 4));
    printf("the parent reads %x\n", word);
    CK(cuMemsetD32(d, 0xbeef, BYTES / 4));
    CK(cuCtxSynchronize());
    send(to_child[1], &go, 1);
    receive(to_parent[0], &go, 1);
    CK(cuMemcpyDtoH(&word, d, 4));
    printf("in the end the parent reads %x\n", word);
    CK(cuMemFree(d));
    send(to_child[1], &go, 1);
}

int main(void) {
    int status = 0;
    pid_t other;

    if (pipe(to_child) || pipe(to_parent))
        return 1;
    other = fork();
    if (!other) {
        close(to_child[1]); /* so that it sees the end of a parent that fails */
        child();
        return 0;
    }
    close(to_parent[1]);
    parent();
    waitpid(other, &status, 0);
    printf("the child ended with %d\n", status);
    return 0;
}
