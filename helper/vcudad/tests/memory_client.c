// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA program that takes device memory, by lines on its standard input:
 *
 *   take N       N plain allocations of 1 MiB, or fewer: says how many, and the error
 *   try N        N plain allocations of 1 MiB: how many are refused
 *   handles N    handles of small allocations until one is refused, and the same N times more: how
 *                many there are, the error, and the error of a descriptor after that
 *   fill KIND    memory of a kind, 8 MiB at a time, until it is refused: says how many MiB, the
 *                error, and what is left; frees all, and says what is left then
 *   size         what the device's size is, in MiB, by all who tell it
 *   send N       N MiB go to another program by a descriptor, over descriptor 98; the program keeps
 *                nothing of them
 *   lose N       the same, but the descriptor is closed: nobody has them
 *   pool N       the same with N MiB of a pool, and a pointer to them; the program keeps the pool
 *   receive      takes them, from descriptor 99
 *   drop         gives them back
 *   lend N       N MiB in a context of their own; their handle goes over descriptor 98
 *   borrow       opens them, by the handle from descriptor 99, once more
 *   return       closes them once
 *   known        whether what it opened is memory that it may name
 *   reset        the device's context is made anew: nothing is open any more
 *   free         what was lent is freed
 *   async        likewise, in a stream's order
 *   destroy      or its context destroyed
 *
 * Ends at the end of its input, without freeing anything.
 */
#include "cuda_abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define STEP (8 * MIB)
#define MANY 1024
#define SEND_TO 98
#define RECEIVE_FROM 99

static CUdevice device;
static CUcontext context;

static void need(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    printf("%s: error %d\n", what, result);
    exit(1);
}

/* One allocation of STEP bytes, and its end. */
struct kind {
    const char *name;
    CUresult (*take)(uint64_t *what);
    CUresult (*end)(uint64_t what);
};

static CUresult take_plain(uint64_t *what) {
    return cuMemAlloc((CUdeviceptr *)what, STEP);
}

static CUresult end_plain(uint64_t what) {
    return cuMemFree(what);
}

static CUresult take_pitched(uint64_t *what) {
    size_t pitch;

    return cuMemAllocPitch((CUdeviceptr *)what, &pitch, 4096, STEP / 4096, 4);
}

static CUresult take_array(uint64_t *what) {
    const CUDA_ARRAY_DESCRIPTOR d = {1024, STEP / 4096, CU_AD_FORMAT_FLOAT, 1};

    return cuArrayCreate((CUarray *)what, &d);
}

static CUresult end_array(uint64_t what) {
    return cuArrayDestroy((CUarray)what);
}

static CUresult take_mipmap(uint64_t *what) {
    const CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 1024, .Height = STEP / 4096, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};

    return cuMipmappedArrayCreate((CUmipmappedArray *)what, &d, 1);
}

static CUresult end_mipmap(uint64_t what) {
    return cuMipmappedArrayDestroy((CUmipmappedArray)what);
}

static CUresult take_pooled(uint64_t *what) {
    return cuMemAllocAsync((CUdeviceptr *)what, STEP, NULL);
}

static CUresult end_pooled(uint64_t what) {
    CUresult r = cuMemFreeAsync(what, NULL);

    return r == CUDA_SUCCESS ? cuCtxSynchronize() : r;
}

/* Of another device than the current context's: its stream says so. */
static CUresult take_elsewhere(uint64_t *what) {
    static CUstream stream;
    CUcontext other;

    if (!stream) {
        need(cuDevicePrimaryCtxRetain(&other, 1), "other device");
        need(cuCtxPushCurrent(other), "push");
        need(cuStreamCreate(&stream, 0), "stream");
        need(cuCtxPopCurrent(&other), "pop");
    }
    return cuMemAllocAsync((CUdeviceptr *)what, STEP, stream);
}

/* Mapped, and its handle released: the mapping alone holds it. */
static CUresult take_mapped(uint64_t *what) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemGenericAllocationHandle handle;
    CUresult r = cuMemCreate(&handle, STEP, &prop, 0);

    if (r != CUDA_SUCCESS)
        return r;
    need(cuMemAddressReserve((CUdeviceptr *)what, STEP, 0, 0, 0), "reserve");
    need(cuMemMap(*what, STEP, 0, handle, 0), "map");
    return cuMemRelease(handle);
}

static CUresult end_mapped(uint64_t what) {
    CUresult r = cuMemUnmap(what, STEP);

    return r == CUDA_SUCCESS ? cuMemAddressFree(what, STEP) : r;
}

static CUresult take_handle(uint64_t *what) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};

    return cuMemCreate((CUmemGenericAllocationHandle *)what, STEP, &prop, 0);
}

static CUresult end_handle(uint64_t what) {
    return cuMemRelease(what);
}

/* A context of its own, which takes the memory with it. */
static CUresult take_in_context(uint64_t *what) {
    CUdeviceptr memory;
    CUcontext own;
    CUresult r;

    need(cuCtxCreate(&own, NULL, 0, device), "context");
    r = cuMemAlloc(&memory, STEP);
    need(cuCtxSetCurrent(context), "current");
    if (r != CUDA_SUCCESS)
        need(cuCtxDestroy(own), "destroy");
    *what = (uint64_t)own;
    return r;
}

