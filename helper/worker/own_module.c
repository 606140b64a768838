// SPDX-License-Identifier: Apache-2.0
/* Modules and libraries: loaded on waiter threads, since that takes long. */
#include <stdlib.h>

#include "chains.h"
#include "compiled.h"
#include "jit.h"
#include "memory.h"
#include "pools.h"
#include "variables.h"
#include "worker.h"

/* Logs come back even when loading failed: then that is the answer's status, and no object is made.
 */
struct load {
    uint64_t address, bytes;
    uint32_t info_cap, error_cap;
    const void *options;
    uint32_t options_len;
    struct vcuda_module_log *log;
    uint32_t log_cap;
    uint64_t context; /* that it ends with; 0: none */
    bool any_text;    /* a library's text is not looked at before it is used */
};

/* The driver's own function, for which *object is NULL after an error. */
typedef CUresult (*load_function)(struct worker *w, void *object, const void *image,
                                  struct jit *jit);

/* By code that need not be compiled, where nothing is asked of the compiler. */
static CUresult load_image(struct worker *w, const struct load *l, load_function driver,
                           void *object, const struct cuda_image *image, struct jit *jit) {
    CUresult r = CUDA_ERROR_NOT_FOUND;
    char *code;

    if (!l->options_len && !l->info_cap && !l->error_cap && compiled_code(w, image, &code)) {
        r = driver(w, object, code, jit);
        free(code);
    }
    return r == CUDA_SUCCESS ? r : driver(w, object, image->data, jit);
}

