// SPDX-License-Identifier: Apache-2.0
/* What a pointer is: device memory, pinned memory, or none of ours. */
#include <string.h>

#include "arena.h"
#include "cuda_calls.h"
#include "guest.h"
#include "ranges.h"
#include "vmm.h"
#include "wire.h"

#define MAPPING_UNIT (2ull << 20)

enum place {
    ELSEWHERE, /* none of ours */
    DEVICE,
    PINNED, /* host memory in the arena */
    MANAGED,
    RESERVED, /* addresses for cuMemMap, without memory */
};

struct pointer {
    enum place place;
    struct range range;
};

static struct pointer look_up(CUdeviceptr ptr) {
    struct pointer p = {ELSEWHERE};
    struct arena_block block;

    if (ranges_find(ptr, 1, &p.range)) {
        p.place = DEVICE;
    } else if (arena_find((const void *)ptr, 1, &block)) {
        p.place = block.kind == ARENA_MANAGED || block.kind == ARENA_VARIABLES ? MANAGED : PINNED;
        p.range = (struct range){.start = (uint64_t)block.start,
                                 .size = block.size,
                                 .id = (uint64_t)block.start,
                                 .context = block.context};
    } else if (vmm_reserved(ptr)) {
        p.place = RESERVED;
    }
    return p;
}

/* How many bytes of an answer the caller has room for: the types differ. */
static size_t width(CUpointer_attribute a) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return 4;
    default:
        return 8;
    }
}

/* The device of the context in which it was allocated. */
static uint64_t device_of(const struct range *range) {
    const struct context *c = names_get(VCUDA_KIND_CONTEXT, range->context);

    return c ? (uint64_t)c->device : 0;
}

/* Of cuMemAlloc's memory: false where the driver must be asked. */
static bool plain_answer(CUpointer_attribute a, CUdeviceptr ptr, const struct range *range,
                         uint64_t *value) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *value = range->context;
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = CU_MEMORYTYPE_DEVICE;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *value = ptr;
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *value = range->id;
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *value = 0;
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = device_of(range);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *value = range->start;
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *value = range->size;
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *value = 1;
        return true;
    default:
        return false;
    }
}

/* Of memory in the arena, of which the driver knows whole regions only. */
static CUresult pinned_answer(CUpointer_attribute a, CUdeviceptr ptr, const struct range *range,
                              const struct thread *t, uint64_t *value) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: /* it is everybody's: the current one, as native */
        *value = t->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *value = CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *value = device_of(range);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *value = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *value = range->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *value = range->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *value = range->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: /* the driver maps so much at a time */
        *value = (range->size + MAPPING_UNIT - 1) / MAPPING_UNIT * MAPPING_UNIT;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *value = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *value = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        *value = 0;
        return CUDA_SUCCESS;
    }
}

/* Managed memory is the device's as well as the host's. */
static CUresult managed_answer(CUpointer_attribute a, CUdeviceptr ptr, const struct range *range,
                               const struct thread *t, uint64_t *value) {
    if (a == CU_POINTER_ATTRIBUTE_IS_MANAGED) {
        *value = 1;
        return CUDA_SUCCESS;
    }
    if (a == CU_POINTER_ATTRIBUTE_CONTEXT || a == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
        a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        return plain_answer(a, ptr, range, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    return pinned_answer(a, ptr, range, t, value);
}

static CUresult answer(void *data, CUpointer_attribute a, CUdeviceptr ptr, const struct pointer *p,
                       struct thread *t) {
    uint64_t value = 0;
    CUresult r = CUDA_SUCCESS;

    if (p->place == PINNED)
        r = pinned_answer(a, ptr, &p->range, t, &value);
    else if (p->place == MANAGED)
        r = managed_answer(a, ptr, &p->range, t, &value);
    else if (p->place != DEVICE || p->range.kind != RANGE_PLAIN ||
             !plain_answer(a, ptr, &p->range, &value))
        r = wire_pointer_attribute(t, (int32_t)a, ptr, &value);
    if (r == CUDA_SUCCESS)
        memcpy(data, &value, width(a));
    return r;
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
    if (p.place == ELSEWHERE)
        return CUDA_ERROR_INVALID_VALUE;
    return answer(data, attribute, ptr, &p, t);
}

/* Of a pointer that is none of ours, as native answers: it is the host's, if anything. */
static void answer_unknown(void *data, CUpointer_attribute a, CUdeviceptr ptr) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(uint64_t *)data = ptr;
        break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
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
        if (p.place == ELSEWHERE) {
            answer_unknown(data[i], attributes[i], ptr);
            continue;
        }
        r = answer(data[i], attributes[i], ptr, &p, t);
        /* The one attribute that device memory lacks is zero here, not an error. */
        if (r == CUDA_ERROR_INVALID_VALUE) {
            memset(data[i], 0, width(attributes[i]));
            r = CUDA_SUCCESS;
        }
        if (r != CUDA_SUCCESS)
            return r;
    }
    return CUDA_SUCCESS;
}

/* Only SYNC_MEMOPS can be set, and only of memory that the device has. */
VCUDA_EXPORT CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                            CUdeviceptr ptr) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || look_up(ptr).place != DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return wire_cuPointerSetAttribute(t, *(const unsigned int *)value, (int32_t)attribute, ptr);
}
