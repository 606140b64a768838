// SPDX-License-Identifier: Apache-2.0
/* Device memory and pinned host memory. */

#include "apart.h"
#include "arena.h"
#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "names.h"
#include "ranges.h"
#include "register.h"
#include "wire.h"

#define HOST_ALLOC_FLAGS                                                                           \
    (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)

static CUresult plain_free(struct thread *t, void *arg, uint64_t address) {
    (void)arg;
    return wire_cuMemFree_v2(t, address);
}

static CUresult plain_alloc(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes) {
    *bytes = *(size_t *)arg;
    return wire_cuMemAlloc_v2(t, address, *bytes);
}

VCUDA_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    struct thread *t;
    uint64_t address;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!dptr || !bytesize)
        return CUDA_ERROR_INVALID_VALUE;
    r = apart_alloc(t, &(struct apart){RANGE_PLAIN, t->context, plain_alloc, plain_free}, &bytesize,
                    &address);
    if (r == CUDA_SUCCESS)
        *dptr = address;
    return r;
}

struct pitch_request {
    size_t width, height;
    unsigned int element;
    uint64_t pitch;
};

static CUresult pitch_alloc(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes) {
    struct pitch_request *q = arg;
    CUresult r = wire_cuMemAllocPitch_v2(t, address, &q->pitch, q->width, q->height, q->element);

    *bytes = q->pitch * q->height;
    return r;
}

VCUDA_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                         size_t Height, unsigned int ElementSizeBytes) {
    struct pitch_request q = {WidthInBytes, Height, ElementSizeBytes, 0};
    struct thread *t;
    uint64_t address;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!dptr || !pPitch)
        return CUDA_ERROR_INVALID_VALUE;
    r = apart_alloc(t, &(struct apart){RANGE_PLAIN, t->context, pitch_alloc, plain_free}, &q,
                    &address);
    if (r == CUDA_SUCCESS) {
        *dptr = address;
        *pPitch = q.pitch;
    }
    return r;
}

/* Unless it is captured in, or another thread has ended it. */
static CUresult stream_wait(struct thread *t, uint64_t stream) {
    int32_t status;
    CUresult r = wire_cuStreamIsCapturing(t, stream, &status);

    if (r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE)
        r = wire_cuStreamSynchronize(t, stream);
    return names_get(VCUDA_KIND_STREAM, stream) ? r : CUDA_SUCCESS;
}

/* A context that is being captured in may not be waited for as a whole. */
static CUresult uncaptured_wait(struct thread *t) {
    CUresult r = wire_cuStreamSynchronize(t, 0);
    uint64_t stream = 0;

    while (r == CUDA_SUCCESS &&
           (stream = names_next(VCUDA_KIND_STREAM, stream, stream_is_of, &t->context)))
        r = stream_wait(t, stream);
    return r;
}

CUresult memory_settle(struct thread *t) {
    CUresult r = capture_forbids(t);

    if (r != CUDA_SUCCESS)
        return r;
    return capture_any() ? uncaptured_wait(t) : context_wait(t);
}

/* Host memory of ours, once the GPU has done with it. */
static CUresult free_settled(struct thread *t, void *p, enum arena_kind kind) {
    CUresult r = memory_settle(t);

    if (r == CUDA_SUCCESS)
        r = arena_free(p, kind);
    /* Who captures has not waited for all that the GPU may still do. */
    if (r == CUDA_SUCCESS && !capture_any())
        arena_shrink(t);
    return r;
}

VCUDA_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr) {
    struct arena_block block;
    struct range range;
    struct thread *t;
    CUresult r = guest_enter_memory(&t, dptr);

    if (r != CUDA_SUCCESS)
        return r;
    if (!dptr)
        return CUDA_SUCCESS;
    if (arena_find((const void *)dptr, 1, &block) && block.kind == ARENA_MANAGED)
        return free_settled(t, (void *)dptr, ARENA_MANAGED);
    if (!ranges_take(dptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuMemFree_v2(t, dptr);
    if (r != CUDA_SUCCESS)
        ranges_put_back(&range);
    return r;
}

VCUDA_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    struct arena_block block;
    struct range range;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pbase && !psize) /* asked for nothing: the driver does not even look */
        return CUDA_SUCCESS;
    if (arena_find((const void *)dptr, 1, &block) && block.kind != ARENA_REGISTERED)
        range = (struct range){.start = (uint64_t)block.start, .size = block.size};
    else if (!ranges_find(dptr, 1, &range))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = range.start;
    if (psize)
        *psize = range.size;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pp || Flags & ~HOST_ALLOC_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_fault(t);
    if (r == CUDA_SUCCESS)
        r = capture_forbids(t);
    if (r == CUDA_SUCCESS && !bytesize) {
        *pp = NULL;
        return CUDA_SUCCESS;
    }
    return r == CUDA_SUCCESS ? arena_alloc(t, bytesize, ARENA_PINNED, Flags, pp) : r;
}

VCUDA_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t bytesize) {
    return cuMemHostAlloc(pp, bytesize, 0);
}

VCUDA_EXPORT CUresult cuMemFreeHost(void *p) {
    struct thread *t;
    CUresult r = guest_enter_memory(&t, (uint64_t)p);

    if (r != CUDA_SUCCESS)
        return r;
    return p ? free_settled(t, p, ARENA_PINNED) : CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p,
                                                   unsigned int Flags) {
    struct arena_block block;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pdptr || Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!arena_find(p, 1, &block) || block.kind == ARENA_MANAGED || block.kind == ARENA_VARIABLES)
        return register_only_noted(p) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
    struct arena_block block;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pFlags || !arena_find(p, 1, &block) || block.kind == ARENA_MANAGED ||
        block.kind == ARENA_VARIABLES)
        return CUDA_ERROR_INVALID_VALUE;
    /* With unified addresses every pinned allocation is mapped for the device. */
    *pFlags = block.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}
