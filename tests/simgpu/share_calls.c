// SPDX-License-Identifier: Apache-2.0
/* Physical memory and pools that programs pass to each other by descriptors. */
#include "pool.h"
#include "share.h"
#include "vmm.h"

CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) {
    SIM_AUTO struct sim_memory *memory = NULL;
    int fd;
    SIM_READY();

    memory = sim_physical_get(handle);
    if (!shareableHandle || !memory || flags || !(handleType & memory->prop.requestedHandleTypes))
        return CUDA_ERROR_INVALID_VALUE;
    fd = sim_share_again(memory->fd);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)shareableHandle = fd;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType) {
    /* No handle types: what came from elsewhere is not passed on. */
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    int fd = (int)(uintptr_t)osHandle;
    struct sim_memory *memory;
    struct sim_shared shared;
    SIM_READY();

    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !sim_share_look(fd, SIM_SHARE_MEMORY, &shared) || !sim_device(shared.device))
        return CUDA_ERROR_INVALID_VALUE;
    prop.location.id = shared.device;
    memory = sim_physical_new(&prop, shared.size, sim_share_again(fd), true);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = memory->object.handle;
    sim_put(memory); /* its handle holds it */
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool handle,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
    SIM_AUTO struct sim_pool *pool = NULL;
    int fd;
    SIM_READY();

    if (!handle_out || sim_pool_get(handle, &pool) != CUDA_SUCCESS || flags || !pool->id ||
        pool->imported || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    fd = sim_share_file(SIM_SHARE_POOL, pool->device->ordinal, 0, pool->id);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *(int *)handle_out = fd;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
    struct sim_shared shared;
    struct sim_pool *pool;
    SIM_READY();

    if (!pool_out || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !sim_share_look((int)(uintptr_t)handle, SIM_SHARE_POOL, &shared) ||
        !sim_device(shared.device))
        return CUDA_ERROR_INVALID_VALUE;
    pool = sim_pool_new(sim_device(shared.device), false);
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->id = shared.id;
    pool->imported = true;
    *pool_out = SIM_HANDLE(pool);
    sim_put(pool); /* its handle holds it */
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr) {
    SIM_AUTO struct sim_pool *pool = NULL;
    SIM_AUTO struct sim_context *context = NULL;
    struct sim_block block;
    SIM_READY();

    if (!shareData_out || !sim_memory_find(ptr, &block) ||
        sim_pool_get(block.pool, &pool) != CUDA_SUCCESS || !pool->id || pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_context_get(sim_current(), &context) == CUDA_SUCCESS)
        sim_context_wait(context, SIM_ALL_STREAMS);
    return sim_ipc_give(&block, pool->id, shareData_out);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool handle,
                                CUmemPoolPtrExportData *shareData) {
    SIM_AUTO struct sim_pool *pool = NULL;
    struct sim_space space;
    uint64_t address;
    CUresult result;
    SIM_READY();

    if (!ptr_out || !shareData || sim_pool_get(handle, &pool) != CUDA_SUCCESS || !pool->imported)
        return CUDA_ERROR_INVALID_VALUE;
    space = (struct sim_space){.heap = &pool->device->heap, .pool = handle};
    result = sim_ipc_take(&space, pool->id, shareData, &address);
    if (result == CUDA_SUCCESS)
        *ptr_out = address;
    return result;
}
