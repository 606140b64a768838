// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <stdlib.h>

#include "jit.h"
#include "worker.h"

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

bool machine_architecture(struct worker *w, int guest_device, unsigned int *sm) {
    unsigned int other;

    if (guest_device >= 0)
        return architecture(w, guest_device, sm);
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

/* Of a fat binary; its kind is 0 if there is none. */
static CUresult best_entry(const struct cuda_image *image, unsigned int sm,
                           struct cuda_fatbin_entry *best) {
    struct cuda_fatbin_entry e;
    struct cuda_fatbin_iter iter;

    best->kind = best->sm = 0;
    if (cuda_fatbin_begin(image->data, image->size, &iter) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_IMAGE;
    while (cuda_fatbin_next(&iter, &e) == CUDA_SUCCESS) {
        if (suits_better(&e, best, sm))
            *best = e;
    }
    return CUDA_SUCCESS;
}

bool machine_is_text(const struct cuda_image *image, unsigned int sm) {
    struct cuda_fatbin_entry best;

    if (image->kind != CUDA_IMAGE_FATBIN)
        return image->kind == CUDA_IMAGE_PTX;
    return best_entry(image, sm, &best) == CUDA_SUCCESS && best.kind == CUDA_ENTRY_PTX;
}

CUresult machine_choose(const struct cuda_image *image, unsigned int sm, char **code, size_t *size,
                        bool *text) {
    struct cuda_fatbin_entry best;
    CUresult r;

    *text = image->kind == CUDA_IMAGE_PTX;
    if (image->kind != CUDA_IMAGE_FATBIN) {
        *size = image->size;
        *code = malloc(image->size);
        if (*code)
            memcpy(*code, image->data, image->size);
        return *code ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    r = best_entry(image, sm, &best);
    if (r != CUDA_SUCCESS)
        return r;
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

CUresult machine_link(struct worker *w, bool in_base, struct jit *jit, char **code, size_t *size) {
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