static CUresult load(struct worker *w, const struct load *l, uint32_t *log_len,
                     load_function driver, void *object) {
    char info[VCUDA_JIT_LOG_MAX] = "", error[VCUDA_JIT_LOG_MAX] = "";
    struct memory_part part = {.context = l->context};
    struct cuda_image image;
    struct jit jit;
    CUresult r;

    if (l->info_cap > VCUDA_JIT_LOG_MAX || l->error_cap > VCUDA_JIT_LOG_MAX ||
        l->log_cap < sizeof(*l->log) + l->info_cap + l->error_cap)
        return CUDA_ERROR_INVALID_VALUE;
    r = jit_options(&jit, l->options, l->options_len);
    if (r == CUDA_SUCCESS)
        r = jit_image(w, l->address, l->bytes, l->any_text, &image);
    if (r != CUDA_SUCCESS)
        return r;
    part.bytes = memory_limited() ? memory_grains(variables_bytes(&image)) : 0;
    if (!pools_take_any(w, part.bytes)) {
        free((void *)image.data);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    jit_logs(&jit, info, l->info_cap, error, l->error_cap);
    r = load_image(w, l, driver, object, &image, &jit);
    free((void *)image.data);
    if (r == CUDA_SUCCESS)
        memory_hold(MEMORY_CODE, *(uint64_t *)object, &part);
    else
        memory_give_back(part.bytes);
    *log_len = jit_answer(&jit, r, l->log);
    return CUDA_SUCCESS;
}

static CUresult load_module(struct worker *w, void *object, const void *image, struct jit *jit) {
    CUmodule *module = object;
    CUresult r = w->driver.cuModuleLoadDataEx(module, image, jit->count, jit->options, jit->values);

    if (r != CUDA_SUCCESS)
        *module = NULL;
    return r;
}

CUresult own_module_load(struct worker *w, struct frame *f, struct args_module_load *a) {
    struct load l = {a->address,     a->bytes, a->info_cap, a->error_cap, a->options,
                     a->options_len, a->log,   a->log_cap,  f->head.ctx,  false};

    (void)f;
    return load(w, &l, &a->log_len, load_module, &a->module);
}

static CUresult load_library(struct worker *w, void *object, const void *image, struct jit *jit) {
    CUlibrary *library = object;
    CUresult r = w->driver.cuLibraryLoadData(library, image, jit->options, jit->values, jit->count,
                                             NULL, NULL, 0);

    if (r != CUDA_SUCCESS)
        *library = NULL;
    return r;
}

/* The end of code and its variables. */
static CUresult unload(uint64_t key, struct memory_part *part, bool known, CUresult r) {
    if (known && r == CUDA_SUCCESS)
        memory_give_back(part->bytes);
    else if (known)
        memory_hold(MEMORY_CODE, key, part);
    return r;
}

CUresult own_cuModuleUnload(struct worker *w, struct frame *f, struct args_cuModuleUnload *a) {
    uint64_t key = (uint64_t)a->hmod;
    struct memory_part part;
    bool known = memory_let_go(MEMORY_CODE, key, &part);

    (void)f;
    chains_forget(w);
    return unload(key, &part, known, w->driver.cuModuleUnload(a->hmod));
}

CUresult own_cuLibraryUnload(struct worker *w, struct frame *f, struct args_cuLibraryUnload *a) {
    uint64_t key = (uint64_t)a->library;
    struct memory_part part;
    bool known = memory_let_go(MEMORY_CODE, key, &part);

    (void)f;
    chains_forget(w);
    return unload(key, &part, known, w->driver.cuLibraryUnload(a->library));
}

CUresult own_library_load(struct worker *w, struct frame *f, struct args_library_load *a) {
    struct load l = {a->address, a->bytes,   a->info_cap, a->error_cap, a->options, a->options_len,
                     a->log,     a->log_cap, 0,           true};

    (void)f;
    return load(w, &l, &a->log_len, load_library, &a->library);
}

/* A library's module ends with the library and with its context. */
CUresult own_library_module(struct worker *w, struct frame *f, struct args_library_module *a) {
    f->owner = a->library_name;
    f->also_owner = f->head.ctx;
    return w->driver.cuLibraryGetModule(&a->module, a->library);
}

/* Whether there is such a variable: its address is of use here only. */
CUresult own_library_managed(struct worker *w, struct frame *f, struct args_library_managed *a) {
    CUdeviceptr address;
    size_t bytes;

    (void)f;
    return w->driver.cuLibraryGetManaged(&address, &bytes, a->library, a->name);
}

/* Appends a name to an answer: false when it is full, or could never hold it. */
static bool put_name(char *names, uint32_t cap, uint32_t *len, const char *name) {
    size_t size = strlen(name) + 1;

    if (size > cap - *len)
        return false;
    memcpy(names + *len, name, size);
    *len += (uint32_t)size;
    return true;
}

CUresult own_library_names(struct worker *w, struct frame *f, struct args_library_names *a) {
    CUkernel *kernels;
    unsigned int count = 0;
    const char *name = "";
    CUresult r = w->driver.cuLibraryGetKernelCount(&count, a->library);

    (void)f;
    if (r != CUDA_SUCCESS || a->first >= count)
        return r;
    kernels = calloc(count, sizeof(*kernels));
    if (!kernels)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuLibraryEnumerateKernels(kernels, count, a->library);
    for (unsigned int i = a->first; i < count && r == CUDA_SUCCESS; i++) {
        r = w->driver.cuKernelGetName(&name, kernels[i]);
        if (r == CUDA_SUCCESS && !put_name(a->names, a->names_cap, &a->names_len, name))
            break;
    }
    free(kernels);
    return r;
}

CUresult own_module_names(struct worker *w, struct frame *f, struct args_module_names *a) {
    CUfunction *functions;
    unsigned int count = 0;
    const char *name = "";
    CUresult r = w->driver.cuModuleGetFunctionCount(&count, a->mod);

    (void)f;
    if (r != CUDA_SUCCESS || a->first >= count)
        return r;
    functions = calloc(count, sizeof(*functions));
    if (!functions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuModuleEnumerateFunctions(functions, count, a->mod);
    for (unsigned int i = a->first; i < count && r == CUDA_SUCCESS; i++) {
        r = w->driver.cuFuncGetName(&name, functions[i]);
        if (r == CUDA_SUCCESS && !put_name(a->names, a->names_cap, &a->names_len, name))
            break;
    }
    free(functions);
    return r;
}
