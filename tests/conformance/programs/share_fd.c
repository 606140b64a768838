// SPDX-License-Identifier: Apache-2.0
/* Two processes share device memory by descriptors: physical memory, and a pool with a pointer. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common.h"

#define PIECE ((size_t)2 << 20)
#define BYTES ((size_t)1 << 20)
#define TYPE_FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define TYPE_WIN32 CU_MEM_HANDLE_TYPE_WIN32
#define TYPE_FABRIC CU_MEM_HANDLE_TYPE_FABRIC

/* ---- One process to the other ---------------------------------------------- */

static int other_end;
static pid_t child; /* of the parent's; 0 in the child */

/* The other has ended. If the driver fell, this is to be seen of the program (outlive.h). */
static void lost(void) {
    int status;

    if (child && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        raise(WTERMSIG(status));
    exit(1);
}

/* The other may have passed the step that the program fell over before, and is heard again. */
static void be_heard(void) {
    const struct outlived *o = outlived;

    if (o && o->falls && o->now >= o->fell[o->falls - 1])
        dup2(o->out, STDOUT_FILENO);
}

/* It is the other's turn; a descriptor goes along unless it is -1. */
static void pass(const void *data, size_t bytes, int fd) {
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {(void *)data, bytes};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    if (fd >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof(control.space);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    }
    if (sendmsg(other_end, &m, MSG_NOSIGNAL) != (ssize_t)bytes)
        lost();
}

static int await(void *data, size_t bytes) {
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {data, bytes};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control.space)};
    struct cmsghdr *c;
    int fd = -1;

    if (recvmsg(other_end, &m, 0) != (ssize_t)bytes)
        lost();
    be_heard();
    c = CMSG_FIRSTHDR(&m);
    if (c)
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

static void go(void) {
    pass("x", 1, -1);
}

static void wait_for_other(void) {
    char x;

    await(&x, 1);
}

/* ---- Memory ------------------------------------------------------------------ */

static CUmemAllocationProp properties(CUmemAllocationHandleType types) {
    CUmemAllocationProp p = {0};

    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = types;
    return p;
}

static CUmemGenericAllocationHandle memory(CUmemAllocationHandleType types) {
    CUmemAllocationProp p = properties(types);
    CUmemGenericAllocationHandle h;

    CK(cuMemCreate(&h, PIECE, &p, 0));
    return h;
}

static CUdeviceptr map(CUmemGenericAllocationHandle h) {
    CUmemAccessDesc rights = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr a;

    CK(cuMemAddressReserve(&a, PIECE, 0, 0, 0));
    CK(cuMemMap(a, PIECE, 0, h, 0));
    CK(cuMemSetAccess(a, PIECE, &rights, 1));
    return a;
}

static void unmap(CUdeviceptr a) {
    CK(cuMemUnmap(a, PIECE));
    CK(cuMemAddressFree(a, PIECE));
}

static void fill(CUdeviceptr a, size_t bytes, unsigned value) {
    CK(cuMemsetD32(a, value, bytes / 4));
    CK(cuCtxSynchronize());
}

static unsigned word(CUdeviceptr a) {
    unsigned value = 0;

    CK(cuMemcpyDtoH(&value, a, sizeof(value)));
    return value;
}

static void attributes(void) {
    int value = 0;

    puts("-- attributes");
    SHOW(cuDeviceGetAttribute(&value,
                              CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
    printf("descriptors: %d\n", value);
    SHOW(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0));
    printf("of pools: %d\n", (value & TYPE_FD) != 0);
    SHOW(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0));
    printf("of Windows: %d\n", value);
}

static void wrong_exports(CUmemGenericAllocationHandle h) {
    CUmemGenericAllocationHandle own = memory(CU_MEM_HANDLE_TYPE_NONE);
    CUmemAllocationProp p = properties(TYPE_WIN32);
    CUmemFabricHandle room; /* larger than a descriptor */

    puts("-- wrong exports");
    SHOW(cuMemExportToShareableHandle(NULL, h, TYPE_FD, 0));
    SHOW(cuMemExportToShareableHandle(&room, h, CU_MEM_HANDLE_TYPE_NONE, 0));
    SHOW(cuMemExportToShareableHandle(&room, h, TYPE_WIN32, 0));
    SHOW(cuMemExportToShareableHandle(&room, h, TYPE_FABRIC, 0));
    SHOW(cuMemExportToShareableHandle(&room, h, TYPE_FD, 1));
    SHOW(cuMemExportToShareableHandle(&room, 0, TYPE_FD, 0));
    SAY("not made for it", cuMemExportToShareableHandle(&room, own, TYPE_FD, 0));
    CK(cuMemRelease(own));
    SAY("made for Windows", cuMemCreate(&own, PIECE, &p, 0));
}

static void wrong_imports(int good) {
    CUmemGenericAllocationHandle h = 0;
    int null = open("/dev/null", O_RDWR), ends[2], closed;

    puts("-- wrong imports");
    if (null < 0 || pipe(ends))
        exit(1);
    closed = dup(null);
    close(closed);
    SHOW(cuMemImportFromShareableHandle(NULL, (void *)(uintptr_t)good, TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)good, CU_MEM_HANDLE_TYPE_NONE));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)good, TYPE_WIN32));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)-1, TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)closed, TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)null, TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)ends[0], TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)other_end, TYPE_FD));
    close(null);
    close(ends[0]);
    close(ends[1]);
}

