// SPDX-License-Identifier: Apache-2.0
/* The program's own memory, registered: reached by kernels where it lies. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

#define COUNT 5000

static void launch_fill(CUfunction f, CUdeviceptr p, int base) {
    int n = COUNT;
    void *args[] = {&p, &n, &base};

    CK(cuLaunchKernel(f, (COUNT + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
    CK(cuCtxSynchronize());
}

static int wrong_of(const int *p, int base) {
    int wrong = 0;

    for (int i = 0; i < COUNT; i++)
        wrong += p[i] != base + i;
    return wrong;
}

/* In the middle of a block of malloc: neighbours keep their bytes. */
static void from_malloc(CUfunction f) {
    int *all = malloc((COUNT + 4000) * sizeof(int)), *p = all + 2000;
    CUdeviceptr d = 0;

    puts("-- from malloc");
    for (int i = 0; i < COUNT + 4000; i++)
        all[i] = -i;
    SHOW(cuMemHostRegister(p, COUNT * sizeof(int), 0));
    SHOW(cuMemHostRegister(p, COUNT * sizeof(int), 0));
    SHOW(cuMemHostRegister(p + 100, 400, 0));
    printf("kept: %d %d %d\n", p[0] == -2000, p[COUNT - 1] == -(2000 + COUNT - 1), all[1999]);
    SHOW(cuMemHostGetDevicePointer(&d, p, 0));
    printf("the same address: %d\n", d == (CUdeviceptr)p);
    SHOW(cuMemHostGetDevicePointer(&d, p + 10, 0));
    printf("inside: %d\n", d == (CUdeviceptr)(p + 10));
    launch_fill(f, (CUdeviceptr)p, 7);
    printf("wrong %d, neighbours %d %d\n", wrong_of(p, 7), all[1999], all[2000 + COUNT]);
    all[1999] = 5;
    p[0] = 99;
    SHOW(cuMemHostUnregister(p + 1));
    SHOW(cuMemHostUnregister(p));
    printf("kept: %d %d %d\n", p[0], p[1], all[1999]);
    SHOW(cuMemHostUnregister(p));
    SHOW(cuMemHostGetDevicePointer(&d, p, 0));
    free(all);
}

static void copies(void) {
    int *p = malloc(COUNT * sizeof(int)), *q = malloc(COUNT * sizeof(int));
    CUdeviceptr d;
    CUstream s;

    puts("-- copies");
    CK(cuMemAlloc(&d, COUNT * sizeof(int)));
    CK(cuStreamCreate(&s, 0));
    for (int i = 0; i < COUNT; i++)
        p[i] = 3 + i;
    CK(cuMemHostRegister(p, COUNT * sizeof(int), CU_MEMHOSTREGISTER_PORTABLE));
    SHOW(cuMemcpyHtoDAsync(d, p, COUNT * sizeof(int), s));
    SHOW(cuMemcpyDtoH(q, d, COUNT * sizeof(int)));
    printf("wrong %d\n", wrong_of(q, 3));
    memset(p, 0, COUNT * sizeof(int));
    SHOW(cuMemcpyDtoHAsync(p, d, COUNT * sizeof(int), s));
    SHOW(cuStreamSynchronize(s));
    printf("wrong %d\n", wrong_of(p, 3));
    SHOW(cuMemsetD32((CUdeviceptr)p, 17, COUNT));
    printf("filled %d %d\n", p[0], p[COUNT - 1]);
    SHOW(cuMemcpy((CUdeviceptr)p, d, COUNT * sizeof(int)));
    printf("wrong %d\n", wrong_of(p, 3));
    CK(cuMemHostUnregister(p));
    CK(cuMemFree(d));
    free(p);
    free(q);
}

/* A child of fork sees the memory as it was, and changes its own. */
static void with_fork(CUfunction f) {
    int *p = malloc(COUNT * sizeof(int)), status = -1;

    puts("-- fork");
    for (int i = 0; i < COUNT; i++)
        p[i] = 21 + i;
    CK(cuMemHostRegister(p, COUNT * sizeof(int), 0));
    pid_t child = fork();
    if (!child) {
        int wrong = wrong_of(p, 21);

        for (int i = 0; i < COUNT; i++)
            p[i] = 0;
        _exit(wrong ? 1 : 0);
    }
    waitpid(child, &status, 0);
    printf("child %d, wrong %d\n", status, wrong_of(p, 21));
    launch_fill(f, (CUdeviceptr)p, 4);
    printf("wrong %d\n", wrong_of(p, 4));
    CK(cuMemHostUnregister(p));
    free(p);
}

static void mapped(CUfunction f) {
    size_t bytes = (COUNT * sizeof(int) + 4095) & ~4095ul;
    int *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    puts("-- whole pages");
    SHOW(cuMemHostRegister(p, bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
    launch_fill(f, (CUdeviceptr)p, 1);
    printf("wrong %d\n", wrong_of(p, 1));
    SHOW(cuMemHostUnregister(p));
    printf("wrong %d\n", wrong_of(p, 1));
    munmap(p, bytes);
}

static void wrong(void) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *h;

    puts("-- wrong arguments");
    SHOW(cuMemHostRegister(NULL, 100, 0));
    SHOW(cuMemHostRegister(page, 0, 0));
    SHOW(cuMemHostRegister(page, 100, 0x100));
    SHOW(cuMemHostUnregister(NULL));
    SHOW(cuMemHostUnregister(page));
    CK(cuMemAllocHost(&h, 4096));
    SHOW(cuMemHostRegister(h, 100, 0));
    SHOW(cuMemHostUnregister(h));
    CK(cuMemFreeHost(h));
    CK(cuMemHostRegister(page, 8192, 0));
    SHOW(cuMemFreeHost(page));
    SHOW(cuMemHostUnregister(page));
    munmap(page, 8192);
    SHOW(cuMemHostRegister(page, 8192, 0));
}

int main(void) {
    CUfunction f;

    start();
    f = function(module(ptx_basics), "fill_index");
    from_malloc(f);
    copies();
    with_fork(f);
    mapped(f);
    wrong();
    return 0;
}
