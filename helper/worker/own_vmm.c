// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual memory management. The guest chooses the addresses, since they must be free on its side
 * as well; here the driver is asked for just these.
 */
#include <stdlib.h>

#include "memory.h"
#include "physical.h"
#include "pools.h"
#include "worker.h"

CUresult own_cuMemAddressReserve(struct worker *w, struct frame *f,
                                 struct args_cuMemAddressReserve *a) {
    CUdeviceptr at = 0;
    CUresult r = w->driver.cuMemAddressReserve(&at, a->size, a->alignment, a->addr, a->flags);

    (void)f;
    a->ptr = at;
    return r;
}

/* Properties as the driver gets them. */
static CUresult native_properties(const struct worker *w, CUmemAllocationProp *prop) {
    prop->win32HandleMetaData = NULL;
    /* Host memory of dom0's: the guest could not reach it, and nothing bounds it. */
    if (prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
        prop->location.type > CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    worker_location(w, &prop->location);
    return CUDA_SUCCESS;
}

CUresult own_cuMemCreate(struct worker *w, struct frame *f, struct args_cuMemCreate *a) {
    CUmemAllocationProp prop = *a->prop;
    uint64_t bytes = memory_grains(a->size);
    CUresult r = native_properties(w, &prop);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    f->aux = 1; /* handles of it that the guest holds */
    r = w->driver.cuMemCreate(&a->handle, a->size, &prop, a->flags);
    if (r == CUDA_SUCCESS)
        physical_made(a->handle, bytes);
    else
        memory_give_back(bytes);
    return r;
}

/*
 * The name ends before the handle does: from then on the driver may give the same handle to another
 * thread's allocation.
 */
CUresult own_cuMemRelease(struct worker *w, struct frame *f, struct args_cuMemRelease *a) {
    struct physical *p;
    CUresult r;

    (void)f;
    if (!objects_drop(&w->objects, a->handle_name))
        return CUDA_ERROR_INVALID_VALUE;
    p = physical_release(a->handle);
    r = w->driver.cuMemRelease(a->handle);
    physical_drop(p);
    return r;
}

CUresult own_cuMemMap(struct worker *w, struct frame *f, struct args_cuMemMap *a) {
    struct physical *p = physical_use_handle(a->handle);
    CUresult r = w->driver.cuMemMap(a->ptr, a->size, a->offset, a->handle, a->flags);

    (void)f;
    if (r == CUDA_SUCCESS)
        physical_map(a->ptr, a->size, p);
    else
        physical_drop(p);
    return r;
}

CUresult own_cuMemUnmap(struct worker *w, struct frame *f, struct args_cuMemUnmap *a) {
    struct physical_mapping *list = physical_unmap(a->ptr, a->size);
    CUresult r = w->driver.cuMemUnmap(a->ptr, a->size);

    (void)f;
    if (r == CUDA_SUCCESS)
        physical_end(list);
    else
        physical_put_back(list);
    return r;
}

CUresult own_cuMemRetainAllocationHandle(struct worker *w, struct frame *f,
                                         struct args_cuMemRetainAllocationHandle *a) {
    struct physical *p = physical_use_address(a->addr);
    CUresult r = w->driver.cuMemRetainAllocationHandle(&a->handle, (void *)a->addr);

    if (r != CUDA_SUCCESS) {
        physical_drop(p);
        return r;
    }
    physical_handle(a->handle, p);
    if (!objects_hold(&w->objects, VCUDA_KIND_MEMORY, (void *)a->handle))
        f->aux = 1;
    return r;
}

CUresult own_cuMemSetAccess(struct worker *w, struct frame *f, struct args_cuMemSetAccess *a) {
    CUmemAccessDesc *list;
    size_t count;
    CUresult r = worker_access(w, a->desc, a->desc_len, &list, &count);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemSetAccess(a->ptr, a->size, list, count);
    free(list);
    return r;
}

CUresult own_cuMemGetAccess(struct worker *w, struct frame *f, struct args_cuMemGetAccess *a) {
    CUmemLocation location = *a->location;
    unsigned long long flags = 0;
    CUresult r;

    (void)f;
    worker_location(w, &location);
    r = w->driver.cuMemGetAccess(&flags, &location, a->ptr);
    a->flags = flags;
    return r;
}

CUresult own_cuMemGetAllocationGranularity(struct worker *w, struct frame *f,
                                           struct args_cuMemGetAllocationGranularity *a) {
    CUmemAllocationProp prop = *a->prop;
    size_t granularity = 0;
    CUresult r = native_properties(w, &prop);

    (void)f;
    if (r == CUDA_SUCCESS)
        r = w->driver.cuMemGetAllocationGranularity(&granularity, &prop,
                                                    (CUmemAllocationGranularity_flags)a->option);
    a->granularity = granularity;
    return r;
}

CUresult
own_cuMemGetAllocationPropertiesFromHandle(struct worker *w, struct frame *f,
                                           struct args_cuMemGetAllocationPropertiesFromHandle *a) {
    CUmemAllocationProp *prop = a->prop;
    CUresult r = w->driver.cuMemGetAllocationPropertiesFromHandle(prop, a->handle);

    (void)f;
    prop->win32HandleMetaData = NULL;
    if (r != CUDA_SUCCESS || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return r;
    prop->location.id = worker_guest_device(w, prop->location.id);
    return prop->location.id < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* Of the ways to pass it on there are descriptors. */
static CUmulticastObjectProp native_multicast(const CUmulticastObjectProp *prop) {
    CUmulticastObjectProp native = *prop;

    native.handleTypes &= CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return native;
}

CUresult own_cuMulticastCreate(struct worker *w, struct frame *f,
                               struct args_cuMulticastCreate *a) {
    CUmulticastObjectProp prop = native_multicast(a->prop);

    f->aux = 1; /* handles of it that the guest holds */
    return w->driver.cuMulticastCreate(&a->mcHandle, &prop);
}

CUresult own_cuMulticastGetGranularity(struct worker *w, struct frame *f,
                                       struct args_cuMulticastGetGranularity *a) {
    CUmulticastObjectProp prop = native_multicast(a->prop);
    size_t granularity = 0;
    CUresult r = w->driver.cuMulticastGetGranularity(&granularity, &prop,
                                                     (CUmulticastGranularity_flags)a->option);

    (void)f;
    a->granularity = granularity;
    return r;
}
