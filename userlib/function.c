// SPDX-License-Identifier: Apache-2.0
/* Functions of modules, and those that kernels have in a context. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "code.h"
#include "cuda_calls.h"
#include "launch_attributes.h"
#include "wire.h"

struct function *function_new(const char *symbol) {
    struct function *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->symbol = strdup(symbol);
    f->name = f->symbol ? names_new(VCUDA_KIND_FUNCTION, f) : 0;
    if (f->name)
        return f;
    free(f->symbol);
    free(f);
    return NULL;
}

void functions_end(const struct function *f) {
    for (; f; f = f->next)
        names_end(VCUDA_KIND_FUNCTION, f->name);
}

void functions_free(struct function *f) {
    while (f) {
        struct function *next = f->next;

        free(f->symbol);
        free(f->layout.param);
        free(f->old);
        free(f);
        f = next;
    }
}

void function_drop(struct function *f) {
    if (names_end(VCUDA_KIND_FUNCTION, f->name))
        functions_free(f);
}

/* Under the lock. */
static struct function *find(struct function *f, const struct function *wanted, function_is *is) {
    while (f && !is(f, wanted))
        f = f->next;
    return f;
}

struct function *functions_find(struct function *const *list, const struct function *wanted,
                                function_is *is) {
    struct function *f;

    code_lock();
    f = find(*list, wanted, is);
    code_unlock();
    return f;
}

/* Under the lock, which who ends them takes later: it, or its module, has ended. */
static bool has_ended(const struct function *f) {
    return !names_get(VCUDA_KIND_FUNCTION, f->name) ||
           (f->module && !names_get(VCUDA_KIND_MODULE, f->module));
}

