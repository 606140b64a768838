// SPDX-License-Identifier: Apache-2.0
/*
 * Device memory and arrays: counted before they are made, given back when they have ended; what
 * other sessions have open, when vcudad counts it.
 */
#include "chains.h"
#include "ipc.h"
#include "memory.h"
#include "pools.h"
#include "shared.h"
#include "texel.h"
#include "worker.h"

/* The texture units read rows that begin at these; no pitch of the driver's is wider apart. */
#define PITCH_GRAIN 512u

CUresult own_cuMemGetInfo_v2(struct worker *w, struct frame *f, struct args_cuMemGetInfo_v2 *a) {
    size_t left = 0, total = 0;
    CUresult r = w->driver.cuMemGetInfo_v2(&left, &total);

    (void)f;
    if (r == CUDA_SUCCESS && memory_limited())
        pools_look_at_all(w);
    a->free = memory_left(left);
    a->total = memory_size(total);
    return r;
}

/* The end of an allocation that was taken: it is held, or there is none. */
static CUresult made(enum memory_what what, uint64_t key, const struct frame *f, uint64_t bytes,
                     CUresult r) {
    if (r == CUDA_SUCCESS)
        memory_hold(what, key, &(struct memory_part){.bytes = bytes, .context = f->head.ctx});
    else
        memory_give_back(bytes);
    return r;
}

/* What is ending: forgotten first, for its key may come again at once. */
struct ending {
    enum memory_what what;
    uint64_t key;
    struct memory_part part;
    bool known;
};

static struct ending ending(enum memory_what what, uint64_t key) {
    struct ending e = {.what = what, .key = key};

    e.known = memory_let_go(what, key, &e.part);
    if (e.known && e.part.hold)
        ipc_ends(key);
    return e;
}

static CUresult ended(const struct ending *e, CUresult r) {
    if (e->known && r == CUDA_SUCCESS) {
        shared_leave(e->part.hold);
        memory_give_back(e->part.pool ? 0 : e->part.bytes); /* a pool holds it still */
    } else if (e->known) {
        memory_hold(e->what, e->key, &e->part);
    }
    return r;
}

CUresult own_cuMemAlloc_v2(struct worker *w, struct frame *f, struct args_cuMemAlloc_v2 *a) {
    uint64_t bytes = memory_grains(a->bytesize);
    CUdeviceptr address = 0;
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuMemAlloc_v2(&address, a->bytesize);
    a->dptr = address;
    return made(MEMORY_PLAIN, address, f, bytes, r);
}

/* What pitched memory takes at most: the driver says how far its rows lie apart when it is made. */
static uint64_t pitched_bytes(uint64_t width, uint64_t height) {
    uint64_t bytes;

    if (width > UINT64_MAX - PITCH_GRAIN ||
        __builtin_mul_overflow((width + PITCH_GRAIN - 1) / PITCH_GRAIN * PITCH_GRAIN, height,
                               &bytes))
        return UINT64_MAX;
    return memory_grains(bytes);
}

CUresult own_cuMemAllocPitch_v2(struct worker *w, struct frame *f,
                                struct args_cuMemAllocPitch_v2 *a) {
    uint64_t bytes = pitched_bytes(a->WidthInBytes, a->Height);
    CUdeviceptr address = 0;
    size_t pitch = 0;
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuMemAllocPitch_v2(&address, &pitch, a->WidthInBytes, a->Height,
                                     a->ElementSizeBytes);
    a->dptr = address;
    a->pPitch = pitch;
    return made(MEMORY_PLAIN, address, f, bytes, r);
}

CUresult own_cuMemFree_v2(struct worker *w, struct frame *f, struct args_cuMemFree_v2 *a) {
    struct ending e = ending(MEMORY_PLAIN, a->dptr);

    (void)f;
    if (!e.known)
        e = ending(MEMORY_POOLED, a->dptr);
    return ended(&e, w->driver.cuMemFree_v2(a->dptr));
}

static uint64_t at_least_one(uint64_t n) {
    return n ? n : 1;
}

/* Larger in one direction than any device's arrays: that is for the driver to say. */
#define EXTENT_MAX (1u << 17)

/* All levels of an array; memory that the program maps itself is counted where it makes it. */
static uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels) {
    uint64_t bytes = 0;

    if (d->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING) || d->Width > EXTENT_MAX ||
        d->Height > EXTENT_MAX || d->Depth > EXTENT_MAX)
        return 0;
    for (unsigned int i = 0; i < levels && i < 32; i++) {
        uint64_t level = texel_bytes(d->Format, d->NumChannels);

        if (__builtin_mul_overflow(level, at_least_one(d->Width >> i), &level) ||
            __builtin_mul_overflow(level, at_least_one(d->Height >> i), &level) ||
            __builtin_mul_overflow(level, at_least_one(d->Depth), &level) ||
            __builtin_add_overflow(bytes, memory_grains(level), &bytes))
            return UINT64_MAX;
    }
    return bytes;
}

CUresult own_cuArrayCreate_v2(struct worker *w, struct frame *f, struct args_cuArrayCreate_v2 *a) {
    const CUDA_ARRAY_DESCRIPTOR *d = a->pAllocateArray;
    const CUDA_ARRAY3D_DESCRIPTOR full = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    uint64_t bytes = array_bytes(&full, 1);
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuArrayCreate_v2(&a->pHandle, d);
    return made(MEMORY_ARRAY, (uint64_t)a->pHandle, f, bytes, r);
}

CUresult own_cuArray3DCreate_v2(struct worker *w, struct frame *f,
                                struct args_cuArray3DCreate_v2 *a) {
    uint64_t bytes = array_bytes(a->pAllocateArray, 1);
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuArray3DCreate_v2(&a->pHandle, a->pAllocateArray);
    return made(MEMORY_ARRAY, (uint64_t)a->pHandle, f, bytes, r);
}

