// SPDX-License-Identifier: Apache-2.0
/*
 * Memory pools. A pool counts; the memory comes from its device's heap, at once, and goes back when
 * its stream gets there.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "pool.h"
#include "graph_memory.h"

#define PAGE ((size_t)4096)

static void destroy_pool(struct sim_object *object) {
    pthread_mutex_destroy(&((struct sim_pool *)object)->lock);
    free(object);
}

struct sim_pool *sim_pool_new(struct sim_device *device, bool is_default) {
    struct sim_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    sim_object_init(&pool->object, SIM_POOL, destroy_pool);
    pthread_mutex_init(&pool->lock, NULL);
    pool->device = device;
    pool->is_default = is_default;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->access[device->ordinal] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (sim_handle_open(&pool->object))
        return pool;
    sim_put(pool);
    return NULL;
}

CUresult sim_pool_get(CUmemoryPool handle, struct sim_pool **out) {
    *out = sim_handle_get(handle, SIM_POOL);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The device's pool, a reference; under no lock. NULL: out of memory. */
static struct sim_pool *pool_of(struct sim_device *device, bool current) {
    struct sim_pool *pool;

    pthread_mutex_lock(&device->primary_lock);
    if (!device->default_pool)
        device->default_pool = sim_pool_new(device, true);
    pool = current && device->current_pool ? device->current_pool : device->default_pool;
    if (pool)
        sim_ref(pool);
    pthread_mutex_unlock(&device->primary_lock);
    return pool;
}

static CUresult give_pool(CUmemoryPool *out, CUdevice dev, bool current) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_READY();

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    pool = pool_of(sim_device(dev), current);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(pool);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    return give_pool(pool_out, dev, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    return give_pool(pool, dev, true);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle) {
    struct sim_device *device = sim_device(dev);
    struct sim_pool *pool, *before;
    SIM_READY();

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (pool->device != device || pool->imported) {
        sim_put(pool);
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&device->primary_lock);
    before = device->current_pool;
    device->current_pool = pool;
    pthread_mutex_unlock(&device->primary_lock);
    sim_put(before);
    return CUDA_SUCCESS;
}

static CUresult at_device(const CUmemLocation *location, CUmemAllocationType type) {
    return location && type == CU_MEM_ALLOCATION_TYPE_PINNED &&
                   location->type == CU_MEM_LOCATION_TYPE_DEVICE && sim_device(location->id)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                CUmemAllocationType type) {
    CUresult result = at_device(location, type);

    return result == CUDA_SUCCESS ? give_pool(pool_out, location->id, false) : result;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    CUresult result = at_device(location, type);

    return result == CUDA_SUCCESS ? give_pool(pool, location->id, true) : result;
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
    CUresult result = at_device(location, type);

    return result == CUDA_SUCCESS ? cuDeviceSetMemPool(location->id, pool) : result;
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
    struct sim_pool *pool;
    SIM_READY();

    if (!out || !props || props->allocType == CU_MEM_ALLOCATION_TYPE_INVALID)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type > CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(props->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    pool = sim_pool_new(sim_device(props->location.id), false);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->limit = props->maxSize;
    if (props->handleTypes && getrandom(&pool->id, sizeof(pool->id), 0) != sizeof(pool->id)) {
        sim_handle_close(&pool->object);
        sim_put(pool);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *out = SIM_HANDLE(pool);
    sim_put(pool); /* its handle holds it */
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    SIM_AUTO struct sim_pool *pool = NULL;
    struct sim_pool *current = NULL;
    SIM_READY();

    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS || pool->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->device->primary_lock);
    if (pool->device->current_pool == pool) {
        current = pool;
        pool->device->current_pool = NULL;
    }
    pthread_mutex_unlock(&pool->device->primary_lock);
    sim_put(current);
    sim_handle_close(&pool->object);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t minBytesToKeep) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_READY();

    (void)minBytesToKeep; /* nothing is kept */
    return sim_pool_get(handle, &pool);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value) {
    SIM_AUTO struct sim_pool *pool = NULL;
    CUresult result = CUDA_SUCCESS;
    SIM_READY();

    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS || !value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->lock);
    if (attr >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
        attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        pool->reuse[attr - 1] = *(uint32_t *)value != 0;
    else if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(uint64_t *)value;
    else if ((attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH || attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) &&
             *(uint64_t *)value == 0)
        pool->high = pool->used; /* 0 is the only value that may be set: begin anew */
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&pool->lock);
    return result;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value) {
    SIM_AUTO struct sim_pool *pool = NULL;
    CUresult result = CUDA_SUCCESS;
    SIM_READY();

    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS || !value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&pool->lock);
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(uint32_t *)value = pool->reuse[attr - 1];
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(uint64_t *)value = pool->threshold;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *(uint64_t *)value = pool->used;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(uint64_t *)value = pool->high;
        break;
    default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&pool->lock);
    return result;
}

