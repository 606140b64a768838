// SPDX-License-Identifier: Apache-2.0
/* Context-local storage: cudart keeps its state of a context in it. This table has no size. */
#include "export/locals.h"

#include <pthread.h>
#include <stdlib.h>

#include "export/driver.h"
#include "export/tables.h"

/* The storage that belongs to no context. */
#define NO_CONTEXT UINT64_MAX

typedef void (*end_function)(CUcontext context, void *key, void *value);

struct local {
    struct local *next;
    uint64_t context;
    void *key;
    void *value;
    end_function end;
};

static struct local *locals;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult resolve(CUcontext context, uint64_t *name) {
    CUresult r = export_ready();

    if (r != CUDA_SUCCESS)
        return r;
    *name = (uint64_t)context;
    return *name == NO_CONTEXT ? CUDA_SUCCESS : export_context(context, name);
}

/* Under the lock: where the value hangs, or the end of the list. */
static struct local **find(uint64_t context, const void *key) {
    struct local **link;

    for (link = &locals; *link; link = &(*link)->next) {
        if ((*link)->context == context && (*link)->key == key)
            break;
    }
    return link;
}

static CUresult put(CUcontext context, void *key, void *value, end_function end) {
    struct local *l = calloc(1, sizeof(*l)), **link;
    uint64_t name;
    CUresult r = l ? resolve(context, &name) : CUDA_ERROR_OUT_OF_MEMORY;

    if (r != CUDA_SUCCESS) {
        free(l);
        return r;
    }
    pthread_mutex_lock(&lock);
    link = find(name, key);
    if (*link) {
        r = CUDA_ERROR_INVALID_HANDLE;
    } else {
        *l = (struct local){NULL, name, key, value, end};
        *link = l;
        l = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(l);
    return r;
}

static CUresult delete (CUcontext context, void *key) {
    struct local **link, *gone;
    uint64_t name;
    CUresult r = resolve(context, &name);

    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    link = find(name, key);
    gone = *link;
    if (gone)
        *link = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
    return gone ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult get(void **value, CUcontext context, void *key) {
    struct local *l;
    uint64_t name;
    CUresult r = resolve(context, &name);

    if (r != CUDA_SUCCESS)
        return r;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    l = *find(name, key);
    if (l)
        *value = l->value;
    pthread_mutex_unlock(&lock);
    return l ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* One of a context's, taken out; NULL: there is none left. */
static struct local *take(uint64_t context) {
    struct local **link, *l;

    pthread_mutex_lock(&lock);
    for (link = &locals; *link && (*link)->context != context; link = &(*link)->next)
        ;
    l = *link;
    if (l)
        *link = l->next;
    pthread_mutex_unlock(&lock);
    return l;
}

void context_locals_end(CUcontext handle, uint64_t context) {
    struct local *l;

    while ((l = take(context))) {
        if (l->end)
            l->end(handle, l->key, l->value);
        free(l);
    }
}

const void *const export_context_locals[3] = {
    (const void *)put,
    (const void *)delete,
    (const void *)get,
};
