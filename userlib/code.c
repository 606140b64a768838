// SPDX-License-Identifier: Apache-2.0
/* What modules and libraries share: images on their way, lists of names. */
#include "code.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "counters.h"
#include "limbo.h"
#include "ranges.h"

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

void code_lock(void) {
    pthread_mutex_lock(&lists);
}

void code_unlock(void) {
    pthread_mutex_unlock(&lists);
}

CUresult image_send(struct thread *t, const struct cuda_image *image,
                    CUresult (*send)(struct thread *t, void *arg, uint64_t address, uint64_t bytes),
                    void *arg) {
    void *stage;
    CUresult r = arena_alloc(t, image->size, ARENA_STAGING, 0, &stage);

    if (r != CUDA_SUCCESS)
        return r;
    memcpy(stage, image->data, image->size);
    COUNT(bytes_image, image->size);
    r = send(t, arg, (uint64_t)stage, image->size);
    arena_free(stage, ARENA_STAGING);
    return r;
}

/* One portion: *count names were in it. */
static CUresult take_names(struct thread *t, const struct listing *l, const char *names,
                           uint32_t len, uint32_t first, uint32_t *count) {
    CUresult r = CUDA_SUCCESS;

    *count = 0;
    for (uint32_t at = 0; at < len && r == CUDA_SUCCESS;) {
        size_t size = strnlen(names + at, len - at) + 1;
        uint32_t index = first + (*count)++;

        if (size > len - at)
            return VCUDA_ERROR_LOST;
        if (index < l->room)
            r = l->find(t, l->owner, names + at, &l->handles[index]);
        at += (uint32_t)size;
    }
    return r;
}

CUresult names_list(struct thread *t, const struct listing *l) {
    const uint32_t cap = VCUDA_REC_MAX - 1024;
    char *names = malloc(cap);
    uint32_t first = 0, count = 1;
    CUresult r = names ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    while (r == CUDA_SUCCESS && count && first < l->room) {
        uint32_t len = 0;

        r = l->ask(t, l->name, first, names, cap, &len);
        if (r == CUDA_SUCCESS)
            r = take_names(t, l, names, len, first, &count);
        first += count;
    }
    free(names);
    return r;
}

void variable_note(struct thread *t, struct variable **list, uint64_t address, uint64_t bytes) {
    struct variable *v;
    struct range range;

    if (!bytes || ranges_find(address, 1, &range) ||
        !ranges_add(RANGE_PLAIN, address, bytes, t->context))
        return;
    v = calloc(1, sizeof(*v));
    if (!v || !ranges_find(address, 1, &range)) {
        free(v);
        return;
    }
    v->address = address;
    v->id = range.id;
    code_lock();
    v->next = *list;
    *list = v;
    code_unlock();
}

/* A context that ended has taken its ranges along: what is there now is somebody else's. */
void variables_free(struct variable *list) {
    while (list) {
        struct variable *next = list->next;

        ranges_end(list->address, list->id);
        free(list);
        list = next;
    }
}

static int module_is_of(const void *object, const void *arg) {
    return ((const struct module *)object)->context == *(const uint64_t *)arg;
}

/* A kernel's function; a module's goes with its module. */
static int function_is_of(const void *object, const void *arg) {
    const struct function *f = object;

    return f->kernel && f->context == *(const uint64_t *)arg;
}

/* A kernel's, whose name has ended. */
static void unlink_function(struct function *f) {
    struct function **link;
    struct kernel *k = names_get(VCUDA_KIND_KERNEL, f->kernel);

    code_lock();
    for (link = k ? &k->functions : NULL; link && *link; link = &(*link)->next) {
        if (*link == f) {
            *link = f->next;
            break;
        }
    }
    code_unlock();
    f->next = NULL;
}

static void free_function(void *function) {
    functions_free(function);
}

/* What a context takes along, beside calls of other threads. */
static void forget_function(void *function) {
    unlink_function(function);
    limbo_put(function, free_function);
}

static void forget_module(void *module) {
    module_end(module);
    limbo_put(module, module_free);
}

/* What the program unloads: it makes no calls about that any more. */
static void drop_function(void *function) {
    unlink_function(function);
    functions_free(function);
}

static int function_is_of_library(const void *object, const void *arg) {
    const struct function *f = object;
    const struct kernel *k = f->kernel ? names_get(VCUDA_KIND_KERNEL, f->kernel) : NULL;

    return k && k->library == *(const uint64_t *)arg;
}

static int module_is_of_library(const void *object, const void *arg) {
    return ((const struct module *)object)->library == *(const uint64_t *)arg;
}

void code_forget_library(uint64_t library) {
    names_end_if(VCUDA_KIND_FUNCTION, function_is_of_library, &library, drop_function);
    names_end_if(VCUDA_KIND_MODULE, module_is_of_library, &library, module_drop);
}

void code_forget_context(uint64_t context) {
    names_end_if(VCUDA_KIND_FUNCTION, function_is_of, &context, forget_function);
    names_end_if(VCUDA_KIND_MODULE, module_is_of, &context, forget_module);
}
