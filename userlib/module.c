// SPDX-License-Identifier: Apache-2.0
/* Modules and their functions. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "barrier.h"
#include "counters.h"
#include "cuda_calls.h"
#include "guest.h"
#include "image.h"
#include "info.h"
#include "wire.h"

/* What the caller wants of the JIT: scalars that travel, and buffers that are filled here. */
struct jit {
    struct vcuda_jit_option scalars[VCUDA_JIT_OPTIONS_MAX];
    uint32_t scalar_count;
    char *info, *error;
    uint32_t info_size, error_size;
    void **info_size_out, **error_size_out, **wall_out;
};

static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t log_size(void *value) {
    size_t size = (unsigned int)(uintptr_t)value;

    return size < VCUDA_JIT_LOG_MAX / 2 ? (uint32_t)size : VCUDA_JIT_LOG_MAX / 2;
}

/* The value of an option sits in the pointer-sized element itself, as the API has it. */
static CUresult read_options(struct jit *jit, unsigned int count, const CUjit_option *options,
                             void **values) {
    for (unsigned int i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_size = log_size(values[i]);
            jit->info_size_out = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_size = log_size(values[i]);
            jit->error_size_out = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            jit->wall_out = &values[i];
            break;
        case CU_JIT_GLOBAL_SYMBOL_NAMES:
        case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
        case CU_JIT_GLOBAL_SYMBOL_COUNT:
        case CU_JIT_REFERENCED_KERNEL_NAMES:
        case CU_JIT_REFERENCED_VARIABLE_NAMES:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS ||
                jit->scalar_count == VCUDA_JIT_OPTIONS_MAX)
                return CUDA_ERROR_INVALID_VALUE;
            jit->scalars[jit->scalar_count++] =
                (struct vcuda_jit_option){options[i], 0, (uint64_t)(uintptr_t)values[i]};
        }
    }
    return CUDA_SUCCESS;
}

/* Gives the logs and numbers of a load to the caller, also of one that failed. */
static CUresult give_logs(struct jit *jit, const char *answer, uint32_t len) {
    const struct vcuda_module_log *log = (const void *)answer;
    const char *text = (const char *)(log + 1);
    uint32_t room = len - (uint32_t)sizeof(*log);

    if (len < sizeof(*log) || log->info_bytes > room || log->error_bytes > room - log->info_bytes ||
        log->info_bytes > jit->info_size || log->error_bytes > jit->error_size)
        return VCUDA_ERROR_LOST;
    if (jit->info)
        memcpy(jit->info, text, log->info_bytes);
    if (jit->error)
        memcpy(jit->error, text + log->info_bytes, log->error_bytes);
    if (jit->info_size_out)
        *jit->info_size_out = (void *)(uintptr_t)log->info_bytes;
    if (jit->error_size_out)
        *jit->error_size_out = (void *)(uintptr_t)log->error_bytes;
    if (jit->wall_out)
        memcpy(jit->wall_out, &log->wall_ms, sizeof(log->wall_ms));
    return (CUresult)log->status;
}

static uint64_t new_module(const struct thread *t) {
    struct module *m = calloc(1, sizeof(*m));

    if (!m)
        return 0;
    m->context = t->context;
    m->name = names_new(VCUDA_KIND_MODULE, m);
    if (m->name)
        return m->name;
    free(m);
    return 0;
}

/* Through the arena: the image is copied there once, and once by the worker, who must own it. */
static CUresult load(struct thread *t, const struct cuda_image *image, struct jit *jit,
                     CUmodule *module) {
    char answer[sizeof(struct vcuda_module_log) + VCUDA_JIT_LOG_MAX] __attribute__((aligned(8)));
    uint64_t name = new_module(t);
    uint32_t len = 0;
    void *stage;
    CUresult r;

    if (!name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = arena_alloc(t, image->size, 0, &stage);
    if (r == CUDA_SUCCESS) {
        memcpy(stage, image->data, image->size);
        COUNT(bytes_image, image->size);
        r = wire_module_load(t, name, (uint64_t)stage, image->size, jit->info ? jit->info_size : 0,
                             jit->error ? jit->error_size : 0, jit->scalars,
                             jit->scalar_count * (uint32_t)sizeof(jit->scalars[0]), answer,
                             sizeof(answer), &len);
        if (r == CUDA_SUCCESS)
            r = give_logs(jit, answer, len);
        arena_free(stage);
    }
    if (r == CUDA_SUCCESS)
        *module = (CUmodule)name;
    else
        free(names_end(VCUDA_KIND_MODULE, name));
    return r;
}

VCUDA_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                         unsigned int numOptions, CUjit_option *options,
                                         void **optionValues) {
    struct jit jit = {0};
    struct cuda_image measured;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!module || !image || (numOptions && (!options || !optionValues)))
        return CUDA_ERROR_INVALID_VALUE;
    r = read_options(&jit, numOptions, options, optionValues);
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

