// SPDX-License-Identifier: Apache-2.0
/*
 * usage: registered CASE   One program of the tests in ./run that registers memory of its own: does
 * what its case says, and exits with 0 if all calls gave what they must.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "cases.h"
#include "common.h"

#define PAGE ((size_t)4096)
#define MIB ((size_t)1 << 20)

static char *map(size_t bytes, int rights) {
    char *p = mmap(NULL, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    EXPECT(p != MAP_FAILED);
    return p;
}

/* ---- as many as a program wants ---- */

#define MANY ((size_t)1500)

/* Buffer i in an order of its own: 1009 and MANY have no common factor. */
static char *buffer(char *all, size_t i) {
    return all + i * 1009 % MANY * 2 * PAGE;
}

static void check(char *p, size_t i, CUdeviceptr device) {
    size_t got = 0;

    CK(cuMemcpyHtoD(device, p + 100, sizeof(i)));
    CK(cuMemcpyDtoH(&got, device, sizeof(got)));
    EXPECT(got == i && *(size_t *)(p + 100) == i);
}

static int case_many(void) {
    char *all = map(MANY * 2 * PAGE, PROT_READ | PROT_WRITE);
    CUdeviceptr device;
    void *more;

    start();
    CK(cuMemAlloc(&device, PAGE));
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < MANY; i++) {
            *(size_t *)(buffer(all, i) + 100) = i;
            CK(cuMemHostRegister(buffer(all, i) + 100, PAGE, 0));
        }
        for (size_t i = 0; i < MANY; i += 99) {
            char *p = buffer(all, i);

            check(p, i, device);
            EXPECT(cuMemHostRegister(p + 100 + PAGE - 1, 1, 0) ==
                   CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
            EXPECT(cuMemHostRegister(p + 50, 51, 0) == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
            EXPECT(cuMemHostUnregister(p + 50) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
            EXPECT(cuMemHostUnregister(p + 101) == CUDA_ERROR_INVALID_VALUE);
            CK(cuMemHostRegister(p + 50, 50, 0));
            CK(cuMemHostUnregister(p + 50));
        }
        CK(cuMemAllocHost(&more, 64 * MIB)); /* for which there is memory still */
        CK(cuMemFreeHost(more));
        for (size_t i = MANY; i-- > 0;)
            CK(cuMemHostUnregister(buffer(all, i) + 100));
        for (size_t i = 0; i < MANY; i += 99)
            EXPECT(cuMemHostUnregister(buffer(all, i) + 100) ==
                   CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        for (size_t i = 0; i < MANY; i++)
            EXPECT(*(size_t *)(buffer(all, i) + 100) == i);
    }
    return 0;
}

/* ---- memory that may not be written ---- */

static int case_read_only(void) {
    char *p = map(3 * PAGE, PROT_READ | PROT_WRITE);

    start();
    p[PAGE] = 5;
    EXPECT(!mprotect(p + PAGE, PAGE, PROT_READ));
    EXPECT(cuMemHostRegister(p + PAGE, PAGE, 0) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemHostRegister(p, 3 * PAGE, 0) == CUDA_ERROR_INVALID_VALUE);
    CK(cuMemHostRegister(p + PAGE, PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
    CK(cuMemHostUnregister(p + PAGE));
    EXPECT(!mprotect(p + PAGE, PAGE, PROT_NONE));
    EXPECT(cuMemHostRegister(p + PAGE, PAGE, CU_MEMHOSTREGISTER_READ_ONLY) ==
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(!munmap(p + PAGE, PAGE));
    EXPECT(cuMemHostRegister(p, 3 * PAGE, 0) == CUDA_ERROR_INVALID_VALUE);
    CK(cuMemHostRegister(p, PAGE, 0));
    CK(cuMemHostUnregister(p));
    return 0;
}

static const struct process_case cases[] = {
    {"many", case_many},
    {"read-only", case_read_only},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
