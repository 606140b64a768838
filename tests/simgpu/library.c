// SPDX-License-Identifier: Apache-2.0
/*
 * Libraries: code that belongs to no context. The text is loaded twice over: once into memory of
 * the host, which tells what kernels there are and whether it is good PTX, and then as a module
 * into each context that uses one of them. What is wrong with it is said where it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_kernel {
    struct sim_object object;
    struct sim_library *library; /* which owns it */
    struct ptx_func *ptx;
    struct ptx_func_info info;
    struct sim_function_settings settings[SIM_MAX_DEVICES];
};

struct instance {
    uint64_t owner; /* the context's id */
    struct sim_module *module;
};

struct sim_library {
    struct sim_object object;
    CUresult wrong; /* with the image; it has no kernels then */
    struct sim_code code;
    struct ptx_module *ptx;
    struct sim_kernel *kernels;
    size_t kernel_count;
    pthread_mutex_t lock;
    bool closed;
    struct instance *instances;
    size_t instance_count;
};

static void *scratch_resolve(void *opaque, uint64_t addr, size_t len) {
    (void)opaque;
    (void)len;
    return (void *)(uintptr_t)addr; /* only variables are asked for, which are ours */
}

static bool scratch_range(void *opaque, uint64_t addr, uint64_t *base, uint64_t *size) {
    (void)opaque;
    (void)addr;
    (void)base;
    (void)size;
    return false;
}

static uint64_t scratch_alloc(void *opaque, size_t size, size_t align) {
    void *memory;

    (void)opaque;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size))
        return 0;
    return (uintptr_t)memset(memory, 0, size);
}

static void scratch_free(void *opaque, uint64_t addr) {
    (void)opaque;
    free((void *)(uintptr_t)addr);
}

const struct ptx_memory sim_scratch = {
    .resolve = scratch_resolve,
    .range = scratch_range,
    .alloc = scratch_alloc,
    .free = scratch_free,
};

/* A reference to a kernel is one to its library, which holds the kernels in an array. */
static void destroy_kernel(struct sim_object *object) {
    sim_put(((struct sim_kernel *)object)->library);
}

static void destroy_library(struct sim_object *object) {
    struct sim_library *library = (struct sim_library *)object;

    for (size_t i = 0; i < library->instance_count; i++)
        sim_put(library->instances[i].module);
    if (library->ptx)
        ptx_module_unload(library->ptx);
    pthread_mutex_destroy(&library->lock);
    free(library->instances);
    free(library->kernels);
    sim_code_free(&library->code);
    free(library);
}

static void init_kernel(struct sim_kernel *kernel, struct sim_library *library, size_t index) {
    kernel->library = library;
    kernel->ptx = ptx_module_function_at(library->ptx, index);
    ptx_func_info(kernel->ptx, &kernel->info);
    for (int dev = 0; dev < SIM_MAX_DEVICES; dev++)
        sim_function_settings_start(&kernel->settings[dev], &kernel->info);
}

static CUresult load(struct sim_library *library, char *log, size_t log_size) {
    enum ptx_status status = ptx_module_load(library->code.text, library->code.size, &sim_scratch,
                                             &library->ptx, log, log_size);

    if (status != PTX_OK)
        return sim_status_error(status);
    library->kernel_count = ptx_module_function_count(library->ptx);
    library->kernels = calloc(library->kernel_count + 1, sizeof(*library->kernels));
    if (!library->kernels)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < library->kernel_count; i++)
        init_kernel(&library->kernels[i], library, i);
    return CUDA_SUCCESS;
}

