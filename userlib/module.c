// SPDX-License-Identifier: Apache-2.0
/* Modules. */
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "code.h"
#include "cuda_calls.h"
#include "file.h"
#include "wire.h"

static struct module *new_module(const struct thread *t) {
    struct module *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->context = t->context;
    m->name = names_new(VCUDA_KIND_MODULE, m);
    if (m->name)
        return m;
    free(m);
    return NULL;
}

void module_end(struct module *m) {
    struct variable *variables;

    library_forget_module(m);
    code_lock();
    variables = m->variables;
    m->variables = NULL;
    code_unlock();
    functions_end(m->functions); /* none is added where the module's name has ended */
    variables_free(variables);
    bound_end(m->bound);
}

void module_free(void *module) {
    struct module *m = module;

    functions_free(m->functions);
    variables_free(m->variables);
    bound_free(m->bound);
    free(m);
}

void module_drop(void *module) {
    if (!module)
        return;
    module_end(module);
    module_free(module);
}

static CUresult send(struct thread *t, const struct loading *l, struct jit *jit, uint64_t address,
                     uint64_t bytes, CUresult *status) {
    char answer[JIT_ANSWER_BYTES] __attribute__((aligned(8)));
    uint32_t len = 0;
    CUresult r =
        wire_module_load(t, l->name, address, bytes, jit_info_cap(jit), jit_error_cap(jit),
                         jit->scalars, jit_scalar_bytes(jit), answer, sizeof(answer), &len);

    if (r == CUDA_SUCCESS)
        *status = jit_give(jit, answer, len);
    return r;
}

static CUresult load(struct thread *t, const struct cuda_image *image, struct jit *jit,
                     CUmodule *module) {
    struct module *m = new_module(t);
    CUresult r;

    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = bound_load(t,
                   &(struct loading){.name = m->name,
                                     .jit = jit,
                                     .device = t->now->device,
                                     .load = send,
                                     .unload = wire_cuModuleUnload},
                   image, &m->bound);
    if (r == CUDA_SUCCESS)
        *module = (CUmodule)m->name;
    else
        module_drop(names_end(VCUDA_KIND_MODULE, m->name));
    return r;
}

VCUDA_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                         unsigned int numOptions, CUjit_option *options,
                                         void **optionValues) {
    struct cuda_image measured;
    struct thread *t;
    struct jit jit;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    r = jit_read(&jit, numOptions, options, optionValues);
    if (r == CUDA_SUCCESS)
        r = cuda_image_measure(image, CUDA_IMAGE_UNBOUNDED, &measured);
    /* Seen of the driver: a fat binary's wrapper is for the library calls only. */
    if (r == CUDA_SUCCESS && measured.data != image)
        r = CUDA_ERROR_INVALID_IMAGE;
    return r == CUDA_SUCCESS ? load(t, &measured, &jit, module) : r;
}

VCUDA_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

VCUDA_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    return cuModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

VCUDA_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    struct jit jit = {0};
    struct cuda_image measured;
    struct thread *t;
    char *data;
    size_t size;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!module || !fname)
        return CUDA_ERROR_INVALID_VALUE;
    r = file_read(fname, &data, &size);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuda_image_measure(data, size, &measured);
    if (r == CUDA_SUCCESS)
        r = load(t, &measured, &jit, module);
    free(data);
    return r;
}

VCUDA_EXPORT CUresult cuModuleUnload(CUmodule hmod) {
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_MODULE, hmod);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_MODULE, hmod);
    if (r != CUDA_SUCCESS)
        return r;
    r = wire_cuModuleUnload(t, (uint64_t)hmod);
    if (r == CUDA_SUCCESS)
        module_drop(names_end(VCUDA_KIND_MODULE, (uint64_t)hmod));
    return r;
}

static bool of_symbol(const struct function *f, const struct function *wanted) {
    return !strcmp(f->symbol, wanted->symbol);
}

/* The same name gives the same handle, as native. */
static CUresult find_function(struct thread *t, void *module, const char *symbol,
                              uint64_t *handle) {
    char answer[FUNCTION_INFO_BYTES] __attribute__((aligned(8)));
    struct module *m = module;
    struct function *f =
        functions_find(&m->functions, &(struct function){.symbol = (char *)symbol}, of_symbol);
    struct function *found;
    uint32_t len = 0;
    CUresult r;

    if (f) {
        *handle = f->name;
        return CUDA_SUCCESS;
    }
    f = function_new(symbol);
    if (!f)
        return CUDA_ERROR_OUT_OF_MEMORY;
    f->module = m->name;
    f->context = m->context;
    r = wire_module_function(t, f->name, m->name, symbol, answer, sizeof(answer), &len);
    if (r == CUDA_SUCCESS)
        r = function_take(f, (const void *)answer, len);
    if (r == CUDA_SUCCESS)
        r = functions_add(&m->functions, f, of_symbol, &found);
    if (r == CUDA_SUCCESS)
        *handle = found->name;
    else
        function_drop(f);
    return r;
}

VCUDA_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    struct module *m;
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_MODULE, hmod);

    if (r != CUDA_SUCCESS)
        return r;
    if (!hfunc || !name || strlen(name) >= VCUDA_INLINE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    m = names_get(VCUDA_KIND_MODULE, (uint64_t)hmod);
    return m ? find_function(t, m, name, (uint64_t *)hfunc) : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                                 CUmodule mod) {
    struct listing l = {.ask = wire_module_names,
                        .find = find_function,
                        .name = (uint64_t)mod,
                        .handles = (uint64_t *)functions,
                        .room = numFunctions};
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_MODULE, mod);

    if (r != CUDA_SUCCESS)
        return r;
    if (!functions || !numFunctions)
        return CUDA_ERROR_INVALID_VALUE;
    l.owner = names_get(VCUDA_KIND_MODULE, (uint64_t)mod);
    return l.owner ? names_list(t, &l) : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                                           const char *name) {
    uint64_t address = 0, size = 0;
    struct library *l;
    struct module *m;
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_MODULE, hmod);

    if (r != CUDA_SUCCESS)
        return r;
    if (!name || strlen(name) >= VCUDA_INLINE_MAX || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    m = names_get(VCUDA_KIND_MODULE, (uint64_t)hmod);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    l = names_get(VCUDA_KIND_LIBRARY, m->library);
    if (bound_find(l ? l->bound : m->bound, name, dptr, bytes))
        return CUDA_SUCCESS;
    r = wire_cuModuleGetGlobal_v2(t, &address, &size, (uint64_t)hmod, name);
    if (r != CUDA_SUCCESS)
        return r;
    variable_note(t, &m->variables, address, size);
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

/* From when addresses and sizes had 32 bits. */
VCUDA_EXPORT CUresult cuModuleGetGlobal(CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod,
                                        const char *name) {
    CUdeviceptr address = 0;
    size_t size = 0;
    CUresult r = cuModuleGetGlobal_v2(&address, &size, hmod, name);

    if (r == CUDA_SUCCESS && (address > UINT32_MAX || size > UINT32_MAX))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && dptr)
        *dptr = (CUdeviceptr_v1)address;
    if (r == CUDA_SUCCESS && bytes)
        *bytes = (unsigned int)size;
    return r;
}

VCUDA_EXPORT CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    const char *wish = getenv("CUDA_MODULE_LOADING");
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = wish && !strcmp(wish, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
