// SPDX-License-Identifier: Apache-2.0
/*
 * Memory and pools that programs of one domain or user pass to each other by descriptors: the
 * driver's goes to vcudad, its token to the program (shared.h).
 */
#include <unistd.h>

#include "info.h"
#include "physical.h"
#include "pools.h"
#include "shared.h"
#include "worker.h"

_Static_assert(sizeof(struct vcuda_share_token) == VCUDA_SHARE_TOKEN_BYTES, "a token fits");

/* One at a time: the first export of a piece makes the hold that the later ones are put with. */
static pthread_mutex_t exporting = PTHREAD_MUTEX_INITIALIZER;
/* One at a time: the driver may give one handle to two imports of the same memory. */
static pthread_mutex_t importing = PTHREAD_MUTEX_INITIALIZER;

/* Room for what the driver writes, whatever type of handle it is asked for. */
union native_handle {
    int fd;
    CUmemFabricHandle widest;
};

/*
 * Handles of a fabric are no descriptors, and would be good beyond this host: no memory of a
 * guest's is made for them.
 */
static bool may_ask(int32_t type, uint32_t cap) {
    return type != CU_MEM_HANDLE_TYPE_FABRIC && cap == VCUDA_SHARE_TOKEN_BYTES;
}

/* Puts the driver's descriptor under a token, and closes it. */
static CUresult put(enum vcuda_share_kind kind, uint64_t bytes, int fd, uint32_t *hold,
                    struct vcuda_share_token *token) {
    CUresult r;

    if (fd < 0) /* a handle of a type that is none */
        return CUDA_ERROR_NOT_SUPPORTED;
    r = shared_put(kind, bytes, fd, hold, token);
    close(fd);
    return r;
}

static CUresult put_memory(struct physical *p, int fd, struct vcuda_share_token *token) {
    uint32_t hold = p ? physical_hold(p) : 0;
    CUresult r = put(VCUDA_SHARE_MEMORY, p ? physical_bytes(p) : 0, fd, &hold, token);

    if (r == CUDA_SUCCESS && p)
        physical_set_hold(p, hold);
    else if (r == CUDA_SUCCESS)
        shared_leave(hold); /* nobody would know when */
    return r;
}

CUresult own_share_give_memory(struct worker *w, struct frame *f,
                               struct args_share_give_memory *a) {
    union native_handle native = {.fd = -1};
    struct physical *p;
    CUresult r;

    (void)f;
    if (!may_ask(a->type, a->token_cap))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&exporting);
    p = physical_use_handle(a->handle);
    r = w->driver.cuMemExportToShareableHandle(&native, a->handle,
                                               (CUmemAllocationHandleType)a->type, a->flags);
    if (r == CUDA_SUCCESS)
        r = put_memory(p, native.fd, a->token);
    pthread_mutex_unlock(&exporting);
    physical_drop(p);
    a->token_len = VCUDA_SHARE_TOKEN_BYTES;
    return r;
}

/* Whether memory lies on one of the session's devices; what has no place may lie anywhere. */
static bool on_our_device(struct worker *w, CUmemGenericAllocationHandle handle) {
    CUmemAllocationProp prop;

    memset(&prop, 0, sizeof(prop));
    return w->driver.cuMemGetAllocationPropertiesFromHandle(&prop, handle) != CUDA_SUCCESS ||
           prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
           worker_guest_device(w, prop.location.id) >= 0;
}

/* Under `importing`. The handle's name counts how often the program has it, as the driver does. */
static CUresult import_memory(struct worker *w, int fd, uint32_t hold,
                              CUmemGenericAllocationHandle *handle) {
    struct object o = {.aux = 1};
    CUresult r = w->driver.cuMemImportFromShareableHandle(handle, (void *)(uintptr_t)fd,
                                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

    if (r == CUDA_SUCCESS && !on_our_device(w, *handle)) {
        w->driver.cuMemRelease(*handle);
        r = CUDA_ERROR_INVALID_DEVICE;
    }
    if (r != CUDA_SUCCESS) {
        shared_leave(hold);
        return r;
    }
    physical_imported(*handle, hold);
    o.native = (void *)*handle;
    if (!objects_hold(&w->objects, VCUDA_KIND_MEMORY, o.native))
        objects_name(&w->objects, VCUDA_KIND_MEMORY, &o);
    return CUDA_SUCCESS;
}

CUresult own_share_open_memory(struct worker *w, struct frame *f,
                               struct args_share_open_memory *a) {
    uint32_t hold;
    CUresult r;
    int fd;

    if (a->token_len != VCUDA_SHARE_TOKEN_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    r = shared_get(VCUDA_SHARE_MEMORY, a->token, &fd, &hold);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&importing);
    r = import_memory(w, fd, hold, &a->handle);
    pthread_mutex_unlock(&importing);
    close(fd);
    f->aux = 1; /* for a name that had no room before */
    return r;
}

CUresult own_share_give_pool(struct worker *w, struct frame *f, struct args_share_give_pool *a) {
    union native_handle native = {.fd = -1};
    uint64_t bytes;
    uint32_t hold;
    CUresult r;

    (void)f;
    if (!may_ask(a->type, a->token_cap))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&exporting);
    r = w->driver.cuMemPoolExportToShareableHandle(&native, a->pool,
                                                   (CUmemAllocationHandleType)a->type, a->flags);
    if (r == CUDA_SUCCESS) {
        hold = pools_hold(a->pool, &bytes);
        r = put(VCUDA_SHARE_POOL, bytes, native.fd, &hold, a->token);
    }
    if (r == CUDA_SUCCESS)
        pools_set_hold(w, a->pool, hold);
    pthread_mutex_unlock(&exporting);
    a->token_len = VCUDA_SHARE_TOKEN_BYTES;
    return r;
}

CUresult own_share_open_pool(struct worker *w, struct frame *f, struct args_share_open_pool *a) {
    uint32_t hold;
    CUresult r;
    int fd;

    (void)f;
    if (a->token_len != VCUDA_SHARE_TOKEN_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    r = shared_get(VCUDA_SHARE_POOL, a->token, &fd, &hold);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemPoolImportFromShareableHandle(
        &a->pool, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, a->flags);
    close(fd);
    if (r == CUDA_SUCCESS)
        pools_imported(a->pool, hold);
    else
        shared_leave(hold);
    return r;
}

CUresult own_share_end(struct worker *w, struct frame *f, struct args_share_end *a) {
    (void)w;
    (void)f;
    return a->token_len == VCUDA_SHARE_TOKEN_BYTES ? shared_end(a->token)
                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult own_share_open_pointer(struct worker *w, struct frame *f,
                                struct args_share_open_pointer *a) {
    CUmemPoolPtrExportData data = *a->data;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    CUresult r;

    (void)f;
    r = w->driver.cuMemPoolImportPointer(&address, a->pool, &data);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemGetAddressRange_v2(NULL, &bytes, address);
    if (r != CUDA_SUCCESS)
        w->driver.cuMemFree_v2(address);
    a->ptr = address;
    a->bytes = bytes;
    return r;
}
