// SPDX-License-Identifier: Apache-2.0
/* What a pointer is: device memory, pinned memory, or none of ours. */
#include "arena.h"
#include "cuda_calls.h"
#include "guest.h"
#include "ranges.h"

struct pointer {
    bool device;
    bool host; /* pinned */
    struct range range;
};

static struct pointer look_up(CUdeviceptr ptr) {
    struct pointer p = {0};
    struct arena_block block;

    p.device = ranges_find(ptr, 1, &p.range);
    p.host = !p.device && arena_find((const void *)ptr, 1, &block);
    if (p.host)
        p.range = (struct range){(uint64_t)block.start, block.size, 0, (uint64_t)block.start};
    return p;
}

static int ordinal_of(const struct pointer *p) {
    struct context *c = p->device ? names_get(VCUDA_KIND_CONTEXT, p->range.context) : NULL;

    return c ? c->device : 0;
}

/* The context that owns the memory; pinned memory is everybody's: the current one, as native. */
static CUcontext context_of(const struct pointer *p, const struct thread *t) {
    return (CUcontext)(p->device ? p->range.context : t->context);
}

static CUresult answer(void *data, CUpointer_attribute a, CUdeviceptr ptr, const struct pointer *p,
                       const struct thread *t) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = context_of(p, t);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data = p->device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = p->host ? (void *)ptr : NULL;
        return p->host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = p->range.id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = ordinal_of(p);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = p->range.start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = p->range.size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned int *)data = 1;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

VCUDA_EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                            CUdeviceptr ptr) {
    struct pointer p;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!data || attribute < CU_POINTER_ATTRIBUTE_CONTEXT ||
        attribute > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
        return CUDA_ERROR_INVALID_VALUE;
    p = look_up(ptr);
    if (!p.device && !p.host)
        return CUDA_ERROR_INVALID_VALUE;
    return answer(data, attribute, ptr, &p, t);
}

/* For a pointer that is none of ours every answer is zero, and the call succeeds: as native. */
static void answer_unknown(void *data, CUpointer_attribute a) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(uint64_t *)data = 0;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: /* seen: left as they were */
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = CU_DEVICE_INVALID;
        break;
    default:
        *(unsigned int *)data = 0;
    }
}

VCUDA_EXPORT CUresult cuPointerGetAttributes(unsigned int numAttributes,
                                             CUpointer_attribute *attributes, void **data,
                                             CUdeviceptr ptr) {
    struct pointer p;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!numAttributes || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    p = look_up(ptr);
    for (unsigned int i = 0; i < numAttributes; i++) {
        if (!p.device && !p.host) {
            answer_unknown(data[i], attributes[i]);
            continue;
        }
        r = answer(data[i], attributes[i], ptr, &p, t);
        /* The one attribute that device memory lacks is zero here, not an error. */
        if (r == CUDA_ERROR_INVALID_VALUE)
            r = CUDA_SUCCESS;
        if (r != CUDA_SUCCESS)
            return r;
    }
    return CUDA_SUCCESS;
}
