// SPDX-License-Identifier: Apache-2.0
/*
 * Code with managed variables, for a program that cannot reach the driver's: it is bound to memory
 * that program and worker share. That needs the machine code itself.
 */
#include <stdlib.h>

#include "image.h"
#include "info.h"
#include "jit.h"
#include "managed.h"
#include "memory.h"
#include "pools.h"
#include "variables.h"
#include "worker.h"

/* What machine code may be for: all devices of the session are alike, or there is none. */
static bool find_architecture(struct worker *w, unsigned int *sm) {
    *sm = 0;
    for (int i = 0; i < w->gpu_count; i++) {
        int major = 0, minor = 0;
        CUdevice device;

        if (worker_device(w, i, &device) != CUDA_SUCCESS ||
            w->driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                           device) != CUDA_SUCCESS ||
            w->driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                           device) != CUDA_SUCCESS)
            return false;
        if (*sm && *sm != (unsigned int)(10 * major + minor))
            return false;
        *sm = (unsigned int)(10 * major + minor);
    }
    return *sm != 0;
}

/* Whether one entry suits the device better: machine code first, then what is newer. */
static bool suits_better(const struct cuda_fatbin_entry *e, const struct cuda_fatbin_entry *than,
                         unsigned int sm) {
    if (e->kind == CUDA_ENTRY_CUBIN ? e->sm / 10 != sm / 10 : e->kind != CUDA_ENTRY_PTX)
        return false;
    if (e->sm > sm)
        return false;
    if (e->kind != than->kind)
        return !than->kind || e->kind == CUDA_ENTRY_CUBIN;
    return e->sm > than->sm;
}

/* The text or machine code of an image for the device: *code is the caller's to free. */
static CUresult choose(const struct cuda_image *image, unsigned int sm, char **code, size_t *size,
                       bool *text) {
    struct cuda_fatbin_entry e, best = {0};
    struct cuda_fatbin_iter iter;

    *text = image->kind == CUDA_IMAGE_PTX;
    if (image->kind != CUDA_IMAGE_FATBIN) {
        *size = image->size;
        *code = malloc(image->size);
        if (*code)
            memcpy(*code, image->data, image->size);
        return *code ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (cuda_fatbin_begin(image->data, image->size, &iter) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_IMAGE;
    while (cuda_fatbin_next(&iter, &e) == CUDA_SUCCESS) {
        if (suits_better(&e, &best, sm))
            best = e;
    }
    *text = best.kind == CUDA_ENTRY_PTX;
    return best.kind ? cuda_fatbin_unpack(&best, code, size) : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Has the driver make machine code of a text, in the context that the caller made current. */
static CUresult link_text(struct worker *w, char **code, size_t *size) {
    size_t bytes = strnlen(*code, *size) + 1; /* what was unpacked has its NUL behind it */
    CUlinkState state;
    void *made = NULL;
    char *copy = NULL;
    CUresult r;

    r = w->driver.cuLinkCreate_v2(0, NULL, NULL, &state);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, *code, bytes, "", 0, NULL, NULL);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuLinkComplete(state, &made, size);
    if (r == CUDA_SUCCESS) {
        copy = malloc(*size);
        r = copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (copy) {
        memcpy(copy, made, *size);
        free(*code);
        *code = copy;
    }
    w->driver.cuLinkDestroy(state);
    return r;
}

static CUresult make_code(struct worker *w, char **code, size_t *size) {
    CUcontext before = NULL;
    CUresult r;

    w->driver.cuCtxGetCurrent(&before);
    if (!before && (!w->base || w->driver.cuCtxSetCurrent(w->base) != CUDA_SUCCESS))
        return CUDA_ERROR_NOT_SUPPORTED;
    r = link_text(w, code, size);
    if (!before)
        w->driver.cuCtxSetCurrent(NULL);
    return r;
}

/* The machine code of an image that the guest sent: *code is the caller's to free. */
static CUresult machine_code(struct worker *w, uint64_t address, uint64_t bytes, char **code,
                             size_t *size) {
    struct cuda_image image;
    bool text = false;
    unsigned int sm;
    void *copy;
    CUresult r;

    *code = NULL;
    if (!find_architecture(w, &sm))
        return CUDA_ERROR_NOT_SUPPORTED;
    r = jit_image(w, address, bytes, true, &copy);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuda_image_measure(copy, bytes, &image);
    if (r == CUDA_ERROR_INVALID_IMAGE)
        r = cuda_image_measure_text(copy, bytes, &image);
    if (r == CUDA_SUCCESS)
        r = choose(&image, sm, code, size, &text);
    free(copy);
    if (r == CUDA_SUCCESS && text)
        r = make_code(w, code, size);
    if (r == CUDA_SUCCESS)
        return r;
    free(*code);
    *code = NULL;
    return r;
}

static CUresult put(struct args_library_variables *a, const struct cuda_managed *m) {
    size_t name = strlen(m->name) + 1;
    struct vcuda_variable v = {
        .offset = m->offset, .bytes = m->size, .name_bytes = (uint32_t)VCUDA_PAD8(name)};
    uint32_t room = a->variables_cap - a->variables_len;
    char *at = (char *)a->variables + a->variables_len;

    if (name > VCUDA_INLINE_MAX || room < sizeof(v) + v.name_bytes)
        return CUDA_ERROR_NOT_SUPPORTED;
    memcpy(at, &v, sizeof(v));
    memset(at + sizeof(v), 0, v.name_bytes);
    memcpy(at + sizeof(v), m->name, name);
    a->variables_len += (uint32_t)sizeof(v) + v.name_bytes;
    return CUDA_SUCCESS;
}

CUresult own_library_variables(struct worker *w, struct frame *f,
                               struct args_library_variables *a) {
    struct cuda_managed *list = NULL;
    unsigned int count = 0;
    size_t size = 0;
    char *code;
    CUresult r = machine_code(w, a->address, a->bytes, &code, &size);

    (void)f;
    a->variables_len = 0;
    if (r == CUDA_SUCCESS)
        r = cuda_managed_list(code, size, &list, &count, &a->total);
    for (unsigned int i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = put(a, &list[i]);
    free(list);
    free(code);
    return r;
}

static CUresult load(struct worker *w, const char *code, size_t size, CUlibrary *library) {
    struct memory_part part = {
        .bytes = memory_limited() ? memory_grains(variables_bytes(code, size)) : 0};
    CUresult r;

    if (!pools_take_any(w, part.bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0);
    if (r == CUDA_SUCCESS)
        memory_hold(MEMORY_CODE, (uint64_t)*library, &part);
    else
        memory_give_back(part.bytes);
    return r;
}

CUresult own_library_load_bound(struct worker *w, struct frame *f,
                                struct args_library_load_bound *a) {
    size_t size = 0;
    char *code;
    CUresult r;

    (void)f;
    if (!a->room || !regions_hold(w, a->base, a->room))
        return CUDA_ERROR_INVALID_VALUE;
    r = machine_code(w, a->address, a->bytes, &code, &size);
    if (r == CUDA_SUCCESS)
        r = cuda_managed_bind(code, size, (void *)a->base, a->room);
    if (r == CUDA_SUCCESS)
        r = load(w, code, size, &a->library);
    free(code);
    return r;
}