CUresult own_cuMipmappedArrayCreate(struct worker *w, struct frame *f,
                                    struct args_cuMipmappedArrayCreate *a) {
    uint64_t bytes = array_bytes(a->pMipmappedArrayDesc, a->numMipmapLevels);
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuMipmappedArrayCreate(&a->pHandle, a->pMipmappedArrayDesc, a->numMipmapLevels);
    return made(MEMORY_ARRAY, (uint64_t)a->pHandle, f, bytes, r);
}

CUresult own_cuArrayDestroy(struct worker *w, struct frame *f, struct args_cuArrayDestroy *a) {
    struct ending e = ending(MEMORY_ARRAY, (uint64_t)a->hArray);

    (void)f;
    return ended(&e, w->driver.cuArrayDestroy(a->hArray));
}

CUresult own_cuMipmappedArrayDestroy(struct worker *w, struct frame *f,
                                     struct args_cuMipmappedArrayDestroy *a) {
    struct ending e = ending(MEMORY_ARRAY, (uint64_t)a->hMipmappedArray);

    (void)f;
    return ended(&e, w->driver.cuMipmappedArrayDestroy(a->hMipmappedArray));
}

/* The heap of kernels' malloc and the buffer of their printf are device memory as well. */
CUresult own_cuCtxSetLimit(struct worker *w, struct frame *f, struct args_cuCtxSetLimit *a) {
    bool counts = a->limit == CU_LIMIT_MALLOC_HEAP_SIZE || a->limit == CU_LIMIT_PRINTF_FIFO_SIZE;
    uint64_t bytes = memory_grains(a->value), key = f->head.ctx | (uint64_t)a->limit;
    struct ending before;
    CUresult r;

    chains_forget(w); /* how much local memory there is may be one of them */
    if (!counts)
        return w->driver.cuCtxSetLimit((CUlimit)a->limit, a->value);
    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    before = ending(MEMORY_LIMIT, key);
    r = ended(&before, w->driver.cuCtxSetLimit((CUlimit)a->limit, a->value));
    return made(MEMORY_LIMIT, key, f, bytes, r);
}

static CUresult from_pool(struct worker *w, CUmemoryPool pool, uint64_t bytesize, CUstream stream,
                          uint64_t *dptr,
                          CUresult (*allocate)(CUdeviceptr *, size_t, CUmemoryPool, CUstream)) {
    const struct memory_part part = {.bytes = memory_grains(bytesize), .pool = pool};
    CUdeviceptr address = 0;
    CUresult r;

    if (!pools_take(w, pool, part.bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = allocate ? allocate(&address, bytesize, pool, stream)
                 : w->driver.cuMemAllocAsync(&address, bytesize, stream);
    /* It may have grown by more than was asked for. */
    if (!pools_look(w, pool) && r == CUDA_SUCCESS) {
        w->driver.cuMemFreeAsync(address, stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *dptr = address;
    if (r == CUDA_SUCCESS)
        memory_hold(MEMORY_POOLED, address, &part);
    return r;
}

/* Whether the call becomes a node of a graph: then memory comes from the graphs', at a launch. */
static bool captured(struct worker *w, CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    return w->driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
           status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult into_graph(struct worker *w, uint64_t bytesize, CUstream stream, uint64_t *dptr,
                           CUmemoryPool pool) {
    uint64_t bytes = memory_grains(bytesize);
    CUdeviceptr address = 0;
    CUresult r;

    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    pools_graphs_hold();
    r = pool ? w->driver.cuMemAllocFromPoolAsync(&address, bytesize, pool, stream)
             : w->driver.cuMemAllocAsync(&address, bytesize, stream);
    memory_give_back(bytes);
    *dptr = address;
    return r;
}

/* Where a stream's memory comes from: its context's device, whichever context is current. */
static CUresult device_of(struct worker *w, CUstream stream, CUdevice *device) {
    CUcontext own;
    CUresult r = w->driver.cuStreamGetCtx(stream, &own);

    if (r == CUDA_SUCCESS)
        r = w->driver.cuCtxPushCurrent_v2(own);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuCtxGetDevice(device);
    w->driver.cuCtxPopCurrent_v2(&own);
    return r;
}

CUresult own_cuMemAllocAsync(struct worker *w, struct frame *f, struct args_cuMemAllocAsync *a) {
    CUmemoryPool pool = NULL;
    CUdevice device;
    CUresult r;

    (void)f;
    if (captured(w, a->hStream))
        return into_graph(w, a->bytesize, a->hStream, &a->dptr, NULL);
    r = device_of(w, a->hStream, &device);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDeviceGetMemPool(&pool, device);
    return r == CUDA_SUCCESS ? from_pool(w, pool, a->bytesize, a->hStream, &a->dptr, NULL) : r;
}

CUresult own_cuMemAllocFromPoolAsync(struct worker *w, struct frame *f,
                                     struct args_cuMemAllocFromPoolAsync *a) {
    (void)f;
    if (captured(w, a->hStream))
        return into_graph(w, a->bytesize, a->hStream, &a->dptr, a->pool);
    return from_pool(w, a->pool, a->bytesize, a->hStream, &a->dptr,
                     w->driver.cuMemAllocFromPoolAsync);
}

CUresult own_cuMemFreeAsync(struct worker *w, struct frame *f, struct args_cuMemFreeAsync *a) {
    struct ending e = ending(MEMORY_POOLED, a->dptr);

    (void)f;
    pools_free();
    if (!e.known)
        e = ending(MEMORY_PLAIN, a->dptr);
    return ended(&e, w->driver.cuMemFreeAsync(a->dptr, a->hStream));
}