static CUresult check_options(const CUlibraryOption *options, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
            return (unsigned)options[i] < CU_LIBRARY_NUM_OPTIONS ? CUDA_ERROR_NOT_SUPPORTED
                                                                 : CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions) {
    SIM_AUTO struct sim_library *loaded = NULL;
    char log[256] = "";
    struct sim_jit jit;
    CUresult result;

    (void)libraryOptionValues;
    SIM_READY();
    if (!library || !code || (numLibraryOptions && !libraryOptions))
        return CUDA_ERROR_INVALID_VALUE;
    result = check_options(libraryOptions, numLibraryOptions);
    if (result == CUDA_SUCCESS)
        result = sim_jit_begin(&jit, numJitOptions, jitOptions, jitOptionsValues);
    if (result != CUDA_SUCCESS)
        return result;
    loaded = calloc(1, sizeof(*loaded));
    if (!loaded)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&loaded->object, SIM_LIBRARY, destroy_library);
    pthread_mutex_init(&loaded->lock, NULL);
    loaded->wrong = sim_image_code(code, &loaded->code);
    if (loaded->wrong == CUDA_SUCCESS)
        loaded->wrong = load(loaded, log, sizeof(log));
    sim_jit_end(&jit, log);
    if (loaded->wrong == CUDA_ERROR_OUT_OF_MEMORY || !sim_handle_open(&loaded->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *library = SIM_HANDLE(loaded);
    return CUDA_SUCCESS;
}

#define LIBRARY(name, handle)                                                                      \
    SIM_AUTO struct sim_library *name = NULL;                                                      \
    SIM_READY();                                                                                   \
    name = sim_handle_get(handle, SIM_LIBRARY);                                                    \
    if (!name)                                                                                     \
    return CUDA_ERROR_INVALID_HANDLE

#define KERNEL(name, handle)                                                                       \
    SIM_AUTO struct sim_kernel *name = NULL;                                                       \
    SIM_READY();                                                                                   \
    name = sim_handle_get(handle, SIM_KERNEL);                                                     \
    if (!name)                                                                                     \
    return CUDA_ERROR_INVALID_HANDLE

CUresult cuLibraryUnload(CUlibrary handle) {
    LIBRARY(library, handle);

    pthread_mutex_lock(&library->lock);
    library->closed = true;
    for (size_t i = 0; i < library->kernel_count; i++)
        if (library->kernels[i].object.handle)
            sim_handle_close(&library->kernels[i].object);
    for (size_t i = 0; i < library->instance_count; i++) {
        sim_context_wait(library->instances[i].module->context, SIM_ALL_STREAMS);
        sim_module_close(library->instances[i].module);
    }
    pthread_mutex_unlock(&library->lock);
    return sim_handle_close(&library->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_library_check(CUlibrary handle) {
    LIBRARY(library, handle);

    return library->wrong;
}

/* Gives the kernel a handle, when it is first asked for. */
static CUresult open_kernel(struct sim_kernel *kernel, CUkernel *handle) {
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&kernel->library->lock);
    if (kernel->library->closed) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (!kernel->object.handle) {
        sim_object_init(&kernel->object, SIM_KERNEL, destroy_kernel);
        sim_ref(kernel->library);
        if (!sim_handle_open(&kernel->object))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        sim_put(kernel); /* the handle's reference stays */
    }
    pthread_mutex_unlock(&kernel->library->lock);
    if (result == CUDA_SUCCESS)
        *handle = SIM_HANDLE(kernel);
    return result;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary handle, const char *name) {
    LIBRARY(library, handle);

    if (!pKernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < library->kernel_count; i++)
        if (strcmp(ptx_func_name(library->kernels[i].ptx), name) == 0)
            return open_kernel(&library->kernels[i], pKernel);
    return library->wrong != CUDA_SUCCESS ? library->wrong : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
    LIBRARY(library, lib);

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (unsigned)library->kernel_count;
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib) {
    LIBRARY(library, lib);

    if (!kernels || !numKernels)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < library->kernel_count && i < numKernels; i++) {
        CUresult result = open_kernel(&library->kernels[i], &kernels[i]);

        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* Forgets modules whose contexts are gone; under the library's lock. */
static void forget_closed(struct sim_library *library) {
    size_t kept = 0;

    for (size_t i = 0; i < library->instance_count; i++) {
        struct instance *instance = &library->instances[i];

        if (instance->module->closed)
            sim_put(instance->module);
        else
            library->instances[kept++] = *instance;
    }
    library->instance_count = kept;
}

/* What was set for the kernels before the module was there. */
static void hand_down_attributes(const struct sim_library *library, struct sim_module *module) {
    int dev = module->context->device->ordinal;

    for (size_t i = 0; i < library->kernel_count; i++) {
        const struct sim_function_settings *from = &library->kernels[i].settings[dev];
        struct sim_function_settings *to = &module->functions[i].settings;

        atomic_store(&to->max_dynamic_shared, atomic_load(&from->max_dynamic_shared));
        atomic_store(&to->carveout, atomic_load(&from->carveout));
        atomic_store(&to->non_portable, atomic_load(&from->non_portable));
    }
}

/* Under the library's lock. */
static CUresult load_instance(struct sim_library *library, struct sim_context *context,
                              struct sim_module **out) {
    struct instance *more;
    char log[256];
    CUresult result;

    forget_closed(library);
    more = realloc(library->instances, (library->instance_count + 1) * sizeof(*more));
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    library->instances = more;
    result = sim_module_load(context, &library->code, out, log, sizeof(log));
    if (result != CUDA_SUCCESS)
        return result;
    hand_down_attributes(library, *out);
    more[library->instance_count++] = (struct instance){context->id, *out};
    return CUDA_SUCCESS;
}

/* The library's module in the context, loaded if need be; a reference. */
static CUresult get_module(struct sim_library *library, struct sim_context *context,
                           struct sim_module **out) {
    CUresult result = library->wrong;

    *out = NULL;
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&library->lock);
    for (size_t i = 0; i < library->instance_count; i++)
        if (library->instances[i].owner == context->id)
            *out = library->instances[i].module;
    if (library->closed)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!*out)
        result = load_instance(library, context, out);
    if (result == CUDA_SUCCESS)
        sim_ref(*out);
    else
        *out = NULL;
    pthread_mutex_unlock(&library->lock);
    return result;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary handle) {
    SIM_AUTO struct sim_module *module = NULL;
    LIBRARY(library, handle);
    SIM_ENTER(context);
    CUresult result;

    if (!pMod)
        return CUDA_ERROR_INVALID_VALUE;
    result = get_module(library, context, &module);
    if (result == CUDA_SUCCESS)
        *pMod = SIM_HANDLE(module);
    return result;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary handle, const char *name) {
    SIM_AUTO struct sim_module *module = NULL;
    LIBRARY(library, handle);
    SIM_ENTER(context);
    CUresult result = get_module(library, context, &module);

    return result == CUDA_SUCCESS ? sim_module_global(module, name, dptr, bytes) : result;
}

static CUresult get_managed(struct sim_library *library, const char *name, CUdeviceptr *dptr,
                            size_t *bytes) {
    SIM_AUTO struct sim_module *module = NULL;
    SIM_ENTER(context);
    CUresult result = get_module(library, context, &module);

    return result == CUDA_SUCCESS ? sim_module_global(module, name, dptr, bytes) : result;
}

/* The address is the same in all contexts; where the thread is in none, a device's own will do. */
CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary handle, const char *name) {
    LIBRARY(library, handle);
    CUcontext primary;
    CUresult result;

    if (!name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!library->ptx || !ptx_module_managed(library->ptx, name))
        return CUDA_ERROR_NOT_FOUND;
    if (sim_current())
        return get_managed(library, name, dptr, bytes);
    result = cuDevicePrimaryCtxRetain(&primary, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_current_push(primary);
    if (result == CUDA_SUCCESS) {
        result = get_managed(library, name, dptr, bytes);
        sim_current_drop(primary);
    }
    cuDevicePrimaryCtxRelease_v2(0);
    return result;
}

/* No function is one that the host can call. */
CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary handle, const char *symbol) {
    LIBRARY(library, handle);

    (void)fptr;
    (void)symbol;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_kernel_function(struct sim_context *context, CUkernel handle,
                             struct sim_function **out) {
    SIM_AUTO struct sim_module *module = NULL;
    struct sim_function *function;
    CUfunction opened;
    CUresult result;
    KERNEL(kernel, handle);

    result = get_module(kernel->library, context, &module);
    if (result != CUDA_SUCCESS)
        return result;
    function = sim_module_function(module, ptx_func_name(kernel->ptx));
    result = sim_function_open(function, &opened);
    if (result != CUDA_SUCCESS)
        return result;
    *out = sim_handle_get(opened, SIM_FUNCTION);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel handle) {
    SIM_AUTO struct sim_function *function = NULL;
    SIM_ENTER(context);
    CUresult result;

    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_kernel_function(context, handle, &function);
    if (result == CUDA_SUCCESS)
        *pFunc = SIM_HANDLE(function);
    return result;
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel handle) {
    KERNEL(kernel, handle);

    if (!pLib)
        return CUDA_ERROR_INVALID_VALUE;
    *pLib = SIM_HANDLE(kernel->library);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel handle, CUdevice dev) {
    KERNEL(kernel, handle);

    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return sim_function_attribute(&kernel->info, &kernel->settings[dev], attrib, pi);
}

/* For the device's contexts that there are, and those to come. */
CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel handle, CUdevice dev) {
    KERNEL(kernel, handle);
    struct sim_library *library = kernel->library;
    size_t index = (size_t)(kernel - library->kernels);
    CUresult result;

    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    result = sim_function_check_attribute(&kernel->info, attrib, val);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&library->lock);
    sim_function_set_attribute(&kernel->settings[dev], attrib, val);
    for (size_t i = 0; i < library->instance_count; i++)
        if (library->instances[i].module->context->device->ordinal == dev)
            sim_function_set_attribute(&library->instances[i].module->functions[index].settings,
                                       attrib, val);
    pthread_mutex_unlock(&library->lock);
    return CUDA_SUCCESS;
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev) {
    KERNEL(kernel, handle);

    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc) {
    KERNEL(kernel, hfunc);

    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = ptx_func_name(kernel->ptx);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t paramIndex, size_t *paramOffset,
                              size_t *paramSize) {
    KERNEL(kernel, handle);

    return sim_param_info(kernel->ptx, paramIndex, paramOffset, paramSize);
}
