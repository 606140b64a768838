// SPDX-License-Identifier: Apache-2.0
/*
 * The program could not touch the memory that the driver has for a managed variable, which is the
 * worker's. So code that has some is loaded anew when the first is asked for, bound to memory of
 * the arena. The runtime asks right after it loaded the code: nothing was had of it by then.
 */
#include "bound.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "code.h"
#include "cuda_calls.h"
#include "wire.h"

/* For what one answer of the worker can hold. */
#define LIST_BYTES (VCUDA_REC_MAX - 1024)

struct bound {
    void *block;
    uint64_t bytes;
    uint32_t list_bytes;
    char list[]; /* of struct vcuda_variable, as the worker told them */
};

void bound_free(struct bound *b) {
    if (b)
        arena_free(b->block, ARENA_VARIABLES);
    free(b);
}

bool bound_find(const struct bound *b, const char *name, CUdeviceptr *dptr, size_t *bytes) {
    struct vcuda_variable v;

    for (uint32_t at = 0; b && at < b->list_bytes; at += sizeof(v) + v.name_bytes) {
        memcpy(&v, b->list + at, sizeof(v));
        if (strcmp(b->list + at + sizeof(v), name))
            continue;
        if (dptr)
            *dptr = (CUdeviceptr)b->block + v.offset;
        if (bytes)
            *bytes = v.bytes;
        return true;
    }
    return false;
}

/* Whether the worker's list is one. */
static bool is_list(const struct bound *b) {
    struct vcuda_variable v;
    uint32_t at = 0;

    while (b->list_bytes - at >= sizeof(v)) {
        memcpy(&v, b->list + at, sizeof(v));
        at += sizeof(v);
        if (v.name_bytes > b->list_bytes - at || v.offset > b->bytes ||
            v.bytes > b->bytes - v.offset || !memchr(b->list + at, 0, v.name_bytes))
            return false;
        at += v.name_bytes;
    }
    return at == b->list_bytes;
}

static CUresult ask(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    struct bound *b = arg;

    return wire_library_variables(t, address, bytes, &b->bytes, b->list, LIST_BYTES,
                                  &b->list_bytes);
}

struct load {
    const struct library *library;
    const struct bound *bound; /* NULL: as it was at first */
};

static CUresult send(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    char log[JIT_ANSWER_BYTES] __attribute__((aligned(8)));
    const struct load *l = arg;
    struct jit jit = {0};
    uint32_t len = 0;
    CUresult r;

    if (l->bound)
        return wire_library_load_bound(t, l->library->name, address, bytes,
                                       (uint64_t)l->bound->block, l->bound->bytes);
    r = wire_library_load(t, l->library->name, address, bytes, 0, 0, jit.scalars, 0, log,
                          sizeof(log), &len);
    return r == CUDA_SUCCESS ? jit_give(&jit, log, len) : r;
}

/* Loads the code anew. Where it cannot be bound it is as it was. */
static CUresult load_again(struct thread *t, struct library *l, struct bound *b) {
    struct load load = {l, b};
    CUresult r = wire_cuLibraryUnload(t, l->name);

    if (r != CUDA_SUCCESS)
        return r;
    r = image_send(t, &l->image, send, &load);
    if (r == CUDA_SUCCESS)
        return r;
    load.bound = NULL;
    image_send(t, &l->image, send, &load);
    return r;
}

/* Under the lock: b is the library's on success. */
static CUresult bind(struct thread *t, struct library *l, struct bound *b) {
    CUresult r;

    if (!l->image.data || l->kernels || l->modules || l->variables)
        return CUDA_ERROR_NOT_SUPPORTED;
    r = image_send(t, &l->image, ask, b);
    if (r != CUDA_SUCCESS) /* the driver found the code good, but nothing can be bound in it */
        return r == VCUDA_ERROR_LOST || r == CUDA_ERROR_OUT_OF_MEMORY ? r
                                                                      : CUDA_ERROR_NOT_SUPPORTED;
    if (b->list_bytes > LIST_BYTES || !is_list(b))
        return VCUDA_ERROR_LOST;
    if (!b->bytes)
        return CUDA_ERROR_NOT_SUPPORTED;
    r = arena_alloc(t, b->bytes, ARENA_VARIABLES, 0, &b->block);
    if (r != CUDA_SUCCESS)
        return r;
    r = load_again(t, l, b);
    if (r == CUDA_SUCCESS)
        l->bound = b;
    else
        arena_free(b->block, ARENA_VARIABLES);
    return r;
}

static CUresult bind_once(struct thread *t, struct library *l) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct bound *b = calloc(1, sizeof(*b) + LIST_BYTES);
    CUresult r = b ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    pthread_mutex_lock(&lock);
    if (r == CUDA_SUCCESS && !l->bound) {
        r = bind(t, l, b);
        if (r == CUDA_SUCCESS)
            b = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(b);
    return r;
}

VCUDA_EXPORT CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                          const char *name) {
    struct library *l;
    struct thread *t;
    CUresult r = library_enter(&t, library, (dptr || bytes) && name, &l);

    if (r == CUDA_SUCCESS && strlen(name) >= VCUDA_INLINE_MAX)
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS && !l->bound) {
        r = wire_library_managed(t, l->name, name);
        if (r == CUDA_SUCCESS)
            r = bind_once(t, l);
        if (r == CUDA_ERROR_NOT_SUPPORTED)
            guest_log("__managed__ variable %s: not supported, only the GPU could reach it; use "
                      "cuMemAllocManaged, or a __device__ variable and copies",
                      name);
    }
    if (r != CUDA_SUCCESS)
        return r;
    return bound_find(l->bound, name, dptr, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