static void memory_parent(void) {
    CUmemGenericAllocationHandle h = memory(TYPE_FD), again = 0;
    unsigned long long types = 77;
    CUdeviceptr a = map(h);
    int fd = -1, second = -1;

    fill(a, PIECE, 0x5a5a5a5a);
    wrong_exports(h);
    puts("-- memory");
    SHOW(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, a));
    printf("types %llu\n", types);
    SHOW(cuMemExportToShareableHandle(&fd, h, TYPE_FD, 0));
    SHOW(cuMemExportToShareableHandle(&second, h, TYPE_FD, 0));
    printf("descriptors: %d, apart: %d, closed on exec: %d\n", fd >= 0 && second >= 0, fd != second,
           fcntl(fd, F_GETFD));
    pass("x", 1, fd);
    close(fd);
    wait_for_other();
    printf("the parent reads %x\n", word(a + 4));
    fill(a, PIECE, 0xbeef);
    unmap(a);
    SHOW(cuMemRelease(h));
    go();
    wait_for_other();
    puts("-- the exporter has the descriptor alone");
    SHOW(cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)second, TYPE_FD));
    close(second);
    a = map(again);
    printf("the parent reads %x\n", word(a));
    unmap(a);
    SHOW(cuMemRelease(again));
    go();
    wait_for_other();
}

static void memory_child(void) {
    CUmemGenericAllocationHandle h = 0, twice = 0, copy = 0;
    CUmemAllocationProp p;
    CUdeviceptr a, b;
    char x;
    int fd = await(&x, 1), other;

    start();
    puts("-- the child");
    SHOW(cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)fd, TYPE_FD));
    SHOW(cuMemImportFromShareableHandle(&twice, (void *)(uintptr_t)fd, TYPE_FD));
    printf("the same handle: %d\n", h == twice);
    other = dup(fd);
    wrong_imports(fd);
    close(fd);
    SAY("by a copy", cuMemImportFromShareableHandle(&copy, (void *)(uintptr_t)other, TYPE_FD));
    close(other);
    SHOW(cuMemRelease(copy));
    memset(&p, 0, sizeof(p));
    SHOW(cuMemGetAllocationPropertiesFromHandle(&p, h));
    printf("type %d place %d %d handles %d\n", p.type, p.location.type, p.location.id,
           p.requestedHandleTypes);
    a = map(h);
    b = map(twice);
    printf("reads %x %x\n", word(a + PIECE - 4), word(b));
    fill(b, PIECE, 0xc0ffee);
    printf("then %x\n", word(a + PIECE - 4));
    go();
    wait_for_other(); /* the parent has written, and released it */
    printf("the child reads %x\n", word(b + 8));
    SHOW(cuMemRelease(twice));
    unmap(b);
    go();
    wait_for_other(); /* no descriptor is left */
    printf("the child reads %x\n", word(a + 8));
    SHOW(cuMemExportToShareableHandle(&fd, h, TYPE_FD, 0));
    SHOW(cuMemRelease(h));
    printf("the child reads %x\n", word(a + 8));
    unmap(a);
    SHOW(cuMemRelease(h));
    go();
}

/* ---- A pool -------------------------------------------------------------------- */

static CUmemoryPool pool_of(CUmemAllocationHandleType types) {
    CUmemPoolProps p = {0};
    CUmemoryPool pool;

    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.handleTypes = types;
    CK(cuMemPoolCreate(&pool, &p));
    return pool;
}

static CUdeviceptr from_pool(CUmemoryPool pool) {
    CUdeviceptr d;

    CK(cuMemAllocFromPoolAsync(&d, BYTES, pool, NULL));
    CK(cuCtxSynchronize());
    return d;
}

static void wrong_pool_exports(CUmemoryPool pool, CUdeviceptr shared) {
    CUmemoryPool own = pool_of(CU_MEM_HANDLE_TYPE_NONE), usual;
    CUmemPoolPtrExportData data;
    CUdeviceptr alone = from_pool(own), plain;
    CUmemFabricHandle room;

    puts("-- wrong exports of pools");
    CK(cuDeviceGetDefaultMemPool(&usual, 0));
    CK(cuMemAlloc(&plain, BYTES));
    SHOW(cuMemPoolExportToShareableHandle(NULL, pool, TYPE_FD, 0));
    SHOW(cuMemPoolExportToShareableHandle(&room, pool, CU_MEM_HANDLE_TYPE_NONE, 0));
    SHOW(cuMemPoolExportToShareableHandle(&room, pool, TYPE_WIN32, 0));
    SHOW(cuMemPoolExportToShareableHandle(&room, pool, TYPE_FD, 1));
    SHOW(cuMemPoolExportToShareableHandle(&room, NULL, TYPE_FD, 0));
    SHOW(cuMemPoolExportToShareableHandle(&room, own, TYPE_FD, 0));
    SHOW(cuMemPoolExportToShareableHandle(&room, usual, TYPE_FD, 0));
    SHOW(cuMemPoolExportPointer(NULL, shared));
    SHOW(cuMemPoolExportPointer(&data, 0));
    SHOW(cuMemPoolExportPointer(&data, alone));
    SHOW(cuMemPoolExportPointer(&data, plain));
    CK(cuMemFree(plain));
    CK(cuMemFree(alone));
    CK(cuMemPoolDestroy(own));
}

