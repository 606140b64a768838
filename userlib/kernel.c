// SPDX-License-Identifier: Apache-2.0
/* Kernels: what a library has, in no context; and their functions, one a context. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "code.h"
#include "cuda_calls.h"
#include "launch_attributes.h"
#include "wire.h"

static bool in_context(const struct function *f, const struct function *wanted) {
    return f->context == wanted->context;
}

CUresult kernel_function(struct thread *t, struct kernel *k, struct function **out) {
    char answer[FUNCTION_INFO_BYTES] __attribute__((aligned(8)));
    uint32_t len = 0;
    struct function *f;
    CUresult r;

    *out = functions_find(&k->functions, &(struct function){.context = t->context}, in_context);
    if (*out)
        return CUDA_SUCCESS;
    f = function_new(k->symbol);
    if (!f)
        return CUDA_ERROR_OUT_OF_MEMORY;
    f->kernel = k->name;
    f->context = t->context;
    r = wire_kernel_function(t, f->name, k->name, answer, sizeof(answer), &len);
    if (r == CUDA_SUCCESS)
        r = function_take(f, (const void *)answer, len);
    if (r == CUDA_SUCCESS)
        r = functions_add(&k->functions, f, in_context, out);
    if (r != CUDA_SUCCESS)
        function_drop(f);
    return r;
}

/* The kernel of a call about one; no context is needed. */
static CUresult enter_kernel(struct thread **t, CUkernel kernel, const void *out,
                             struct kernel **k) {
    CUresult r = guest_enter_any(t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *k = names_get(VCUDA_KIND_KERNEL, (uint64_t)kernel);
    return *k ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
    struct function *f;
    struct kernel *k;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = enter_kernel(&t, kernel, pFunc, &k);
    if (r == CUDA_SUCCESS)
        r = kernel_function(t, k, &f);
    if (r == CUDA_SUCCESS)
        *pFunc = (CUfunction)f->name;
    return r;
}

VCUDA_EXPORT CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
    struct kernel *k;
    struct thread *t;
    CUresult r = enter_kernel(&t, kernel, pLib, &k);

    if (r == CUDA_SUCCESS)
        *pLib = (CUlibrary)k->library;
    return r;
}

VCUDA_EXPORT CUresult cuKernelGetName(const char **name, CUkernel hfunc) {
    struct kernel *k;
    struct thread *t;
    CUresult r = enter_kernel(&t, hfunc, hfunc ? name : NULL, &k);

    if (r == CUDA_SUCCESS)
        *name = k->symbol;
    return r;
}

/* The driver knows parameters of what is loaded into a context. */
VCUDA_EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                           size_t *paramSize) {
    struct function *f;
    struct kernel *k;
    struct thread *t;
    CUresult r = enter_kernel(&t, kernel, kernel ? paramOffset : NULL, &k);

    if (r == CUDA_SUCCESS)
        r = guest_enter(&t);
    if (r == CUDA_SUCCESS)
        r = kernel_function(t, k, &f);
    return r == CUDA_SUCCESS ? params_answer(&f->layout, paramIndex, paramOffset, paramSize) : r;
}

/* All at once, since they change only when one is set; *value is that of `attrib`. */
static CUresult ask_attributes(struct thread *t, struct kernel *k, CUdevice dev,
                               CUfunction_attribute attrib, int32_t *value) {
    uint32_t before = attributes_before(&k->attributes[dev]), len = 0;
    int32_t values[VCUDA_FUNCTION_ATTRIBUTES];
    CUresult r = wire_kernel_attributes(t, k->name, dev, values, sizeof(values), &len);

    if (r != CUDA_SUCCESS)
        return r;
    if (len != sizeof(values))
        return VCUDA_ERROR_LOST;
    code_lock();
    attributes_told(&k->attributes[dev], before, values);
    code_unlock();
    *value = values[attrib];
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                           CUdevice dev) {
    struct kernel *k;
    struct thread *t;
    int32_t value;
    CUresult r = enter_kernel(&t, kernel, pi, &k);

    if (r != CUDA_SUCCESS)
        return r;
    if (dev < 0 || dev >= guest_device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    if (attrib < 0 || attrib >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!attributes_get(&k->attributes[dev], attrib, &value))
        r = ask_attributes(t, k, dev, attrib, &value);
    if (r != CUDA_SUCCESS)
        return r;
    if (value == VCUDA_ATTRIBUTE_NONE)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = value;
    return CUDA_SUCCESS;
}

/* The functions that the kernel has on the device take part: what is known of them is stale. */
static void remember(struct kernel *k, CUdevice dev, uint32_t before, CUfunction_attribute attrib,
                     int value) {
    code_lock();
    attributes_set(&k->attributes[dev], before, attrib, value);
    for (struct function *f = k->functions; f; f = f->next) {
        attributes_forget(&f->attributes);
        vcuda_store_once(&f->max_dynamic_shared, 0); /* the next launch that needs it asks */
        if (cuda_function_attribute_clusters(attrib))
            function_note(f, FUNCTION_CLUSTERS);
    }
    code_unlock();
    occupancy_forget();
}

/* The kernel of a call that sets something of it on a device. */
static CUresult enter_setting(struct thread **t, CUkernel kernel, CUdevice dev, struct kernel **k) {
    CUresult r = enter_kernel(t, kernel, kernel, k);

    if (r == CUDA_ERROR_INVALID_VALUE) /* no kernel at all */
        return CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (dev < 0 || dev >= guest_device_count()))
        return CUDA_ERROR_INVALID_DEVICE;
    return r;
}

VCUDA_EXPORT CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                           CUdevice dev) {
    struct kernel *k;
    struct thread *t;
    uint32_t before;
    CUresult r = enter_setting(&t, kernel, dev, &k);

    if (r != CUDA_SUCCESS)
        return r;
    if (attributes_has(&k->attributes[dev], attrib, val))
        return guest_fault(t);
    before = attributes_before(&k->attributes[dev]);
    r = wire_cuKernelSetAttribute(t, attrib, val, k->name, dev);
    if (r == CUDA_SUCCESS)
        remember(k, dev, before, attrib, val);
    return r;
}

VCUDA_EXPORT CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    struct kernel *k;
    struct thread *t;
    CUresult r = enter_setting(&t, kernel, dev, &k);

    if (r == CUDA_SUCCESS)
        r = wire_cuKernelSetCacheConfig(t, k->name, (int32_t)config, dev);
    if (r == CUDA_SUCCESS)
        occupancy_forget();
    return r;
}
