// SPDX-License-Identifier: Apache-2.0
/*
 * Memory in stream order, and the pools that it comes from. An address must come back with the
 * call, so allocating waits; freeing is posted.
 */
#include "apart.h"
#include "calls.h"
#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "rpc.h"
#include "wire.h"

struct request {
    size_t bytes;
    uint64_t pool; /* name; 0: the current one of the stream's device */
    uint64_t stream;
};

static CUresult pool_alloc(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes) {
    const struct request *q = arg;

    *bytes = q->bytes;
    if (q->pool)
        return wire_cuMemAllocFromPoolAsync(t, address, q->bytes, q->pool, q->stream);
    return wire_cuMemAllocAsync(t, address, q->bytes, q->stream);
}

static CUresult pool_free(struct thread *t, void *arg, uint64_t address) {
    return wire_cuMemFreeAsync(t, address, ((const struct request *)arg)->stream);
}

static CUresult allocate(CUdeviceptr *dptr, struct thread *t, struct request *q, CUstream stream) {
    /* What a pool gives belongs to the device: it outlives the context. */
    struct apart how = {RANGE_POOL, 0, pool_alloc, pool_free};
    uint64_t address, context;
    CUresult r = stream_resolve(t, stream, &q->stream, &context);

    if (r != CUDA_SUCCESS)
        return r;
    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (!q->bytes) { /* seen natively: no memory is had, and freed, well */
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    if (capture_graph(t, q->stream)) {
        how.kind = RANGE_GRAPH;
        how.context = context;
    }
    r = apart_alloc(t, &how, q, &address);
    if (r == CUDA_SUCCESS)
        *dptr = address;
    return r;
}

VCUDA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    struct request q = {bytesize, 0, 0};
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, hStream);

    return r == CUDA_SUCCESS ? allocate(dptr, t, &q, hStream) : r;
}

VCUDA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                              CUstream hStream) {
    struct request q = {bytesize, (uint64_t)pool, 0};
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, hStream);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_POOL, pool);
    return r == CUDA_SUCCESS ? allocate(dptr, t, &q, hStream) : r;
}

/* Only the driver knows whether a graph's memory is allocated now: its answer is waited for. */
static CUresult free_of_graph(struct thread *t, uint64_t address, uint64_t stream) {
    struct rpc rpc;
    CUresult r = rpc_begin(&rpc, t, VCUDA_CALL_cuMemFreeAsync, false);

    if (r != CUDA_SUCCESS)
        return r;
    rpc_slot(&rpc, address);
    rpc_slot(&rpc, stream);
    return rpc_wait(&rpc, 0);
}

VCUDA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    uint64_t stream;
    struct range range;
    struct thread *t;
    CUresult r = guest_enter_stream(&t, hStream, &stream);

    if (r != CUDA_SUCCESS || !dptr)
        return r;
    if (!ranges_take(dptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    r = range.kind == RANGE_GRAPH ? free_of_graph(t, dptr, stream)
                                  : wire_cuMemFreeAsync(t, dptr, stream);
    if (r != CUDA_SUCCESS)
        ranges_put_back(&range);
    return r;
}

/* A device that does not exist is just a wrong value to these. */
static CUresult enter_device(struct thread **t, CUdevice dev) {
    CUresult r = guest_enter_any(t);

    return r == CUDA_SUCCESS && (dev < 0 || dev >= guest_device_count()) ? CUDA_ERROR_INVALID_VALUE
                                                                         : r;
}

VCUDA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    struct thread *t;
    CUresult r = enter_device(&t, dev);

    if (r == CUDA_SUCCESS && !pool)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? wire_cuDeviceGetMemPool(t, (uint64_t *)pool, dev) : r;
}

VCUDA_EXPORT CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    struct thread *t;
    CUresult r = enter_device(&t, dev);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_POOL, pool);
    return r == CUDA_SUCCESS ? wire_cuDeviceSetMemPool(t, dev, (uint64_t)pool) : r;
}

static CUresult enter_pool(struct thread **t, CUmemoryPool pool) {
    CUresult r = guest_enter_any(t);

    return r == CUDA_SUCCESS ? guest_check(VCUDA_KIND_POOL, pool) : r;
}

/* The switches are ints, the amounts of memory 64 bits long. */
static bool is_int(CUmemPool_attribute attr) {
    return attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

VCUDA_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
                                            void *value) {
    struct thread *t;
    CUresult r = enter_pool(&t, pool);

    if (r != CUDA_SUCCESS)
        return r;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    return wire_cuMemPoolSetAttribute(t, (uint64_t)pool, (int32_t)attr,
                                      is_int(attr) ? *(uint32_t *)value : *(uint64_t *)value);
}

VCUDA_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr,
                                            void *value) {
    uint64_t got;
    struct thread *t;
    CUresult r = enter_pool(&t, pool);

    if (r != CUDA_SUCCESS)
        return r;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuMemPoolGetAttribute(t, (uint64_t)pool, (int32_t)attr, &got);
    if (r != CUDA_SUCCESS)
        return r;
    if (is_int(attr))
        *(uint32_t *)value = (uint32_t)got;
    else
        *(uint64_t *)value = got;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map,
                                         size_t count) {
    struct thread *t;
    CUresult r = enter_pool(&t, pool);

    if (r != CUDA_SUCCESS)
        return r;
    if (!map || count > VCUDA_INLINE_MAX / sizeof(*map))
        return CUDA_ERROR_INVALID_VALUE;
    if (!count)
        return CUDA_SUCCESS;
    return wire_cuMemPoolSetAccess(t, (uint64_t)pool, map, (uint32_t)(count * sizeof(*map)));
}

VCUDA_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                         CUmemLocation *location) {
    uint32_t got;
    struct thread *t;
    CUresult r = enter_pool(&t, memPool);

    if (r != CUDA_SUCCESS)
        return r;
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuMemPoolGetAccess(t, &got, (uint64_t)memPool, location);
    if (r == CUDA_SUCCESS)
        *flags = (CUmemAccess_flags)got;
    return r;
}
