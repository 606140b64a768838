// SPDX-License-Identifier: Apache-2.0
/*
 * The linker works in the worker. Here are the caller's buffers, which it fills as it goes along,
 * and what it made, which is the caller's to read until the linker is destroyed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "code.h"
#include "cuda_calls.h"
#include "file.h"
#include "wire.h"

struct link {
    struct link *next;
    uint64_t name;
    struct jit jit;
    void *cubin;
    size_t cubin_bytes;
};

static struct link *links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct link *find(CUlinkState state) {
    struct link *l;

    pthread_mutex_lock(&lock);
    for (l = links; l && l->name != (uint64_t)state; l = l->next)
        ;
    pthread_mutex_unlock(&lock);
    return l;
}

VCUDA_EXPORT CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options,
                                      void **optionValues, CUlinkState *stateOut) {
    struct link *l;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!stateOut)
        return CUDA_ERROR_INVALID_VALUE;
    l = calloc(1, sizeof(*l));
    r = l ? jit_read(&l->jit, numOptions, options, optionValues) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        r = wire_link_create(t, &l->name, jit_info_cap(&l->jit), jit_error_cap(&l->jit),
                             l->jit.scalars, jit_scalar_bytes(&l->jit));
    if (r != CUDA_SUCCESS) {
        free(l);
        return r;
    }
    pthread_mutex_lock(&lock);
    l->next = links;
    links = l;
    pthread_mutex_unlock(&lock);
    *stateOut = (CUlinkState)l->name;
    return CUDA_SUCCESS;
}

struct input {
    struct link *link;
    CUjitInputType type;
    const char *name;
    struct jit *jit;
};

static CUresult send(struct thread *t, void *arg, uint64_t address, uint64_t bytes) {
    char answer[JIT_ANSWER_BYTES] __attribute__((aligned(8)));
    struct input *i = arg;
    uint32_t len = 0;
    CUresult r = wire_link_add(t, i->link->name, i->type, address, bytes, i->name, i->jit->scalars,
                               jit_scalar_bytes(i->jit), answer, sizeof(answer), &len);

    return r == CUDA_SUCCESS ? jit_give(&i->link->jit, answer, len) : r;
}

VCUDA_EXPORT CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data,
                                       size_t size, const char *name, unsigned int numOptions,
                                       CUjit_option *options, void **optionValues) {
    struct cuda_image image = {.data = data, .size = size};
    struct jit jit;
    struct input i = {find(state), type, name ? name : "", &jit};
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!i.link || !data || !size || strlen(i.name) >= VCUDA_INLINE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    r = jit_read(&jit, numOptions, options, optionValues);
    return r == CUDA_SUCCESS ? image_send(t, &image, send, &i) : r;
}

VCUDA_EXPORT CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                                       unsigned int numOptions, CUjit_option *options,
                                       void **optionValues) {
    struct thread *t;
    char *data;
    size_t size;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    r = file_read(path, &data, &size);
    if (r != CUDA_SUCCESS)
        return r;
    /* Only text wants the NUL after the file. */
    r = cuLinkAddData_v2(state, type, data, type == CU_JIT_INPUT_PTX ? size : size - 1, path,
                         numOptions, options, optionValues);
    free(data);
    return r;
}

CUresult linker_read(struct thread *t, uint64_t name, void *to, size_t all) {
    size_t piece = arena_stage_bytes();
    void *stage = arena_stage_take(true);
    CUresult r = CUDA_SUCCESS;

    for (size_t at = 0; at < all && r == CUDA_SUCCESS; at += piece) {
        size_t bytes = all - at < piece ? all - at : piece;

        r = wire_link_read(t, name, at, (uint64_t)stage, bytes);
        if (r == CUDA_SUCCESS)
            memcpy((char *)to + at, stage, bytes);
    }
    arena_stage_give(stage);
    return r;
}

VCUDA_EXPORT CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    char answer[JIT_ANSWER_BYTES] __attribute__((aligned(8)));
    struct link *l = find(state);
    uint64_t bytes = 0;
    uint32_t len = 0;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!l || !cubinOut)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_link_complete(t, l->name, &bytes, answer, sizeof(answer), &len);
    if (r == CUDA_SUCCESS)
        r = jit_give(&l->jit, answer, len);
    if (r != CUDA_SUCCESS)
        return r;
    free(l->cubin);
    l->cubin = bytes <= CUDA_IMAGE_MAX ? malloc(bytes + 1) : NULL;
    l->cubin_bytes = l->cubin ? bytes : 0;
    if (!l->cubin)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = linker_read(t, l->name, l->cubin, l->cubin_bytes);
    if (r != CUDA_SUCCESS)
        return r;
    *cubinOut = l->cubin;
    if (sizeOut)
        *sizeOut = l->cubin_bytes;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuLinkDestroy(CUlinkState state) {
    struct link **link, *l;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!find(state))
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_link_destroy(t, (uint64_t)state);
    pthread_mutex_lock(&lock);
    for (link = &links; *link && (*link)->name != (uint64_t)state; link = &(*link)->next)
        ;
    l = *link;
    if (l)
        *link = l->next;
    pthread_mutex_unlock(&lock);
    if (l)
        free(l->cubin);
    free(l);
    return r;
}

/* The first versions took the same arguments. */
VCUDA_EXPORT CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options,
                                   void **optionValues, CUlinkState *stateOut) {
    return cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

VCUDA_EXPORT CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                                    const char *name, unsigned int numOptions,
                                    CUjit_option *options, void **optionValues) {
    return cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

VCUDA_EXPORT CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                                    unsigned int numOptions, CUjit_option *options,
                                    void **optionValues) {
    return cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}
