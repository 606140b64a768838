// SPDX-License-Identifier: Apache-2.0
/*
 * The linker, for one input of PTX: there is nothing to link it with. More inputs, and other kinds,
 * are not supported.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_linker {
    struct sim_object object;
    unsigned option_count;
    CUjit_option *options;
    void **values; /* the caller's, where results go */
    char *text;
    char *cubin;
};

static void destroy(struct sim_object *object) {
    struct sim_linker *linker = (struct sim_linker *)object;

    free(linker->options);
    free(linker->text);
    free(linker->cubin);
    free(linker);
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                         CUlinkState *stateOut) {
    SIM_AUTO struct sim_linker *linker = NULL;
    SIM_ENTER(context);
    struct sim_jit jit;
    CUresult result;

    if (!stateOut)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_jit_begin(&jit, numOptions, options, optionValues);
    if (result != CUDA_SUCCESS)
        return result;
    linker = calloc(1, sizeof(*linker));
    if (!linker)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&linker->object, SIM_LINKER, destroy);
    linker->options = calloc(numOptions + 1, sizeof(*options));
    if (!linker->options || !sim_handle_open(&linker->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (numOptions)
        memcpy(linker->options, options, numOptions * sizeof(*options));
    linker->option_count = numOptions;
    linker->values = optionValues;
    *stateOut = SIM_HANDLE(linker);
    return CUDA_SUCCESS;
}

/* Whether it is good text is found by loading it, where no context is. */
static CUresult check(const struct sim_linker *linker, const char *text) {
    CUlibrary library;
    CUresult result = cuLibraryLoadData(&library, text, linker->options, linker->values,
                                        linker->option_count, NULL, NULL, 0);

    if (result == CUDA_SUCCESS) {
        result = sim_library_check(library);
        cuLibraryUnload(library);
    }
    return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned int numOptions, CUjit_option *options,
                          void **optionValues) {
    SIM_AUTO struct sim_linker *linker = NULL;
    SIM_ENTER(context);
    CUresult result;
    char *text;

    (void)name, (void)numOptions, (void)options, (void)optionValues;
    linker = sim_handle_get(state, SIM_LINKER);
    if (!linker || !data || !size)
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX || linker->text)
        return CUDA_ERROR_NOT_SUPPORTED;
    text = calloc(1, size + 1);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    result = check(linker, text);
    if (result != CUDA_SUCCESS) {
        free(text);
        return result;
    }
    linker->text = text;
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    SIM_AUTO struct sim_linker *linker = NULL;
    SIM_ENTER(context);
    CUresult result;
    char *cubin;
    size_t size;

    linker = sim_handle_get(state, SIM_LINKER);
    if (!linker || !cubinOut || !linker->text)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_machine_make(linker->text, strlen(linker->text) + 1, &cubin, &size);
    if (result != CUDA_SUCCESS)
        return result;
    free(linker->cubin);
    *cubinOut = linker->cubin = cubin;
    if (sizeOut)
        *sizeOut = size;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    SIM_AUTO struct sim_linker *linker = NULL;
    SIM_ENTER(context);

    linker = sim_handle_get(state, SIM_LINKER);
    return linker && sim_handle_close(&linker->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
