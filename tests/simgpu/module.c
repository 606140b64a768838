// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "texture.h"

CUresult sim_status_error(enum ptx_status status) {
    switch (status) {
    case PTX_OK:
        return CUDA_SUCCESS;
    case PTX_ERR_SYNTAX:
        return CUDA_ERROR_INVALID_PTX;
    case PTX_ERR_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case PTX_ERR_VERSION:
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_ERR_NOMEM:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case PTX_ERR_INVALID_VALUE:
        return CUDA_ERROR_INVALID_VALUE;
    case PTX_ERR_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_ERR_LAUNCH_TIMEOUT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_ERR_ASSERT:
        return CUDA_ERROR_ASSERT;
    case PTX_ERR_STACK:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case PTX_ERR_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case PTX_ERR_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_ERR_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case PTX_ERR_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_ERROR_UNKNOWN;
}

/*
 * Functions live in their module's array: a reference to one is a reference to the module, so that
 * nothing is unloaded while a launch of it is queued.
 */
static void destroy_function(struct sim_object *object) {
    sim_put(((struct sim_function *)object)->module);
}

static void destroy_module(struct sim_object *object) {
    struct sim_module *module = (struct sim_module *)object;

    sim_references_free(module->references);
    ptx_module_unload(module->ptx);
    sim_code_free(&module->own);
    free(module->functions);
    sim_put(module->context);
    free(module);
}

static void init_function(struct sim_function *function, struct sim_module *module, size_t index) {
    function->ptx = ptx_module_function_at(module->ptx, index);
    ptx_func_info(function->ptx, &function->info);
    sim_function_settings_start(&function->settings, &function->info);
    function->module = module;
}

/* The handle of a function is made when it is first asked for; under the context's lock. */
static CUresult open_function(struct sim_function *function) {
    if (atomic_load(&function->module->closed))
        return CUDA_ERROR_INVALID_HANDLE;
    if (function->object.handle)
        return CUDA_SUCCESS;
    sim_object_init(&function->object, SIM_FUNCTION, destroy_function);
    sim_ref(function->module);
    if (!sim_handle_open(&function->object)) {
        sim_put(function);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_put(function); /* the handle's reference stays */
    return CUDA_SUCCESS;
}

CUresult sim_function_open(struct sim_function *function, CUfunction *handle) {
    CUresult result;

    pthread_mutex_lock(&function->module->context->lock);
    result = open_function(function);
    pthread_mutex_unlock(&function->module->context->lock);
    if (result == CUDA_SUCCESS)
        *handle = SIM_HANDLE(function);
    return result;
}

static uint64_t place_managed(void *opaque, const char *name, size_t size, size_t align,
                              bool *fresh) {
    struct sim_module *module =
        (struct sim_module *)((char *)opaque - offsetof(struct sim_module, space));

    (void)name;
    (void)align; /* it begins with a page */
    return sim_code_managed(module->code, &module->space, size, fresh);
}

CUresult sim_module_load(struct sim_context *context, struct sim_code *code,
                         struct sim_module **out, char *log, size_t log_size) {
    struct sim_module *module = calloc(1, sizeof(*module));
    enum ptx_status status;
    struct ptx_memory memory;

    *out = NULL;
    log[0] = '\0';
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&module->object, SIM_MODULE, destroy_module);
    module->context = sim_ref(context);
    module->space = sim_context_space(context);
    memory = sim_space_memory(&module->space);
    memory.managed = place_managed;
    memory.image = sim_image_find;
    module->code = code;
    code->next = 0;
    status = ptx_module_load(code->text, code->size, &memory, &module->ptx, log, log_size);
    if (status == PTX_OK) {
        module->function_count = ptx_module_function_count(module->ptx);
        module->functions = calloc(module->function_count + 1, sizeof(*module->functions));
        for (size_t i = 0; module->functions && i < module->function_count; i++)
            init_function(&module->functions[i], module, i);
    }
    if (!module->functions || !sim_handle_open(&module->object)) {
        sim_put(module);
        return status == PTX_OK ? CUDA_ERROR_OUT_OF_MEMORY : sim_status_error(status);
    }
    pthread_mutex_lock(&context->lock);
    module->next = context->modules;
    context->modules = sim_ref(module);
    pthread_mutex_unlock(&context->lock);
    *out = module;
    return CUDA_SUCCESS;
}

void sim_module_close(struct sim_module *module) {
    struct sim_context *context = module->context;
    struct sim_module **link = &context->modules;

    pthread_mutex_lock(&context->lock);
    while (*link && *link != module)
        link = &(*link)->next;
    if (!*link)
        module = NULL; /* closed before */
    else
        *link = module->next;
    if (module)
        atomic_store(&module->closed, true);
    for (size_t i = 0; module && i < module->function_count; i++)
        if (module->functions[i].object.handle)
            sim_handle_close(&module->functions[i].object);
    pthread_mutex_unlock(&context->lock);
    if (module) {
        sim_handle_close(&module->object);
        sim_put(module); /* the context's reference */
    }
}

struct sim_function *sim_module_function(struct sim_module *module, const char *name) {
    for (size_t i = 0; i < module->function_count; i++)
        if (strcmp(ptx_func_name(module->functions[i].ptx), name) == 0)
            return &module->functions[i];
    return NULL;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues) {
    SIM_AUTO struct sim_module *loaded = NULL;
    char log[256] = "";
    struct sim_code code;
    struct sim_jit jit;
    SIM_ENTER(context);
    CUresult result = sim_jit_begin(&jit, numOptions, options, optionValues);

    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_image_code(image, &code);
    if (result == CUDA_SUCCESS)
        result = sim_module_load(context, &code, &loaded, log, sizeof(log));
    sim_jit_end(&jit, log);
    if (result == CUDA_SUCCESS) {
        loaded->own = code;
        *module = SIM_HANDLE(loaded);
    } else {
        sim_code_free(&code);
    }
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    return cuModuleLoadData(module, fatCubin);
}

/* The whole file, with a NUL after it, which ends PTX. NULL: it cannot be read. */
static char *read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    char *data = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + 1);
    if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
        data[size] = '\0';
    } else {
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    return data;
}

CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    SIM_ENTER(context);
    CUresult result;
    char *data;

    if (!module || !fname)
        return CUDA_ERROR_INVALID_VALUE;
    data = read_file(fname);
    if (!data)
        return CUDA_ERROR_FILE_NOT_FOUND;
    result = cuModuleLoadData(module, data);
    free(data);
    return result;
}

/* The module behind a handle, for a thread that has a context. */
#define MODULE(name, handle)                                                                       \
    SIM_AUTO struct sim_module *name = NULL;                                                       \
    SIM_ENTER(name##_context);                                                                     \
    name = sim_handle_get(handle, SIM_MODULE);                                                     \
    if (!name)                                                                                     \
    return CUDA_ERROR_INVALID_HANDLE

CUresult cuModuleUnload(CUmodule hmod) {
    MODULE(module, hmod);

    sim_context_wait(module->context, SIM_ALL_STREAMS);
    sim_print_flush(module->context);
    sim_module_close(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    struct sim_function *function;
    MODULE(module, hmod);

    if (!hfunc || !name)
        return CUDA_ERROR_INVALID_VALUE;
    function = sim_module_function(module, name);
    return function ? sim_function_open(function, hfunc) : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
    MODULE(module, mod);

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)module->function_count;
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                    CUmodule mod) {
    MODULE(module, mod);

    if (!functions || !numFunctions)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < module->function_count && i < numFunctions; i++) {
        CUresult result = sim_function_open(&module->functions[i], &functions[i]);

        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

CUresult sim_module_global(struct sim_module *module, const char *name, CUdeviceptr *dptr,
                           size_t *bytes) {
    uint64_t addr;
    size_t size;

    if (!name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!ptx_module_global(module->ptx, name, &addr, &size))
        return CUDA_ERROR_NOT_FOUND;
    if (dptr)
        *dptr = addr;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

/* Either of the results may be left out. */
CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
    MODULE(module, hmod);

    return sim_module_global(module, name, dptr, bytes);
}

/* Libraries load what a context needs of them when it first needs it. */
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    SIM_READY();
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