/* All of a file, with a NUL after it; the caller frees. */
static CUresult read_file(const char *path, char **data, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    size_t done = 0;

    *data = NULL;
    if (fd < 0)
        return errno == ENOENT ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_OPERATING_SYSTEM;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        *data = malloc((size_t)st.st_size + 1);
    while (*data && done < (size_t)st.st_size) {
        ssize_t n = read(fd, *data + done, (size_t)st.st_size - done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(fd);
    if (!*data)
        return CUDA_ERROR_OPERATING_SYSTEM;
    (*data)[done] = 0;
    *size = done + 1;
    return CUDA_SUCCESS;
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
    r = read_file(fname, &data, &size);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuda_image_measure(data, size, &measured);
    if (r == CUDA_SUCCESS)
        r = load(t, &measured, &jit, module);
    free(data);
    return r;
}

static void free_functions(struct function *f) {
    while (f) {
        struct function *next = f->next;

        names_end(VCUDA_KIND_FUNCTION, f->name);
        free(f->symbol);
        free(f->param);
        free(f);
        f = next;
    }
}

static void free_module(void *object) {
    struct module *m = object;

    if (m)
        free_functions(m->functions);
    free(m);
}

static int module_is_of(const void *object, const void *arg) {
    return ((const struct module *)object)->context == *(const uint64_t *)arg;
}

void module_forget_context(uint64_t context) {
    names_end_if(VCUDA_KIND_MODULE, module_is_of, &context, free_module);
}

VCUDA_EXPORT CUresult cuModuleUnload(CUmodule hmod) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_MODULE, hmod);
    if (r != CUDA_SUCCESS)
        return r;
    r = wire_cuModuleUnload(t, (uint64_t)hmod);
    if (r == CUDA_SUCCESS)
        free_module(names_end(VCUDA_KIND_MODULE, (uint64_t)hmod));
    return r;
}

static CUresult take_layout(struct function *f, const struct vcuda_function_info *info,
                            uint32_t len) {
    if (len < sizeof(*info) || info->params > VCUDA_PARAMS_MAX ||
        len < sizeof(*info) + info->params * sizeof(info->param[0]))
        return VCUDA_ERROR_LOST;
    f->params = info->params;
    f->max_dynamic_shared = info->max_dynamic_shared;
    f->max_threads = info->max_threads;
    f->param = calloc(f->params + 1, sizeof(*f->param));
    if (!f->param)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < f->params; i++) {
        uint64_t end = (uint64_t)info->param[i].offset + info->param[i].size;

        if (end > VCUDA_PARAM_BYTES_MAX)
            return VCUDA_ERROR_LOST;
        f->param[i].offset = info->param[i].offset;
        f->param[i].size = info->param[i].size;
        if (end > f->param_bytes)
            f->param_bytes = (uint32_t)end;
    }
    return CUDA_SUCCESS;
}

static CUresult ask_function(struct thread *t, struct module *m, const char *symbol,
                             struct function **out) {
    char answer[sizeof(struct vcuda_function_info) + VCUDA_PARAMS_MAX * sizeof(struct vcuda_param)]
        __attribute__((aligned(8)));
    struct function *f = calloc(1, sizeof(*f));
    uint32_t len = 0;
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

    if (f) {
        f->module = m->name;
        f->symbol = strdup(symbol);
        f->name = f->symbol ? names_new(VCUDA_KIND_FUNCTION, f) : 0;
    }
    if (f && f->name)
        r = wire_module_function(t, f->name, m->name, symbol, answer, sizeof(answer), &len);
    if (r == CUDA_SUCCESS)
        r = take_layout(f, (const void *)answer, len);
    if (r == CUDA_SUCCESS) {
        f->next = m->functions;
        m->functions = f;
        *out = f;
    } else if (f) {
        f->next = NULL;
        free_functions(f);
    }
    return r;
}

/* The same name gives the same handle, as native. */
VCUDA_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    struct function *f;
    struct module *m;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!hfunc || !name || strlen(name) >= VCUDA_INLINE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    m = names_get(VCUDA_KIND_MODULE, (uint64_t)hmod);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&functions_lock);
    for (f = m->functions; f && strcmp(f->symbol, name); f = f->next)
        ;
    r = f ? CUDA_SUCCESS : ask_function(t, m, name, &f);
    pthread_mutex_unlock(&functions_lock);
    if (r == CUDA_SUCCESS)
        *hfunc = (CUfunction)f->name;
    return r;
}

VCUDA_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                                           const char *name) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!name || strlen(name) >= VCUDA_INLINE_MAX || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_check(VCUDA_KIND_MODULE, hmod);
    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuModuleGetGlobal_v2(t, (uint64_t *)dptr, (uint64_t *)bytes, (uint64_t)hmod, name);
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

VCUDA_EXPORT CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    struct function *f;
    CUresult r = enter_function(hfunc, hmod, &f);

    if (r == CUDA_SUCCESS)
        *hmod = (CUmodule)f->module;
    return r;
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

    if (r != CUDA_SUCCESS)
        return r;
    if (paramIndex >= f->params)
        return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = f->param[paramIndex].offset;
    if (paramSize)
        *paramSize = f->param[paramIndex].size;
    return CUDA_SUCCESS;
}

/* Remembered, since a launch that asks for more is refused at once. */
VCUDA_EXPORT CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    struct function *f;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = enter_function(hfunc, hfunc, &f);
    if (r == CUDA_SUCCESS)
        r = wire_cuFuncSetAttribute(t, (uint64_t)hfunc, attrib, value);
    if (r == CUDA_SUCCESS && attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        vcuda_store_once(&f->max_dynamic_shared, (uint32_t)value);
    return r;
}