static CUresult end_context(uint64_t what) {
    return cuCtxDestroy((CUcontext)what);
}

static CUresult take_variable(uint64_t *what) {
    static const char code[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                               ".visible .global .align 8 .b8 big[8388608];\n"
                               ".visible .entry k(){ret;}\n";

    return cuModuleLoadData((CUmodule *)what, code);
}

static CUresult end_variable(uint64_t what) {
    return cuModuleUnload((CUmodule)what);
}

static const struct kind kinds[] = {
    {"variable", take_variable, end_variable}, {"plain", take_plain, end_plain},
    {"pitched", take_pitched, end_plain},      {"array", take_array, end_array},
    {"mipmap", take_mipmap, end_mipmap},       {"pooled", take_pooled, end_pooled},
    {"mapped", take_mapped, end_mapped},       {"handle", take_handle, end_handle},
    {"context", take_in_context, end_context}, {"elsewhere", take_elsewhere, end_plain},
};

static unsigned left(void) {
    size_t free_bytes = 0, total = 0;

    need(cuMemGetInfo(&free_bytes, &total), "info");
    return (unsigned)(free_bytes / MIB);
}

static void fill(const char *name) {
    static uint64_t held[MANY];
    const struct kind *k = kinds;
    unsigned count = 0, then;
    CUresult r = CUDA_SUCCESS;

    while (strcmp(k->name, name))
        k++;
    while (count < MANY) {
        r = k->take(&held[count]);
        if (r != CUDA_SUCCESS)
            break;
        count++;
    }
    then = left();
    for (unsigned i = 0; i < count; i++)
        need(k->end(held[i]), "end");
    printf("%u error %d left %u then %u\n", (unsigned)(count * STEP / MIB), r, then, left());
}

static void take(unsigned wanted) {
    CUresult r = CUDA_SUCCESS;
    unsigned count = 0;
    CUdeviceptr memory;

    while (count < wanted && r == CUDA_SUCCESS) {
        r = cuMemAlloc(&memory, MIB);
        count += r == CUDA_SUCCESS;
    }
    printf("%u error %d\n", count, r);
}

static void try_all(unsigned times) {
    unsigned refused = 0;
    CUdeviceptr memory;

    for (unsigned i = 0; i < times; i++)
        refused += cuMemAlloc(&memory, MIB) == CUDA_ERROR_OUT_OF_MEMORY;
    printf("%u refused\n", refused);
}

static void handles(unsigned more) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr small = 0;
    CUipcMemHandle handle;
    CUresult r = CUDA_SUCCESS;
    unsigned count = 0;
    int fd;

    while (r == CUDA_SUCCESS) {
        need(cuMemAlloc(&small, 16384), "alloc");
        r = cuIpcGetMemHandle(&handle, small);
        count += r == CUDA_SUCCESS;
    }
    while (more--)
        r = cuIpcGetMemHandle(&handle, small);
    need(cuMemCreate(&memory, STEP, &prop, 0), "create");
    printf("%u error %d then %d\n", count, r,
           cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static void size(void) {
    size_t total = 0, all = 0, unused;

    need(cuDeviceTotalMem(&total, device), "total");
    need(cuMemGetInfo(&unused, &all), "info");
    printf("%u %u\n", (unsigned)(total / MIB), (unsigned)(all / MIB));
}

/* With `bytes` of data. */
static void send_descriptor(int fd, const void *data, size_t bytes) {
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec iov = {(void *)data, bytes};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control.space)};

    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    if (sendmsg(SEND_TO, &m, 0) != (ssize_t)bytes)
        exit(1);
    close(fd);
}

/* And up to *bytes of data. */
static int receive_descriptor(void *data, size_t *bytes) {
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {data, *bytes};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control.space)};
    ssize_t got = recvmsg(RECEIVE_FROM, &m, 0);
    int fd;

    if (got < 1 || !CMSG_FIRSTHDR(&m))
        exit(1);
    *bytes = (size_t)got;
    memcpy(&fd, CMSG_DATA(&control.align), sizeof(fd));
    return fd;
}

static CUmemGenericAllocationHandle shared; /* 0: a pool and a pointer are */
static CUmemoryPool shared_pool;
static CUdeviceptr shared_pointer;

