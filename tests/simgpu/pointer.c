// SPDX-License-Identifier: Apache-2.0
/* What is known of an address. */

#include "sim.h"

#define MAPPING_UNIT ((size_t)2 << 20)
#define POOL_UNIT ((size_t)32 << 20)

struct range {
    uint64_t start;
    size_t size;
};

/* What the program asked for in one piece: of mapped memory, the addresses. */
static struct range range_of(const struct sim_block *block) {
    struct range range = {block->base, block->size};

    if (block->kind == SIM_MEMORY_MAPPED)
        sim_reservation(block->base, &range.start, &range.size);
    return range;
}

/* Bytes that the real driver maps at a time. */
static size_t mapping_size(const struct sim_block *block) {
    size_t unit = block->pool ? POOL_UNIT : MAPPING_UNIT;

    return (block->size + unit - 1) / unit * unit;
}

static CUmemAllocationHandleType handle_types(const struct sim_block *block) {
    return block->kind == SIM_MEMORY_MAPPED ? sim_memory_handle_types(block)
                                            : sim_pool_handle_types(block->pool);
}

/* Attributes of an address inside a block. */
static CUresult known_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr,
                                const struct sim_block *block) {
    bool device = sim_block_on_device(block), managed = block->kind == SIM_MEMORY_MANAGED;
    struct range range = range_of(block);

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = block->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = device || managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = device ? NULL : (void *)(uintptr_t)ptr;
        return device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(unsigned *)data = block->sync_memops;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)data = managed;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        *(unsigned *)data = false;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)data = block->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = block->heap->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = range.start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = block->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range.size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = mapping_size(block);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)data = true;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = handle_types(block);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = block->pool;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    struct sim_block block;
    SIM_READY();

    if (!data || !sim_memory_find(ptr, &block))
        return CUDA_ERROR_INVALID_VALUE;
    return known_attribute(data, attribute, ptr, &block);
}

/* What an address that CUDA does not know has for each attribute: nothing, but for being `host`. */
static CUresult unknown_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr host) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(CUdeviceptr *)data = host;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = CU_DEVICE_INVALID;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        *(unsigned *)data = false;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        if (attribute < CU_POINTER_ATTRIBUTE_CONTEXT ||
            attribute > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            return CUDA_ERROR_INVALID_VALUE;
        *(uint64_t *)data = 0; /* addresses, sizes, identities */
        return CUDA_SUCCESS;
    }
}

/* Unlike the call for one attribute, this one has an answer for every address. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr) {
    struct sim_block block;
    bool known;
    SIM_READY();

    if (!numAttributes || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    known = sim_memory_find(ptr, &block);
    for (unsigned i = 0; i < numAttributes; i++) {
        bool no_host = known && sim_block_on_device(&block) &&
                       attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER;
        CUresult result;

        if (!data[i])
            return CUDA_ERROR_INVALID_VALUE;
        result = known && !no_host ? known_attribute(data[i], attributes[i], ptr, &block)
                                   : unknown_attribute(data[i], attributes[i], known ? 0 : ptr);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

static bool set_sync(struct sim_block *block, bool on) {
    block->sync_memops = on;
    return true;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    struct sim_block block;
    SIM_READY();

    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !sim_memory_find(ptr, &block) ||
        !sim_block_on_device(&block))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_memory_change(ptr, set_sync, *(const unsigned *)value != 0)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}
