// SPDX-License-Identifier: Apache-2.0
/* Device memory that programs of one guest pass to each other by descriptors. */
#include <unistd.h>

#include "apart.h"
#include "cuda_calls.h"
#include "descriptor.h"
#include "guest.h"
#include "wire.h"

/* What is behind a token becomes the program's descriptor. */
static CUresult give(struct thread *t, enum descriptor_kind kind,
                     const struct descriptor_token *token, uint32_t len, int *out) {
    int fd = len == sizeof(*token) ? descriptor_make(kind, token) : -1;

    if (fd < 0) {
        wire_share_end(t, token, sizeof(*token));
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *out = fd;
    return CUDA_SUCCESS;
}

/* The token behind what a program takes for a descriptor of memory; what is none, as native says.
 */
static CUresult take(void *handle, CUmemAllocationHandleType type, enum descriptor_kind kind,
                     struct descriptor_token *token) {
    enum descriptor_kind found;

    if (type == CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    found = descriptor_read((int)(uintptr_t)handle, token);
    if (found == kind)
        return CUDA_SUCCESS;
    return found == DESCRIPTOR_NONE ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_NOT_SUPPORTED;
}

/* What can be passed on by a descriptor. */
struct sort {
    enum vcuda_kind object;
    enum descriptor_kind kind;
    CUresult (*give)(struct thread *t, uint64_t name, int32_t type, uint64_t flags, void *token,
                     uint32_t room, uint32_t *len);
};

static const struct sort memory = {VCUDA_KIND_MEMORY, DESCRIPTOR_MEMORY, wire_share_give_memory};
static const struct sort pools = {VCUDA_KIND_POOL, DESCRIPTOR_POOL, wire_share_give_pool};

static CUresult export(const struct sort *what, uint64_t name, CUmemAllocationHandleType type,
                       uint64_t flags, void *out) {
    struct descriptor_token token = {0};
    uint32_t len = 0;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_check(what->object, (const void *)name);
    if (r != CUDA_SUCCESS)
        return r;
    descriptor_sweep(t);
    r = what->give(t, name, (int32_t)type, flags, &token, sizeof(token), &len);
    return r == CUDA_SUCCESS ? give(t, what->kind, &token, len, out) : r;
}

VCUDA_EXPORT CUresult cuMemExportToShareableHandle(void *shareableHandle,
                                                   CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType handleType,
                                                   unsigned long long flags) {
    return export(&memory, handle, handleType, flags, shareableHandle);
}

VCUDA_EXPORT CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                                       CUmemAllocationHandleType handleType,
                                                       unsigned long long flags) {
    return export(&pools, (uint64_t)pool, handleType, flags, handle_out);
}

VCUDA_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                     void *osHandle,
                                                     CUmemAllocationHandleType shHandleType) {
    struct descriptor_token token;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    r = take(osHandle, shHandleType, DESCRIPTOR_MEMORY, &token);
    return r == CUDA_SUCCESS ? wire_share_open_memory(t, (uint64_t *)handle, &token, sizeof(token))
                             : r;
}

VCUDA_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                         CUmemAllocationHandleType handleType,
                                                         unsigned long long flags) {
    struct descriptor_token token;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    r = take(handle, handleType, DESCRIPTOR_POOL, &token);
    return r == CUDA_SUCCESS
               ? wire_share_open_pool(t, (uint64_t *)pool_out, &token, sizeof(token), flags)
               : r;
}

struct request {
    uint64_t pool;
    const CUmemPoolPtrExportData *data;
};

static CUresult open_pointer(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes) {
    const struct request *q = arg;

    return wire_share_open_pointer(t, address, bytes, q->pool, q->data);
}

static CUresult close_pointer(struct thread *t, void *arg, uint64_t address) {
    (void)arg;
    return wire_cuMemFree_v2(t, address);
}

VCUDA_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                                             CUmemPoolPtrExportData *shareData) {
    const struct apart how = {RANGE_POOL, 0, open_pointer, close_pointer};
    struct request q = {(uint64_t)pool, shareData};
    struct thread *t;
    uint64_t address;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ptr_out || !shareData)
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_check(VCUDA_KIND_POOL, pool);
    if (r == CUDA_SUCCESS)
        r = apart_alloc(t, &how, &q, &address);
    if (r == CUDA_SUCCESS)
        *ptr_out = address;
    return r;
}
