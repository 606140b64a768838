// SPDX-License-Identifier: Apache-2.0
/*
 * Binding needs machine code. What is none the worker makes it of (a fat binary's best part, what
 * the driver's compiler makes of a text); here the addresses are written into it. Whether there is
 * anything to bind is seen here, but for compressed parts of fat binaries.
 */
#define _GNU_SOURCE
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "code.h"
#include "cubin.h"
#include "managed.h"
#include "wire.h"

struct bound {
    void *block;
    struct cuda_managed *variables; /* with names of their own */
    unsigned int count;
};

void bound_end(struct bound *b) {
    if (b && b->block)
        arena_free(b->block, ARENA_VARIABLES);
    if (b)
        b->block = NULL;
}

void bound_free(struct bound *b) {
    if (!b)
        return;
    bound_end(b);
    for (unsigned int i = 0; i < b->count; i++)
        free((char *)b->variables[i].name);
    free(b->variables);
    free(b);
}

bool bound_find(const struct bound *b, const char *name, CUdeviceptr *dptr, size_t *bytes) {
    for (unsigned int i = 0; b && i < b->count; i++) {
        const struct cuda_managed *v = &b->variables[i];

        if (strcmp(v->name, name))
            continue;
        if (dptr)
            *dptr = (CUdeviceptr)b->block + v->offset;
        if (bytes)
            *bytes = v->size;
        return true;
    }
    return false;
}

static bool text_may(const void *text, size_t bytes) {
    return memmem(text, bytes, ".managed", 8);
}

static bool code_may(const void *code, size_t bytes) {
    struct cuda_managed *list;
    unsigned int count = 0;
    uint64_t block;

    if (cuda_managed_list(code, bytes, &list, &count, &block) == CUDA_SUCCESS)
        free(list);
    return count;
}

static bool entry_may(const struct cuda_fatbin_entry *e) {
    if (e->kind != CUDA_ENTRY_PTX && e->kind != CUDA_ENTRY_CUBIN)
        return false;
    if (e->compression != CUDA_COMPRESSION_NONE)
        return true;
    return e->kind == CUDA_ENTRY_PTX ? text_may(e->payload, e->payload_size)
                                     : code_may(e->payload, e->payload_size);
}

/* False: it has no managed variable. */
static bool image_may(const struct cuda_image *image) {
    struct cuda_fatbin_entry e;
    struct cuda_fatbin_iter i;

    if (image->kind == CUDA_IMAGE_PTX)
        return text_may(image->data, image->size);
    if (image->kind == CUDA_IMAGE_CUBIN)
        return code_may(image->data, image->size);
    if (cuda_fatbin_begin(image->data, image->size, &i) != CUDA_SUCCESS)
        return false;
    while (cuda_fatbin_next(&i, &e) == CUDA_SUCCESS) {
        if (entry_may(&e))
            return true;
    }
    return false;
}

/* Code on its way to be bound. */
struct attempt {
    const struct loading *how;
    struct jit *jit;
    bool loaded;     /* as it is */
    bool told;       /* the program wants to hear what the compiler says of the text */
    CUresult status; /* of the last load */
    char *code;
    size_t bytes;
};

static CUresult load_staged(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    struct attempt *a = arg;
    CUresult r = a->how->load(t, a->how, a->jit, address, bytes, &a->status);

    a->loaded = r == CUDA_SUCCESS && a->status == CUDA_SUCCESS;
    return r == CUDA_SUCCESS ? a->status : r;
}

/* Machine code of what lies in the arena: CUDA_SUCCESS only if it has managed variables. */
static CUresult fetch(struct thread *t, struct attempt *a, uint64_t address, uint64_t bytes) {
    uint64_t link = 0, made = 0;
    CUresult r = wire_machine_code(t, &link, a->how->device, address, bytes, a->how->jit->scalars,
                                   jit_scalar_bytes(a->how->jit), &made);

    if (r != CUDA_SUCCESS)
        return r;
    a->code = made <= CUDA_IMAGE_MAX ? malloc(made) : NULL;
    a->bytes = made;
    r = a->code ? linker_read(t, link, a->code, made) : CUDA_ERROR_OUT_OF_MEMORY;
    wire_link_destroy(t, link);
    return r;
}