CUresult functions_add(struct function **list, struct function *f, function_is *is,
                       struct function **out) {
    struct function *there;
    bool ended;

    code_lock();
    ended = has_ended(f);
    there = find(*list, f, is);
    if (!ended) {
        /* Behind that one it is never found; the worker has it, and ends it with its owner. */
        list = there ? &there->next : list;
        f->next = *list;
        *list = f;
    }
    code_unlock();
    *out = there ? there : f;
    return ended ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult function_take(struct function *f, const struct vcuda_function_info *info, uint32_t len) {
    CUresult r = params_take(&f->layout, info, len);

    if (r != CUDA_SUCCESS) {
        guest_log("%s: its parameters make no sense", f->symbol ? f->symbol : "a kernel");
        names_retire(VCUDA_KIND_FUNCTION, f->name); /* for good: the worker has it */
        return r;
    }
    f->max_dynamic_shared = info->max_dynamic_shared;
    f->max_threads = info->max_threads;
    if (info->clusters)
        function_note(f, FUNCTION_CLUSTERS);
    return CUDA_SUCCESS;
}

CUresult function_of_kernel(struct thread *t, CUfunction handle, struct function **f) {
    struct kernel *k = names_get(VCUDA_KIND_KERNEL, (uint64_t)handle);

    return k ? kernel_function(t, k, f) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult function_load(struct thread *t, struct function *f) {
    CUresult r;

    if (vcuda_load_once(&f->state) & FUNCTION_LOADED)
        return CUDA_SUCCESS;
    r = wire_cuFuncLoad(t, f->name);
    if (r == CUDA_ERROR_NOT_SUPPORTED) /* a driver that loads at the launch only */
        r = CUDA_SUCCESS;
    if (r == CUDA_SUCCESS)
        function_note(f, FUNCTION_LOADED);
    return r;
}

/* The function of a call that asks about one. */
static CUresult enter_function(CUfunction hfunc, const void *out, struct function **f) {
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    *f = names_get(VCUDA_KIND_FUNCTION, (uint64_t)hfunc);
    if (!*f)
        return CUDA_ERROR_INVALID_HANDLE;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The function of a call that changes it, in the current context. */
static CUresult enter_setting(struct thread **t, CUfunction hfunc, struct function **f) {
    CUresult r = guest_enter_about(t, VCUDA_KIND_FUNCTION, hfunc);

    return r == CUDA_SUCCESS ? enter_function(hfunc, hfunc, f) : r;
}

/* A kernel's function is in its library's module of the context where it runs, not the caller's. */
static CUresult module_of_kernel(const struct function *f, CUmodule *module) {
    struct kernel *k = names_get(VCUDA_KIND_KERNEL, f->kernel);
    struct library *l = k ? names_get(VCUDA_KIND_LIBRARY, k->library) : NULL;
    struct thread *t, there;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    there = *t;
    guest_set_context(&there, f->context);
    return l ? library_module(&there, l, module) : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    struct function *f;
    CUresult r = enter_function(hfunc, hmod, &f);

    if (r != CUDA_SUCCESS)
        return r;
    if (!f->module)
        return module_of_kernel(f, hmod);
    *hmod = (CUmodule)f->module;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuFuncGetName(const char **name, CUfunction hfunc) {
    struct function *f;
    CUresult r = enter_function(hfunc, name, &f);

    if (r == CUDA_SUCCESS)
        *name = f->symbol;
    return r;
}

VCUDA_EXPORT CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                         size_t *paramSize) {
    struct function *f;
    CUresult r = enter_function(func, paramOffset, &f);

    return r == CUDA_SUCCESS ? params_answer(&f->layout, paramIndex, paramOffset, paramSize) : r;
}

/* All at once, since they change only when one is set; *value is that of `attrib`. */
static CUresult ask_attributes(struct thread *t, struct function *f, CUfunction_attribute attrib,
                               int32_t *value) {
    uint32_t before = attributes_before(&f->attributes), len = 0;
    int32_t values[VCUDA_FUNCTION_ATTRIBUTES];
    CUresult r = wire_function_attributes(t, f->name, values, sizeof(values), &len);

    if (r != CUDA_SUCCESS)
        return r;
    if (len != sizeof(values))
        return VCUDA_ERROR_LOST;
    code_lock();
    attributes_told(&f->attributes, before, values);
    code_unlock();
    *value = values[attrib];
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    struct function *f;
    struct thread *t;
    int32_t value;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_FUNCTION, hfunc);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pi || attrib < 0 || attrib >= VCUDA_FUNCTION_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    r = enter_function(hfunc, pi, &f);
    if (r == CUDA_SUCCESS && !attributes_get(&f->attributes, attrib, &value))
        r = ask_attributes(t, f, attrib, &value);
    if (r != CUDA_SUCCESS)
        return r;
    if (value == VCUDA_ATTRIBUTE_NONE)
        return wire_cuFuncGetAttribute(t, pi, attrib, f->name);
    *pi = value;
    return CUDA_SUCCESS;
}

/* Under the lock: what is known of a function's kernel may no longer be so. */
static void forget_kernel(const struct function *f) {
    struct kernel *k = f->kernel ? names_get(VCUDA_KIND_KERNEL, f->kernel) : NULL;

    for (int dev = 0; k && dev < VCUDA_DEVICES_MAX; dev++)
        attributes_forget(&k->attributes[dev]);
}

/* Remembered, since a launch that asks for more is refused at once. */
static void remember(struct function *f, uint32_t before, CUfunction_attribute attrib, int value) {
    bool last;

    code_lock();
    forget_kernel(f);
    last = attributes_set(&f->attributes, before, attrib, value);
    if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        vcuda_store_once(&f->max_dynamic_shared, last ? (uint32_t)value : 0);
    code_unlock();
    if (cuda_function_attribute_clusters(attrib))
        function_note(f, FUNCTION_CLUSTERS);
    occupancy_forget();
}

VCUDA_EXPORT CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    struct function *f;
    struct thread *t;
    uint32_t before;
    CUresult r = enter_setting(&t, hfunc, &f);

    if (r != CUDA_SUCCESS)
        return r;
    if (attributes_has(&f->attributes, attrib, value))
        return guest_fault(t);
    before = attributes_before(&f->attributes);
    r = wire_cuFuncSetAttribute(t, (uint64_t)hfunc, attrib, value);
    if (r == CUDA_SUCCESS)
        remember(f, before, attrib, value);
    return r;
}

VCUDA_EXPORT CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    struct function *f;
    struct thread *t;
    CUresult r = enter_setting(&t, hfunc, &f);

    if (r == CUDA_SUCCESS)
        r = wire_cuFuncSetCacheConfig(t, (uint64_t)hfunc, (int32_t)config);
    if (r == CUDA_SUCCESS)
        occupancy_forget();
    return r;
}

VCUDA_EXPORT CUresult cuFuncLoad(CUfunction function) {
    struct function *f;
    struct thread *t;
    CUresult r = enter_setting(&t, function, &f);

    if (r == CUDA_SUCCESS)
        r = wire_cuFuncLoad(t, f->name);
    if (r == CUDA_SUCCESS)
        function_note(f, FUNCTION_LOADED);
    return r;
}