static void pool_parent(void) {
    CUmemoryPool pool = pool_of(TYPE_FD);
    unsigned long long types = 77;
    CUmemPoolPtrExportData data;
    CUdeviceptr d = from_pool(pool);
    int fd = -1;

    fill(d, BYTES, 0x1234567);
    wrong_pool_exports(pool, d);
    puts("-- a pool");
    SHOW(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, d));
    printf("types %llu\n", types);
    SHOW(cuMemPoolExportToShareableHandle(&fd, pool, TYPE_FD, 0));
    SHOW(cuMemPoolExportPointer(&data, d));
    pass(&data, sizeof(data), fd);
    close(fd);
    wait_for_other();
    printf("the parent reads %x\n", word(d + BYTES - 4));
    SHOW(cuMemFree(d));
    SHOW(cuMemPoolDestroy(pool));
    go();
    wait_for_other();
}

static void wrong_pool_imports(int good) {
    CUmemGenericAllocationHandle h;
    CUmemoryPool pool = NULL;
    int null = open("/dev/null", O_RDWR);

    puts("-- wrong imports of pools");
    SHOW(cuMemPoolImportFromShareableHandle(NULL, (void *)(uintptr_t)good, TYPE_FD, 0));
    SHOW(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)good, CU_MEM_HANDLE_TYPE_NONE,
                                            0));
    SHOW(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)good, TYPE_FD, 1));
    SHOW(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)-1, TYPE_FD, 0));
    SHOW(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)null, TYPE_FD, 0));
    SAY("a pool's for memory",
        cuMemImportFromShareableHandle(&h, (void *)(uintptr_t)good, TYPE_FD));
    close(null);
}

static void wrong_pointers(CUmemoryPool pool, CUmemPoolPtrExportData *data) {
    CUmemPoolPtrExportData zero;
    CUmemoryPool own = pool_of(CU_MEM_HANDLE_TYPE_NONE);
    CUdeviceptr d;

    puts("-- wrong pointers");
    memset(&zero, 0, sizeof(zero));
    SHOW(cuMemPoolImportPointer(NULL, pool, data));
    SHOW(cuMemPoolImportPointer(&d, NULL, data));
    SHOW(cuMemPoolImportPointer(&d, pool, NULL));
    SHOW(cuMemPoolImportPointer(&d, own, data));
    SHOW(cuMemPoolImportPointer(&d, pool, &zero));
    CK(cuMemPoolDestroy(own));
}

static void pool_child(void) {
    CUmemPoolPtrExportData data, again;
    CUmemAccess_flags flags = 77;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = NULL, of = NULL;
    CUdeviceptr d = 0, fresh = 0, base = 0;
    int fd = await(&data, sizeof(data)), out = -1;
    size_t size = 0;

    puts("-- the child");
    SHOW(cuMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, TYPE_FD, 0));
    wrong_pool_imports(fd);
    close(fd);
    wrong_pointers(pool, &data);
    SHOW(cuMemPoolGetAccess(&flags, pool, &here));
    printf("access %d\n", flags);
    SHOW(cuMemAllocFromPoolAsync(&fresh, BYTES, pool, NULL));
    SHOW(cuDeviceSetMemPool(0, pool));
    SHOW(cuMemPoolExportToShareableHandle(&out, pool, TYPE_FD, 0));
    SHOW(cuMemPoolImportPointer(&d, pool, &data));
    SHOW(cuMemGetAddressRange(&base, &size, d + 100));
    printf("its range: %d, %zu bytes\n", base == d, size);
    SHOW(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, d));
    printf("its pool: %d\n", of == pool);
    SHOW(cuMemPoolExportPointer(&again, d));
    printf("reads %x\n", word(d));
    fill(d, BYTES, 0xabcd);
    SHOW(cuMemFreeAsync(d, NULL));
    SHOW(cuCtxSynchronize());
    go();
    wait_for_other(); /* the parent has ended it */
    SHOW(cuMemPoolDestroy(pool));
    go();
}

int main(void) {
    CUmemGenericAllocationHandle h;
    int ends[2], status = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    child = fork();
    other_end = ends[child == 0];
    close(ends[child != 0]); /* so that each sees the end of one that fails */
    if (!child) {
        memory_child();
        pool_child();
        return 0;
    }
    SHOW(cuMemExportToShareableHandle(&status, 0, TYPE_FD, 0));
    SHOW(cuMemImportFromShareableHandle(&h, NULL, TYPE_FD));
    start();
    attributes();
    memory_parent();
    pool_parent();
    waitpid(child, &status, 0);
    printf("the child ended with %d\n", status);
    return 0;
}