/* Loads what cannot be bound as it is, while it lies there. */
static CUresult fetch_or_load(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    struct attempt *a = arg;
    CUresult r = fetch(t, a, address, bytes);

    if (r == VCUDA_ERROR_LOST || a->loaded || (r == CUDA_SUCCESS && !a->told))
        return r;
    return load_staged(t, a, address, bytes);
}

/* Machine code in a->code, if the image has variables to bind; or what it was loaded with. */
static CUresult look(struct thread *t, struct attempt *a, const struct cuda_image *image) {
    if (image->kind != CUDA_IMAGE_CUBIN)
        return image_send(t, image, fetch_or_load, a);
    a->code = malloc(image->size);
    a->bytes = image->size;
    if (!a->code)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(a->code, image->data, image->size);
    return CUDA_SUCCESS;
}

/* The names are those of the code until here. */
static bool keep_names(struct bound *b) {
    bool all = true;

    for (unsigned int i = 0; i < b->count; i++) {
        b->variables[i].name = strdup(b->variables[i].name);
        all &= b->variables[i].name != NULL;
    }
    return all;
}

static CUresult bind(struct thread *t, struct attempt *a, struct bound **out) {
    struct bound *b = calloc(1, sizeof(*b));
    uint64_t bytes = 0;
    CUresult r;

    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = cuda_managed_list(a->code, a->bytes, &b->variables, &b->count, &bytes);
    if (r != CUDA_SUCCESS)
        b->count = 0;
    else if (!keep_names(b))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        r = bytes ? managed_alloc(t, bytes, ARENA_VARIABLES, 0, &b->block)
                  : CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS)
        r = cuda_managed_bind(a->code, a->bytes, b->block, bytes);
    if (r == CUDA_SUCCESS)
        *out = b;
    else
        bound_free(b);
    return r;
}

/* Loads the code bound. False: it cannot be, and another load may find why. */
static bool load_bound(struct thread *t, struct attempt *a, struct bound **out, CUresult *r) {
    struct cuda_image code = {.kind = CUDA_IMAGE_CUBIN, .data = a->code, .size = a->bytes};
    struct jit none = {0};

    *r = bind(t, a, out);
    if (*r == CUDA_ERROR_OUT_OF_MEMORY || *r == VCUDA_ERROR_LOST)
        return true;
    if (*r == CUDA_SUCCESS && a->loaded)
        *r = a->how->unload(t, a->how->name);
    else if (*r != CUDA_SUCCESS)
        return false;
    if (*r == CUDA_SUCCESS) {
        a->loaded = false;
        a->status = CUDA_SUCCESS;
        a->jit = &none;
        *r = image_send(t, &code, load_staged, a);
        a->jit = a->how->jit;
    }
    if (*r == CUDA_SUCCESS)
        return true;
    bound_free(*out);
    *out = NULL;
    return a->status == CUDA_SUCCESS; /* an error of another call than this one */
}

CUresult bound_load(struct thread *t, const struct loading *l, const struct cuda_image *image,
                    struct bound **bound) {
    struct attempt a = {.how = l, .jit = l->jit};
    CUresult r;

    *bound = NULL;
    if (!image_may(image))
        return image_send(t, image, load_staged, &a);
    a.told = image->kind != CUDA_IMAGE_CUBIN && jit_wants_answer(l->jit);
    r = look(t, &a, image);
    if (r == CUDA_SUCCESS && a.code && !load_bound(t, &a, bound, &r)) {
        guest_log("__managed__ variables: not supported in this code, only the GPU can reach them");
        r = a.loaded ? CUDA_SUCCESS : image_send(t, image, load_staged, &a);
    }
    if (r != CUDA_SUCCESS && a.loaded)
        l->unload(t, l->name);
    free(a.code);
    return r;
}

CUresult bound_load_again(struct thread *t, const struct loading *l, const struct cuda_image *image,
                          struct bound **bound) {
    struct attempt a = {.how = l, .jit = l->jit, .loaded = true};
    CUresult r = look(t, &a, image);

    *bound = NULL;
    if (r == CUDA_SUCCESS && !load_bound(t, &a, bound, &r)) {
        if (!a.loaded)
            image_send(t, image, load_staged, &a);
        r = CUDA_ERROR_NOT_SUPPORTED;
    } else if (r != CUDA_SUCCESS && r != VCUDA_ERROR_LOST && r != CUDA_ERROR_OUT_OF_MEMORY) {
        r = CUDA_ERROR_NOT_SUPPORTED;
    }
    free(a.code);
    return r;
}
