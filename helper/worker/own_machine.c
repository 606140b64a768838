// SPDX-License-Identifier: Apache-2.0
/*
 * Machine code, for a library that binds the managed variables in it to memory that program and
 * worker share: of a fat binary the part that the driver would take, of a text what it makes of it.
 * What comes out is read and ended as what the linker made.
 */
#include <stdlib.h>

#include "image.h"
#include "jit.h"
#include "linker.h"
#include "cubin.h"
#include "worker.h"

/* What machine code for a device must be for. */
static bool architecture(struct worker *w, int guest_device, unsigned int *sm) {
    int major = 0, minor = 0;
    CUdevice device;

    if (worker_device(w, guest_device, &device) != CUDA_SUCCESS ||
        w->driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                       device) != CUDA_SUCCESS ||
        w->driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                       device) != CUDA_SUCCESS)
        return false;
    *sm = (unsigned int)(10 * major + minor);
    return true;
}

/* The same for all devices of the session: they are alike, or there is none. */
static bool common_architecture(struct worker *w, unsigned int *sm) {
    unsigned int other;

    if (!architecture(w, 0, sm))
        return false;
    for (int i = 1; i < w->gpu_count; i++) {
        if (!architecture(w, i, &other) || other != *sm)
            return false;
    }
    return true;
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

/* Has the driver make machine code of a text, in the context that is current. */
static CUresult link_text(struct worker *w, struct jit *jit, char **code, size_t *size) {
    size_t bytes = strnlen(*code, *size) + 1; /* what was unpacked has its NUL behind it */
    CUlinkState state;
    void *made = NULL;
    char *copy = NULL;
    CUresult r;

    r = w->driver.cuLinkCreate_v2(jit->count, jit->options, jit->values, &state);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, *code, bytes, "", 0, NULL, NULL);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuLinkComplete(state, &made, size);
    if (r == CUDA_SUCCESS) {
        copy = made ? malloc(*size) : NULL;
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

/* In the guest's context; a library belongs to none, but the linker works in one. */
static CUresult link_somewhere(struct worker *w, bool in_base, struct jit *jit, char **code,
                               size_t *size) {
    CUcontext before = NULL;
    CUresult r;

    if (!in_base)
        return link_text(w, jit, code, size);
    w->driver.cuCtxGetCurrent(&before);
    if (!w->base || w->driver.cuCtxSetCurrent(w->base) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_SUPPORTED;
    r = link_text(w, jit, code, size);
    w->driver.cuCtxSetCurrent(before);
    return r;
}

/* CUDA_ERROR_NOT_FOUND: none is in there, as in most code, which need not be read then. */
static CUresult any_variable(const char *code, size_t size) {
    struct cuda_managed *list;
    unsigned int count;
    uint64_t block;
    CUresult r = cuda_managed_list(code, size, &list, &count, &block);

    free(list);
    return r == CUDA_SUCCESS && !count ? CUDA_ERROR_NOT_FOUND : r;
}

/* The machine code of an image that was measured, with managed variables in it. */
static CUresult make(struct worker *w, const struct cuda_image *image, unsigned int sm,
                     bool in_base, struct jit *jit, char **code, size_t *size) {
    bool text;
    CUresult r = choose(image, sm, code, size, &text);

    if (r == CUDA_SUCCESS && text)
        r = memmem(*code, *size, ".managed", 8) ? link_somewhere(w, in_base, jit, code, size)
                                                : CUDA_ERROR_NOT_FOUND;
    return r == CUDA_SUCCESS ? any_variable(*code, *size) : r;
}

CUresult own_machine_code(struct worker *w, struct frame *f, struct args_machine_code *a) {
    struct cuda_image image;
    char *code = NULL;
    unsigned int sm;
    struct jit jit;
    size_t size = 0;
    void *copy;
    CUresult r;

    if (a->device < 0 ? !common_architecture(w, &sm) : !architecture(w, a->device, &sm))
        return CUDA_ERROR_NOT_SUPPORTED;
    r = jit_options(&jit, a->options, a->options_len);
    if (r == CUDA_SUCCESS)
        r = jit_image(w, a->address, a->bytes, true, &copy);
    if (r != CUDA_SUCCESS)
        return r;
    r = cuda_image_measure(copy, a->bytes, &image);
    if (r == CUDA_ERROR_INVALID_IMAGE)
        r = cuda_image_measure_text(copy, a->bytes, &image);
    if (r == CUDA_SUCCESS)
        r = make(w, &image, sm, !f->head.ctx, &jit, &code, &size);
    free(copy);
    f->owner = f->head.ctx;
    if (r == CUDA_SUCCESS)
        r = linker_of_code(code, size, &a->link);
    if (r != CUDA_SUCCESS)
        free(code);
    else
        a->made = size;
    return r;
}
