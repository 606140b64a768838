// SPDX-License-Identifier: Apache-2.0
/* All functions of a module, one callback each. */
#include <stdlib.h>

#include "cuda_calls.h"
#include "export/tables.h"

typedef int (*each_function)(void *user, CUfunction function, const char *name);

/* How many functions were told. */
static int tell(CUmodule module, each_function each, void *user) {
    CUfunction *functions;
    unsigned int count = 0;
    const char *name;
    int told = 0;

    if (cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS || !count)
        return 0;
    functions = calloc(count, sizeof(CUfunction));
    if (!functions)
        return 0;
    if (cuModuleEnumerateFunctions(functions, count, module) != CUDA_SUCCESS)
        count = 0;
    for (unsigned int i = 0; i < count; i++) {
        if (cuFuncGetName(&name, functions[i]) != CUDA_SUCCESS)
            break;
        each(user, functions[i], name);
        told++;
    }
    free(functions);
    return told;
}

/* Returns their number, as the native one was seen to, and cuFFT wants it. */
static int tell_in(CUcontext context, CUmodule module, each_function each, void *user) {
    CUcontext popped;
    int told;

    if (context && cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return 0;
    told = each ? tell(module, each, user) : 0;
    if (context)
        cuCtxPopCurrent_v2(&popped);
    return told;
}

const void *const export_module_functions[99] = {
    [0] = EXPORT_SIZE(99),
    [1 ... 6] = EXPORT_REFUSED,
    [7] = (const void *)tell_in,
    [8 ... 98] = EXPORT_REFUSED,
};
