// SPDX-License-Identifier: Apache-2.0
/* Libraries: code that belongs to no context. The driver loads it into each that uses it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "code.h"
#include "cuda_calls.h"
#include "file.h"
#include "wire.h"

static struct library *new_library(void) {
    struct library *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->name = names_new(VCUDA_KIND_LIBRARY, l);
    if (l->name)
        return l;
    free(l);
    return NULL;
}

static void free_kernel(struct kernel *k) {
    names_end(VCUDA_KIND_KERNEL, k->name);
    free(k->symbol);
    free(k);
}

/* Its name has ended: who ends what it has in a context does not find it any more. */
static void free_library(struct library *l) {
    if (!l)
        return;
    code_forget_library(l->name);
    while (l->kernels) {
        struct kernel *k = l->kernels;

        l->kernels = k->next;
        free_kernel(k);
    }
    variables_free(l->variables);
    bound_free(l->bound);
    free(l);
}

/*
 * A table of the host's functions and data is pointers into the program. That the code is
 * preserved there says nothing to a driver that gets a copy, but that it may be sent again.
 */
static CUresult read_options(unsigned int count, const CUlibraryOption *options, bool *preserved) {
    *preserved = false;
    if (count && !options)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        if (options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
            return CUDA_ERROR_INVALID_VALUE;
        *preserved = true;
    }
    return CUDA_SUCCESS;
}

static CUresult send(struct thread *t, const struct loading *l, struct jit *jit, uint64_t address,
                     uint64_t bytes, CUresult *status) {
    char answer[JIT_ANSWER_BYTES] __attribute__((aligned(8)));
    uint32_t len = 0;
    CUresult r =
        wire_library_load(t, l->name, address, bytes, jit_info_cap(jit), jit_error_cap(jit),
                          jit->scalars, jit_scalar_bytes(jit), answer, sizeof(answer), &len);

    if (r == CUDA_SUCCESS)
        *status = jit_give(jit, answer, len);
    return r;
}

static struct loading loading(const struct library *l, struct jit *jit) {
    return (struct loading){
        .name = l->name, .jit = jit, .device = -1, .load = send, .unload = wire_cuLibraryUnload};
}

static CUresult send_as_is(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    const struct loading *l = arg;
    CUresult status = CUDA_SUCCESS;
    CUresult r = l->load(t, l, l->jit, address, bytes, &status);

    return r == CUDA_SUCCESS ? status : r;
}

/*
 * A fat binary that stays where it is, as the runtime's, is large, and of most nothing but a few
 * kernels is ever used: it is looked at when the first managed variable is asked for.
 */
static CUresult load(struct thread *t, const struct cuda_image *image, struct jit *jit,
                     bool preserved, CUlibrary *library) {
    struct library *l = new_library();
    struct loading how;
    CUresult r;

    if (!l)
        return CUDA_ERROR_OUT_OF_MEMORY;
    how = loading(l, jit);
    if (preserved && image->kind == CUDA_IMAGE_FATBIN) {
        l->image = *image;
        r = image_send(t, image, send_as_is, &how);
    } else {
        r = bound_load(t, &how, image, &l->bound);
    }
    if (r == CUDA_SUCCESS)
        *library = (CUlibrary)l->name;
    else
        free_library(names_end(VCUDA_KIND_LIBRARY, l->name));
    return r;
}

/*
 * What is neither machine code nor a fat binary is text, of which nothing is looked at before a
 * context needs it.
 */
static CUresult measure(const void *code, struct cuda_image *image) {
    CUresult r = cuda_image_measure(code, CUDA_IMAGE_UNBOUNDED, image);

    return r == CUDA_ERROR_INVALID_IMAGE
               ? cuda_image_measure_text(code, CUDA_IMAGE_UNBOUNDED, image)
               : r;
}

VCUDA_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                                        CUjit_option *jitOptions, void **jitOptionsValues,
                                        unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                        void **libraryOptionValues,
                                        unsigned int numLibraryOptions) {
    struct cuda_image measured;
    struct thread *t;
    struct jit jit;
    bool preserved;
    CUresult r = guest_enter_any(&t);

    (void)libraryOptionValues;
    if (r != CUDA_SUCCESS)
        return r;
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    r = jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues);
    if (r == CUDA_SUCCESS)
        r = read_options(numLibraryOptions, libraryOptions, &preserved);
    if (r == CUDA_SUCCESS)
        r = measure(code, &measured);
    return r == CUDA_SUCCESS ? load(t, &measured, &jit, preserved, library) : r;
}

