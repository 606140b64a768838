// SPDX-License-Identifier: Apache-2.0
/*
 * Machine code, for a library that binds the managed variables in it to memory that program and
 * worker share. What comes out is read and ended as what the linker made.
 */
#include <stdlib.h>

#include "jit.h"
#include "linker.h"
#include "machine.h"
#include "cubin.h"
#include "worker.h"

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
    CUresult r = machine_choose(image, sm, code, size, &text);

    if (r == CUDA_SUCCESS && text)
        r = memmem(*code, *size, ".managed", 8) ? machine_link(w, in_base, jit, code, size)
                                                : CUDA_ERROR_NOT_FOUND;
    return r == CUDA_SUCCESS ? any_variable(*code, *size) : r;
}

CUresult own_machine_code(struct worker *w, struct frame *f, struct args_machine_code *a) {
    struct cuda_image image;
    char *code = NULL;
    unsigned int sm;
    struct jit jit;
    size_t size = 0;
    CUresult r;

    if (!machine_architecture(w, a->device, &sm))
        return CUDA_ERROR_NOT_SUPPORTED;
    r = jit_options(&jit, a->options, a->options_len);
    if (r == CUDA_SUCCESS)
        r = jit_image(w, a->address, a->bytes, true, &image);
    if (r != CUDA_SUCCESS)
        return r;
    r = make(w, &image, sm, !f->head.ctx, &jit, &code, &size);
    free((void *)image.data);
    f->owner = f->head.ctx;
    if (r == CUDA_SUCCESS)
        r = linker_of_code(code, size, &a->link);
    if (r != CUDA_SUCCESS)
        free(code);
    else
        a->made = size;
    return r;
}
