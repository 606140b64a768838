// SPDX-License-Identifier: Apache-2.0
/* What functions are like. */
#include "sim.h"

#define WARP 32

CUresult sim_function_get(struct sim_context *context, CUfunction handle,
                          struct sim_function **out) {
    *out = sim_handle_get(handle, SIM_FUNCTION);
    if (!*out) /* a kernel will do wherever a function is asked for */
        return sim_kernel_function(context, (CUkernel)handle, out);
    if ((*out)->module->context == context)
        return CUDA_SUCCESS;
    sim_put(*out);
    *out = NULL;
    return CUDA_ERROR_INVALID_HANDLE;
}

/* The function behind a handle, in the current context. */
#define FUNCTION(name, handle)                                                                     \
    SIM_AUTO struct sim_function *name = NULL;                                                     \
    SIM_ENTER(name##_context);                                                                     \
    CUresult name##_error = sim_function_get(name##_context, handle, &name);                       \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

void sim_function_settings_start(struct sim_function_settings *s,
                                 const struct ptx_func_info *info) {
    atomic_init(&s->max_dynamic_shared, info->static_shared < SIM_SHARED_DEFAULT
                                            ? (int)(SIM_SHARED_DEFAULT - info->static_shared)
                                            : 0);
    atomic_init(&s->carveout, -1);
    atomic_init(&s->non_portable, 0);
}

CUresult sim_function_attribute(const struct ptx_func_info *info,
                                const struct sim_function_settings *settings,
                                CUfunction_attribute attrib, int *value) {
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = info->max_threads_per_block;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->static_shared;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->const_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = info->num_regs;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: /* the architecture that the PTX is for */
        *value = info->binary_version;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: /* the one that it was compiled for: this device's */
        *value = SIM_ARCH;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = atomic_load(&settings->max_dynamic_shared);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = atomic_load(&settings->carveout);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = info->explicit_cluster;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = info->cluster[attrib - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = atomic_load(&settings->non_portable);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX:
        break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_function_check_attribute(const struct ptx_func_info *info, CUfunction_attribute attrib,
                                      int value) {
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (size_t)value + info->static_shared > SIM_SHARED_OPTIN)
            return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value < -1 || value > 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return CUDA_ERROR_NOT_SUPPORTED;
    default: /* what a function is, cannot be set */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

void sim_function_set_attribute(struct sim_function_settings *settings, CUfunction_attribute attrib,
                                int value) {
    if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        atomic_store(&settings->max_dynamic_shared, value);
    else if (attrib == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        atomic_store(&settings->carveout, value);
    else
        atomic_store(&settings->non_portable, value != 0);
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    FUNCTION(function, hfunc);

    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_function_attribute(&function->info, &function->settings, attrib, pi);
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    FUNCTION(function, hfunc);
    CUresult result = sim_function_check_attribute(&function->info, attrib, value);

    if (result == CUDA_SUCCESS)
        sim_function_set_attribute(&function->settings, attrib, value);
    return result;
}

/* There is no cache to divide: the wish is checked, and changes nothing. */
CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    FUNCTION(function, hfunc);

    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    FUNCTION(function, hfunc);

    if (!hmod)
        return CUDA_ERROR_INVALID_VALUE;
    *hmod = SIM_HANDLE(function->module);
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc) {
    FUNCTION(function, hfunc);

    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = ptx_func_name(function->ptx);
    return CUDA_SUCCESS;
}

CUresult sim_param_info(const struct ptx_func *func, size_t index, size_t *offset, size_t *size) {
    size_t at, bytes;

    if (!offset || index > UINT32_MAX || !ptx_func_param(func, (unsigned)index, &at, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = at;
    if (size)
        *size = bytes;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                            size_t *paramSize) {
    FUNCTION(function, func);

    return sim_param_info(function->ptx, paramIndex, paramOffset, paramSize);
}

/* A function that has a handle is loaded. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction hfunc) {
    FUNCTION(function, hfunc);

    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction hfunc) {
    FUNCTION(function, hfunc);

    return CUDA_SUCCESS;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

int sim_occupancy(const struct sim_function *function, int block_size, size_t dynamic_shared) {
    const struct ptx_func_info *info = &function->info;
    size_t shared = info->static_shared + dynamic_shared + SIM_SHARED_RESERVED;
    int threads, registers, blocks;

    if (block_size > info->max_threads_per_block || shared > SIM_SHARED_PER_SM)
        return 0;
    threads = (block_size + WARP - 1) / WARP * WARP;
    registers = threads * (info->num_regs > 0 ? info->num_regs : 1);
    blocks = smaller(SIM_BLOCKS_PER_SM, SIM_THREADS_PER_SM / threads);
    blocks = smaller(blocks, SIM_REGS_PER_SM / registers);
    return smaller(blocks, (int)(SIM_SHARED_PER_SM / shared));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) {
    FUNCTION(function, func);

    if (!numBlocks || blockSize <= 0 || (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE))
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = sim_occupancy(function, blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                dynamicSMemSize, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) {
    FUNCTION(function, func);
    size_t share, fixed = function->info.static_shared + SIM_SHARED_RESERVED;

    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 || blockSize > SIM_MAX_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    share = SIM_SHARED_PER_SM / (size_t)numBlocks;
    if (numBlocks > sim_occupancy(function, blockSize, 0) || share < fixed)
        return CUDA_ERROR_INVALID_VALUE;
    share -= fixed;
    if (share > SIM_SHARED_OPTIN - function->info.static_shared)
        share = SIM_SHARED_OPTIN - function->info.static_shared;
    *dynamicSmemSize = share;
    return CUDA_SUCCESS;
}
