// SPDX-License-Identifier: Apache-2.0
/* Allocating device memory and pinned host memory. */
#include "graph_memory.h"

#define PITCH_ALIGNMENT ((size_t)512)

struct sim_space sim_context_space(struct sim_context *context) {
    return (struct sim_space){
        .heap = &context->device->heap,
        .owner = context->home,
        .context = SIM_HANDLE(context),
    };
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    SIM_ENTER(context);

    if (!free || !total)
        return CUDA_ERROR_INVALID_VALUE;
    sim_heap_info(&context->device->heap, free, total);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    SIM_ENTER(context);
    struct sim_space space = sim_context_space(context);
    uint64_t addr;
    CUresult result;

    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_memory_alloc(&space, SIM_MEMORY_DEVICE, bytesize, 1, &addr);
    if (result == CUDA_SUCCESS)
        *dptr = addr;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
    SIM_READY();
    size_t pitch, bytes;
    CUresult result;

    if (!dptr || !pPitch || !WidthInBytes || !Height ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (WidthInBytes > SIZE_MAX - PITCH_ALIGNMENT)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) & ~(PITCH_ALIGNMENT - 1);
    if (__builtin_mul_overflow(pitch, Height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = cuMemAlloc_v2(dptr, bytes);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

/* Waits until nothing of its context uses the block, then ends it. */
static CUresult wait_and_free(const struct sim_block *block) {
    SIM_AUTO struct sim_context *owner = NULL;

    if (sim_context_get(block->context ? block->context : sim_current(), &owner) == CUDA_SUCCESS) {
        sim_context_wait(owner, SIM_ALL_STREAMS);
        sim_print_flush(owner);
    }
    sim_pool_account(block, false);
    if (block->graph)
        sim_graph_memory_ends(block);
    else
        sim_memory_free(block);
    if (block->shared)
        sim_ipc_forget();
    return owner ? (CUresult)atomic_load(&owner->device->error) : CUDA_SUCCESS;
}

/* The block that starts at addr, of one of the two kinds. */
static bool find_start(uint64_t addr, enum sim_memory_kind kind, struct sim_block *block) {
    return sim_memory_find(addr, block) && block->base == addr && block->kind == kind;
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!dptr)
        return CUDA_SUCCESS;
    if (!sim_memory_find(dptr, &block) || block.base != dptr || !sim_block_freeable(&block))
        return CUDA_ERROR_INVALID_VALUE;
    if (block.graph && !sim_graph_memory_give_back(&block))
        return CUDA_ERROR_INVALID_VALUE;
    return wait_and_free(&block);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!sim_memory_find(dptr, &block) || block.kind == SIM_MEMORY_REGISTERED)
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = block.base;
    if (psize)
        *psize = block.size;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    SIM_ENTER(context);
    struct sim_space space = sim_context_space(context);
    uint64_t addr;
    CUresult result;

    if (!pp || (Flags & ~known))
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_memory_alloc_host(&space, SIM_MEMORY_HOST, bytesize, Flags, &addr);
    if (result == CUDA_SUCCESS)
        *pp = (void *)(uintptr_t)addr;
    return result;
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize) {
    return cuMemHostAlloc(pp, bytesize, 0);
}

CUresult cuMemFreeHost(void *p) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!p)
        return CUDA_SUCCESS;
    if (!find_start((uintptr_t)p, SIM_MEMORY_HOST, &block))
        return CUDA_ERROR_INVALID_VALUE;
    return wait_and_free(&block);
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
    const unsigned served = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    const unsigned known = served | CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    SIM_ENTER(context);
    struct sim_space space = sim_context_space(context);

    if (Flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags & ~served)
        return CUDA_ERROR_NOT_SUPPORTED;
    return sim_memory_register(&space, (uintptr_t)p, bytesize, Flags);
}

CUresult cuMemHostUnregister(void *p) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    if (!find_start((uintptr_t)p, SIM_MEMORY_REGISTERED, &block))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return wait_and_free(&block);
}

/* The pinned block that holds a host address. */
static bool find_host(const void *p, struct sim_block *block) {
    return p && sim_memory_find((uintptr_t)p, block) && !sim_block_on_device(block);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!pdptr || Flags || !find_host(p, &block))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (uintptr_t)p;
    return CUDA_SUCCESS;
}

/* With unified addresses, all pinned memory is mapped for the devices. */
CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!pFlags || !find_host(p, &block))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = block.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}
