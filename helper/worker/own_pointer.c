// SPDX-License-Identifier: Apache-2.0
/* What the driver knows of an address, in the guest's terms. */
#include "addresses.h"
#include "worker.h"

/* Handles become names, devices the guest's numbers. */
static CUresult translate(struct worker *w, CUpointer_attribute attribute, uint64_t *value) {
    struct object pool = {.native = (void *)*value};
    int device;

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *value = *value ? objects_find(&w->objects, VCUDA_KIND_CONTEXT, (void *)*value) : 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        if (!pool.native)
            return CUDA_SUCCESS;
        *value = objects_name(&w->objects, VCUDA_KIND_POOL, &pool);
        return *value ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        device = (int)*value;
        if (device >= 0)
            *value = (uint64_t)worker_guest_device(w, device);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}

CUresult own_pointer_attribute(struct worker *w, struct frame *f,
                               struct args_pointer_attribute *a) {
    uint64_t value[4] = {0}; /* more than the widest answer */
    CUpointer_attribute attribute = (CUpointer_attribute)a->attribute;
    CUresult r;

    (void)f;
    if (a->attribute < CU_POINTER_ATTRIBUTE_CONTEXT ||
        a->attribute > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
        return CUDA_ERROR_INVALID_VALUE;
    /* The tokens are the kernel's, for drivers of dom0. */
    if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
        return CUDA_ERROR_NOT_SUPPORTED;
    /* Not even whether the worker has memory there. */
    if (!addresses_ok(w, a->ptr, 1))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuPointerGetAttribute(value, attribute, a->ptr);
    if (r == CUDA_SUCCESS)
        r = translate(w, attribute, value);
    a->value = value[0];
    return r;
}

CUresult own_cuPointerSetAttribute(struct worker *w, struct frame *f,
                                   struct args_cuPointerSetAttribute *a) {
    (void)f;
    if (a->attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !addresses_ok(w, a->ptr, 1))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuPointerSetAttribute(&a->value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a->ptr);
}
