// SPDX-License-Identifier: Apache-2.0
/* Memory pools. Places name the guest's devices; the driver gets its own. */
#include <stdlib.h>

#include "pools.h"
#include "worker.h"

/* A device that there is not: the driver says what it says of those. */
#define NO_DEVICE 0x7fffffff
/* Access descriptions in one call at most. */
#define ACCESS_MAX 64u

void worker_location(const struct worker *w, CUmemLocation *location) {
    CUdevice device = NO_DEVICE;

    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return;
    if (worker_device(w, location->id, &device) != CUDA_SUCCESS)
        device = NO_DEVICE;
    location->id = device;
}

CUresult worker_access(const struct worker *w, const void *blob, uint32_t bytes,
                       CUmemAccessDesc **list, size_t *count) {
    CUmemAccessDesc *copy;

    *count = bytes / sizeof(*copy);
    if (!*count || bytes % sizeof(*copy) || *count > ACCESS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    copy = malloc(bytes);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, blob, bytes);
    for (size_t i = 0; i < *count; i++)
        worker_location(w, &copy[i].location);
    *list = copy;
    return CUDA_SUCCESS;
}

/* The first attributes are ints, the others 64 bits long. */
static bool attribute_known(int32_t attr) {
    return attr >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attr <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

CUresult own_cuMemPoolSetAttribute(struct worker *w, struct frame *f,
                                   struct args_cuMemPoolSetAttribute *a) {
    (void)f;
    if (!attribute_known(a->attr))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuMemPoolSetAttribute(a->pool, (CUmemPool_attribute)a->attr, &a->value);
}

CUresult own_cuMemPoolGetAttribute(struct worker *w, struct frame *f,
                                   struct args_cuMemPoolGetAttribute *a) {
    (void)f;
    if (!attribute_known(a->attr))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuMemPoolGetAttribute(a->pool, (CUmemPool_attribute)a->attr, &a->value);
}

CUresult own_cuMemPoolSetAccess(struct worker *w, struct frame *f,
                                struct args_cuMemPoolSetAccess *a) {
    CUmemAccessDesc *list;
    size_t count;
    CUresult r = worker_access(w, a->map, a->map_len, &list, &count);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemPoolSetAccess(a->pool, list, count);
    free(list);
    return r;
}

CUresult own_cuMemPoolGetAccess(struct worker *w, struct frame *f,
                                struct args_cuMemPoolGetAccess *a) {
    CUmemLocation location = *a->location;
    CUmemAccess_flags flags = 0;
    CUresult r;

    (void)f;
    worker_location(w, &location);
    r = w->driver.cuMemPoolGetAccess(&flags, a->memPool, &location);
    a->flags = flags;
    return r;
}

CUresult own_cuMemPoolCreate(struct worker *w, struct frame *f, struct args_cuMemPoolCreate *a) {
    CUmemPoolProps props = *a->poolProps;

    (void)f;
    /* Host memory of dom0's: the guest could not reach it, and nothing bounds it. */
    if (props.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
        props.location.type > CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return CUDA_ERROR_NOT_SUPPORTED;
    worker_location(w, &props.location);
    props.win32SecurityAttributes = NULL;
    return w->driver.cuMemPoolCreate(&a->pool, &props);
}

CUresult own_cuMemPoolTrimTo(struct worker *w, struct frame *f, struct args_cuMemPoolTrimTo *a) {
    CUresult r = w->driver.cuMemPoolTrimTo(a->pool, a->minBytesToKeep);

    (void)f;
    pools_look(w, a->pool);
    return r;
}

/* It may go on until what the program has from it is free, but nobody can ask it any more. */
CUresult own_cuMemPoolDestroy(struct worker *w, struct frame *f, struct args_cuMemPoolDestroy *a) {
    CUresult r = w->driver.cuMemPoolDestroy(a->pool);

    (void)f;
    if (r == CUDA_SUCCESS)
        pools_end(a->pool);
    return r;
}

CUresult own_cuMemGetDefaultMemPool(struct worker *w, struct frame *f,
                                    struct args_cuMemGetDefaultMemPool *a) {
    CUmemLocation location = *a->location;

    (void)f;
    worker_location(w, &location);
    return w->driver.cuMemGetDefaultMemPool(&a->pool_out, &location, (CUmemAllocationType)a->type);
}

CUresult own_cuMemGetMemPool(struct worker *w, struct frame *f, struct args_cuMemGetMemPool *a) {
    CUmemLocation location = *a->location;

    (void)f;
    worker_location(w, &location);
    return w->driver.cuMemGetMemPool(&a->pool, &location, (CUmemAllocationType)a->type);
}

CUresult own_cuMemSetMemPool(struct worker *w, struct frame *f, struct args_cuMemSetMemPool *a) {
    CUmemLocation location = *a->location;

    (void)f;
    worker_location(w, &location);
    return w->driver.cuMemSetMemPool(&location, (CUmemAllocationType)a->type, a->pool);
}