/* What a pool gives stays its device's, peers or not. */
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_READY();

    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS || !map)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(map[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        /* Its own device has always all rights. */
        if (map[i].location.id == pool->device->ordinal
                ? map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                : map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                            CUmemLocation *location) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_READY();

    if (!flags || !location || sim_pool_get(handle, &pool) != CUDA_SUCCESS ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = (CUmemAccess_flags)pool->access[location->id];
    return CUDA_SUCCESS;
}

void sim_pool_account(const struct sim_block *block, bool begins) {
    SIM_AUTO struct sim_pool *pool = sim_handle_get(block->pool, SIM_POOL);

    if (!pool || pool->imported)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->used = begins ? pool->used + block->span : pool->used - block->span;
    if (pool->used > pool->high)
        pool->high = pool->used;
    pthread_mutex_unlock(&pool->lock);
}

/* In a captured stream: the graph's own memory. */
static CUresult allocate_node(CUdeviceptr *dptr, size_t bytes, const struct sim_pool *pool,
                              struct sim_stream *stream) {
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, pool->device->ordinal}},
        .bytesize = bytes};
    struct sim_op *op;
    CUresult result = sim_graph_alloc_op(&p, &op);

    if (result == CUDA_SUCCESS)
        result = sim_submit(stream, op, NULL);
    if (result == CUDA_SUCCESS)
        *dptr = p.dptr;
    return result;
}

static CUresult allocate(CUdeviceptr *dptr, size_t bytes, struct sim_pool *pool, CUstream handle,
                         bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_space space = {.heap = &pool->device->heap, .pool = SIM_HANDLE(pool)};
    struct sim_block block;
    uint64_t addr;
    CUresult result = sim_stream_look(handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) { /* as NVIDIA's */
        *dptr = 0;
        return CUDA_SUCCESS;
    }
    if (pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_capture_captures(stream))
        return allocate_node(dptr, bytes, pool, stream);
    if (pool->limit && bytes > pool->limit)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Whole pages are passed on: each of them holds one block of such pools at most. */
    result = sim_memory_alloc(&space, SIM_MEMORY_DEVICE, bytes, pool->id ? PAGE : 1, &addr);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_memory_find(addr, &block))
        sim_pool_account(&block, true);
    *dptr = addr;
    return CUDA_SUCCESS;
}

static CUresult from_current(CUdeviceptr *dptr, size_t bytes, CUstream stream, bool per_thread) {
    SIM_AUTO struct sim_stream *of = NULL;
    SIM_AUTO struct sim_pool *pool = NULL;
    CUresult result = sim_stream_look(stream, per_thread, &of);

    if (result != CUDA_SUCCESS)
        return result;
    pool = pool_of(of->context->device, true);
    return pool ? allocate(dptr, bytes, pool, stream, per_thread) : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult from_pool(CUdeviceptr *dptr, size_t bytes, CUmemoryPool handle, CUstream stream,
                          bool per_thread) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_READY();

    if (sim_pool_get(handle, &pool) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(dptr, bytes, pool, stream, per_thread);
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    return from_current(dptr, bytesize, hStream, false);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    return from_current(dptr, bytesize, hStream, true);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
    return from_pool(dptr, bytesize, pool, hStream, false);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                      CUstream hStream) {
    return from_pool(dptr, bytesize, pool, hStream, true);
}

struct free_op {
    struct sim_op op;
    struct sim_block block;
};

static CUresult run_free(struct sim_op *op, struct sim_context *context) {
    struct free_op *gone = (struct free_op *)op;

    (void)context;
    if (gone->block.graph)
        sim_graph_memory_ends(&gone->block);
    else
        sim_memory_free(&gone->block);
    return CUDA_SUCCESS;
}

/* In a captured stream, which frees memory of graphs only. */
static CUresult free_node(CUdeviceptr dptr, struct sim_stream *stream) {
    struct sim_op *op;
    CUresult result = sim_graph_free_op(&(CUDA_MEM_FREE_NODE_PARAMS){dptr}, &op);

    return result == CUDA_SUCCESS ? sim_submit(stream, op, NULL) : result;
}

static CUresult free_async(CUdeviceptr dptr, CUstream handle, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_block block;
    struct free_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result != CUDA_SUCCESS || !dptr)
        return result;
    if (!sim_memory_find(dptr, &block) || block.base != dptr || !sim_block_freeable(&block))
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_capture_captures(stream))
        return free_node(dptr, stream);
    if (block.graph && !sim_graph_memory_give_back(&block))
        return CUDA_ERROR_INVALID_VALUE;
    op = sim_op_new(sizeof(*op), run_free);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->block = block;
    op->op.always = true;
    sim_pool_account(&block,
                     false); /* the pool may give it again from now on, in the stream's order */
    return sim_submit(stream, &op->op, NULL);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    return free_async(dptr, hStream, false);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    return free_async(dptr, hStream, true);
}

CUmemAllocationHandleType sim_pool_handle_types(CUmemoryPool handle) {
    SIM_AUTO struct sim_pool *pool = sim_handle_get(handle, SIM_POOL);

    return pool && pool->id ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}