VCUDA_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                            CUjit_option *jitOptions, void **jitOptionsValues,
                                            unsigned int numJitOptions,
                                            CUlibraryOption *libraryOptions,
                                            void **libraryOptionValues,
                                            unsigned int numLibraryOptions) {
    struct cuda_image measured;
    struct thread *t;
    struct jit jit;
    bool preserved;
    char *data;
    size_t size;
    CUresult r = guest_enter_any(&t);

    (void)libraryOptionValues;
    if (r != CUDA_SUCCESS)
        return r;
    if (!library || !fileName)
        return CUDA_ERROR_INVALID_VALUE;
    r = jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues);
    if (r == CUDA_SUCCESS)
        r = read_options(numLibraryOptions, libraryOptions, &preserved);
    if (r == CUDA_SUCCESS)
        r = file_read(fileName, &data, &size);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuda_image_measure(data, size, &measured);
    if (r == CUDA_SUCCESS)
        r = load(t, &measured, &jit, false, library);
    free(data);
    return r;
}

/* The library of a call about one; no context is needed. */
static CUresult library_enter(struct thread **t, CUlibrary library, bool complete,
                              struct library **l) {
    CUresult r = guest_enter_any(t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!complete)
        return CUDA_ERROR_INVALID_VALUE;
    *l = names_get(VCUDA_KIND_LIBRARY, (uint64_t)library);
    return *l ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuLibraryUnload(CUlibrary library) {
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, true, &l);

    if (r == CUDA_SUCCESS)
        r = wire_cuLibraryUnload(t, l->name);
    if (r == CUDA_SUCCESS)
        free_library(names_end(VCUDA_KIND_LIBRARY, (uint64_t)library));
    return r;
}

static struct kernel *find_kernel(struct library *l, const char *symbol) {
    struct kernel *k;

    for (k = l->kernels; k && strcmp(k->symbol, symbol); k = k->next)
        ;
    return k;
}

static struct kernel *new_kernel(struct library *l, const char *symbol) {
    struct kernel *k = calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->library = l->name;
    k->symbol = strdup(symbol);
    k->name = k->symbol ? names_new(VCUDA_KIND_KERNEL, k) : 0;
    if (k->name)
        return k;
    free(k->symbol);
    free(k);
    return NULL;
}

/* Adds it: the one that is found from now on, as functions_add(). */
static struct kernel *add_kernel(struct library *l, struct kernel *k) {
    struct kernel *there, **link;

    code_lock();
    there = find_kernel(l, k->symbol);
    link = there ? &there->next : &l->kernels;
    k->next = *link;
    *link = k;
    code_unlock();
    return there ? there : k;
}

/* The same name gives the same handle, as native. */
static CUresult get_kernel(struct thread *t, void *library, const char *symbol, uint64_t *handle) {
    struct library *l = library;
    struct kernel *k;
    CUresult r;

    code_lock();
    k = find_kernel(l, symbol);
    code_unlock();
    if (k) {
        *handle = k->name;
        return CUDA_SUCCESS;
    }
    k = new_kernel(l, symbol);
    if (!k)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = wire_library_kernel(t, k->name, l->name, symbol);
    if (r == CUDA_SUCCESS)
        *handle = add_kernel(l, k)->name;
    else
        free_kernel(k);
    return r;
}

VCUDA_EXPORT CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, pKernel && name, &l);

    if (r == CUDA_SUCCESS && strlen(name) >= VCUDA_INLINE_MAX)
        r = CUDA_ERROR_NOT_FOUND;
    return r == CUDA_SUCCESS ? get_kernel(t, l, name, (uint64_t *)pKernel) : r;
}

VCUDA_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
                                                CUlibrary lib) {
    struct listing list = {.ask = wire_library_names,
                           .find = get_kernel,
                           .name = (uint64_t)lib,
                           .handles = (uint64_t *)kernels,
                           .room = numKernels};
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, lib, kernels, &l);

    list.owner = r == CUDA_SUCCESS ? l : NULL;
    return r == CUDA_SUCCESS ? names_list(t, &list) : r;
}