static void give_memory(unsigned mib, bool lose) {
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUresult r = cuMemCreate(&shared, mib * MIB, &prop, 0);
    int fd;

    if (r == CUDA_SUCCESS) {
        need(cuMemExportToShareableHandle(&fd, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
             "export");
        need(cuMemRelease(shared), "release");
        if (lose)
            close(fd);
        else
            send_descriptor(fd, "x", 1);
    }
    printf("error %d\n", r);
}

static void give_pool(unsigned mib) {
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemPoolPtrExportData data;
    int fd;

    need(cuMemPoolCreate(&shared_pool, &props), "pool");
    need(cuMemPoolExportToShareableHandle(&fd, shared_pool,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
         "export");
    /* Only now: vcudad is to be told what the pool holds. */
    need(cuMemAllocFromPoolAsync(&shared_pointer, mib * MIB, shared_pool, NULL), "alloc");
    need(cuCtxSynchronize(), "wait");
    need(cuMemPoolExportPointer(&data, shared_pointer), "pointer");
    send_descriptor(fd, &data, sizeof(data));
    puts("error 0");
}

static CUresult open_pool(int fd, CUmemPoolPtrExportData *data) {
    CUresult r = cuMemPoolImportFromShareableHandle(&shared_pool, (void *)(uintptr_t)fd,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

    shared = 0;
    return r == CUDA_SUCCESS ? cuMemPoolImportPointer(&shared_pointer, shared_pool, data) : r;
}

static void take_memory(void) {
    CUmemPoolPtrExportData data;
    size_t bytes = sizeof(data);
    int fd = receive_descriptor(&data, &bytes);

    printf("error %d\n", bytes == sizeof(data) ? open_pool(fd, &data)
                                               : cuMemImportFromShareableHandle(
                                                     &shared, (void *)(uintptr_t)fd,
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
}

static void drop(void) {
    CUresult r = shared ? cuMemRelease(shared) : cuMemFree(shared_pointer);

    if (r == CUDA_SUCCESS && !shared)
        r = cuMemPoolDestroy(shared_pool);
    printf("error %d\n", r);
}

static CUcontext lending;
static CUdeviceptr lent, borrowed;

static void lend(unsigned mib) {
    CUipcMemHandle handle;
    CUresult r;

    need(cuCtxCreate(&lending, NULL, 0, device), "context");
    r = cuMemAlloc(&lent, mib * MIB);
    if (r == CUDA_SUCCESS) {
        need(cuIpcGetMemHandle(&handle, lent + MIB / 2), "handle");
        if (write(SEND_TO, &handle, sizeof(handle)) != sizeof(handle))
            exit(1);
    }
    need(cuCtxSetCurrent(context), "current");
    printf("error %d\n", r);
}

static void borrow(void) {
    static CUipcMemHandle handle;
    CUdeviceptr before = borrowed;
    CUresult r;

    if (!before && read(RECEIVE_FROM, &handle, sizeof(handle)) != sizeof(handle))
        exit(1);
    r = cuIpcOpenMemHandle(&borrowed, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (before && r == CUDA_SUCCESS && before != borrowed)
        exit(1);
    printf("error %d\n", r);
}

static void known(void) {
    CUdeviceptr base;
    size_t bytes;

    printf("known %d\n", cuMemGetAddressRange(&base, &bytes, borrowed) == CUDA_SUCCESS);
}

static void reset(void) {
    need(cuDevicePrimaryCtxReset(device), "reset");
    need(cuDevicePrimaryCtxRetain(&context, device), "retain");
    printf("error %d\n", cuCtxSetCurrent(context));
}

static void lender(const char *order) {
    CUresult r;

    need(cuCtxSetCurrent(lending), "current");
    if (!strcmp(order, "free\n"))
        r = cuMemFree(lent);
    else if (!strcmp(order, "async\n"))
        r = cuMemFreeAsync(lent, NULL);
    else
        r = cuCtxDestroy(lending);
    if (r == CUDA_SUCCESS)
        r = cuCtxSetCurrent(context);
    if (r == CUDA_SUCCESS)
        r = cuCtxSynchronize();
    printf("error %d\n", r);
}

int main(void) {
    char line[64], name[16];
    unsigned number;

    setvbuf(stdout, NULL, _IOLBF, 0);
    need(cuInit(0), "init");
    need(cuDeviceGet(&device, 0), "device");
    need(cuDevicePrimaryCtxRetain(&context, device), "retain");
    need(cuCtxSetCurrent(context), "current");
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "take %u", &number) == 1)
            take(number);
        else if (sscanf(line, "try %u", &number) == 1)
            try_all(number);
        else if (sscanf(line, "handles %u", &number) == 1)
            handles(number);
        else if (sscanf(line, "fill %15s", name) == 1)
            fill(name);
        else if (sscanf(line, "send %u", &number) == 1)
            give_memory(number, false);
        else if (sscanf(line, "lose %u", &number) == 1)
            give_memory(number, true);
        else if (sscanf(line, "pool %u", &number) == 1)
            give_pool(number);
        else if (!strcmp(line, "receive\n"))
            take_memory();
        else if (!strcmp(line, "drop\n"))
            drop();
        else if (sscanf(line, "lend %u", &number) == 1)
            lend(number);
        else if (!strcmp(line, "borrow\n"))
            borrow();
        else if (!strcmp(line, "return\n"))
            printf("error %d\n", cuIpcCloseMemHandle(borrowed));
        else if (!strcmp(line, "known\n"))
            known();
        else if (!strcmp(line, "reset\n"))
            reset();
        else if (!strcmp(line, "free\n") || !strcmp(line, "async\n") || !strcmp(line, "destroy\n"))
            lender(line);
        else
            size();
    }
    return 0;
}
