// SPDX-License-Identifier: Apache-2.0
/* All functions of a module, one callback each. */
#include <stdlib.h>

#include "cuda_calls.h"
#include "export/tables.h"

typedef int (*each_function)(void *user, CUfunction function, const char *name);

static CUresult tell(CUmodule module, each_function each, void *user) {
    CUfunction *functions;
    unsigned int count = 0;
    const char *name;
    CUresult r = cuModuleGetFunctionCount(&count, module);

    if (r != CUDA_SUCCESS || !count)
        return r;
    functions = calloc(count, sizeof(CUfunction));
    if (!functions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = cuModuleEnumerateFunctions(functions, count, module);
    for (unsigned int i = 0; i < count && r == CUDA_SUCCESS; i++) {
        r = cuFuncGetName(&name, functions[i]);
        if (r == CUDA_SUCCESS)
            each(user, functions[i], name);
    }
    free(functions);
    return r;
}

static int tell_in(CUcontext context, CUmodule module, each_function each, void *user) {
    CUcontext popped;
    CUresult r = context ? cuCtxPushCurrent_v2(context) : CUDA_SUCCESS;

    if (r != CUDA_SUCCESS)
        return (int)r;
    r = each ? tell(module, each, user) : CUDA_ERROR_INVALID_VALUE;
    if (context)
        cuCtxPopCurrent_v2(&popped);
    return (int)r;
}

const void *const export_module_functions[99] = {
    [0] = EXPORT_SIZE(99),
    [1 ... 6] = EXPORT_REFUSED,
    [7] = (const void *)tell_in,
    [8 ... 98] = EXPORT_REFUSED,
};