/* A variable, in the thread's context: either may be NULL, but not both. */
VCUDA_EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                         const char *name) {
    uint64_t address = 0, size = 0;
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, (dptr || bytes) && name, &l);

    if (r == CUDA_SUCCESS)
        r = guest_enter(&t);
    if (r == CUDA_SUCCESS && strlen(name) >= VCUDA_INLINE_MAX)
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS && bound_find(l->bound, name, dptr, bytes))
        return CUDA_SUCCESS;
    if (r == CUDA_SUCCESS)
        r = wire_cuLibraryGetGlobal(t, &address, &size, l->name, name);
    if (r != CUDA_SUCCESS)
        return r;
    variable_note(t, &l->variables, address, size);
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

static CUresult bind_once(struct thread *t, struct library *l) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct jit jit = {0};
    struct loading how = loading(l, &jit);
    CUresult r = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    if (!l->bound)
        r = l->image.data && !l->kernels && !l->modules && !l->variables
                ? bound_load_again(t, &how, &l->image, &l->bound)
                : CUDA_ERROR_NOT_SUPPORTED;
    pthread_mutex_unlock(&lock);
    return r;
}

/* The driver knows what there is, and when; not where. */
VCUDA_EXPORT CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                          const char *name) {
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, (dptr || bytes) && name, &l);

    if (r == CUDA_SUCCESS && strlen(name) >= VCUDA_INLINE_MAX)
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS)
        r = wire_library_managed(t, l->name, name);
    if (r == CUDA_SUCCESS)
        r = bind_once(t, l);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        guest_log("__managed__ variable %s: not supported, only the GPU could reach it; use "
                  "cuMemAllocManaged, or a __device__ variable and copies",
                  name);
    if (r != CUDA_SUCCESS)
        return r;
    return bound_find(l->bound, name, dptr, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static struct module *find_module(struct library *l, uint64_t context) {
    struct module *m;

    for (m = l->modules; m && m->context != context; m = m->next)
        ;
    return m;
}

void library_forget_module(struct module *m) {
    struct library *l = m->library ? names_get(VCUDA_KIND_LIBRARY, m->library) : NULL;

    code_lock();
    for (struct module **link = l ? &l->modules : NULL; link && *link; link = &(*link)->next) {
        if (*link == m) {
            *link = m->next;
            break;
        }
    }
    code_unlock();
}

static CUresult ask_module(struct thread *t, struct library *l, struct module **out) {
    struct module *m = calloc(1, sizeof(*m)), *there, **link;
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    bool ended;

    if (m) {
        m->context = t->context;
        m->library = l->name;
        m->name = names_new(VCUDA_KIND_MODULE, m);
    }
    if (m && m->name)
        r = wire_library_module(t, m->name, l->name);
    if (r != CUDA_SUCCESS) {
        if (m && (!m->name || names_end(VCUDA_KIND_MODULE, m->name)))
            free(m);
        return r;
    }
    code_lock();
    ended = !names_get(VCUDA_KIND_MODULE, m->name); /* who ends it takes the lock then */
    there = find_module(l, m->context);
    link = there ? &there->next : &l->modules;
    if (!ended) {
        m->next = *link;
        *link = m;
    }
    code_unlock();
    *out = there ? there : m;
    return ended ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult library_module(struct thread *t, struct library *l, CUmodule *module) {
    struct module *m;
    CUresult r;

    code_lock();
    m = find_module(l, t->context);
    code_unlock();
    r = m ? CUDA_SUCCESS : ask_module(t, l, &m);
    if (r == CUDA_SUCCESS)
        *module = (CUmodule)m->name;
    return r;
}

VCUDA_EXPORT CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
    struct library *l;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = library_enter(&t, library, pMod, &l);
    return r == CUDA_SUCCESS ? library_module(t, l, pMod) : r;
}

/*
 * The address is for kernels. The host has no code at it: tables of the host's functions, which
 * native would bind to such names, are refused when the code is loaded.
 */
VCUDA_EXPORT CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library,
                                                  const char *symbol) {
    uint64_t address = 0;
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, fptr && symbol, &l);

    if (r == CUDA_SUCCESS && strlen(symbol) >= VCUDA_INLINE_MAX)
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS)
        r = wire_cuLibraryGetUnifiedFunction(t, &address, l->name, symbol);
    if (r == CUDA_SUCCESS)
        *fptr = (void *)address;
    return r;
}
