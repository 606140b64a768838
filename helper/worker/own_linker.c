// SPDX-License-Identifier: Apache-2.0
/* The driver's linker: its state, our buffers for its logs, and what it made; or just such code. */
#include <pthread.h>
#include <stdlib.h>

#include "image.h"
#include "jit.h"
#include "linker.h"
#include "worker.h"

/*
 * What the name of a linker stands for. A guest may destroy one on one thread and use it on
 * another: who uses it looks its name up and holds it, and once destroyed it has no state.
 */
struct linker {
    uint32_t held; /* by its name, and by calls; under the lock of all */
    pthread_mutex_t lock;
    CUlinkState state;
    struct jit jit;
    char *info, *error;
    const void *cubin; /* the state's own, or */
    char *code;        /* ours, and there is no state */
    size_t cubin_bytes;
};

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;

static struct linker *new_linker(void) {
    struct linker *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->held = 1;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void let_go(struct linker *l) {
    bool last;

    pthread_mutex_lock(&all);
    last = !--l->held;
    pthread_mutex_unlock(&all);
    if (!last)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* The linker of a name, held and locked: it may just have been destroyed. */
static CUresult lock_any(struct worker *w, uint64_t name, struct linker **l) {
    struct object o;
    bool found;

    pthread_mutex_lock(&all);
    found = objects_get(&w->objects, VCUDA_KIND_LINK, name, &o);
    *l = found ? o.native : NULL;
    if (found)
        (*l)->held++;
    pthread_mutex_unlock(&all);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&(*l)->lock);
    return CUDA_SUCCESS;
}

static CUresult unlock(struct linker *l, CUresult r) {
    pthread_mutex_unlock(&l->lock);
    let_go(l);
    return r;
}

/* One that links. */
static CUresult lock(struct worker *w, uint64_t name, struct linker **l) {
    CUresult r = lock_any(w, name, l);

    if (r != CUDA_SUCCESS || (*l)->state)
        return r;
    return unlock(*l, CUDA_ERROR_INVALID_VALUE);
}

static void end(struct linker *l) {
    free(l->info);
    free(l->error);
    free(l->code);
    l->info = l->error = l->code = NULL;
    l->state = NULL;
    l->cubin = NULL;
}

CUresult linker_of_code(char *code, size_t bytes, CUlinkState *name) {
    struct linker *l = new_linker();

    if (!l)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->cubin = l->code = code;
    l->cubin_bytes = bytes;
    *name = (CUlinkState)l;
    return CUDA_SUCCESS;
}

/* It ends with nothing but its own destruction: the context that it is made in may go before. */
CUresult own_link_create(struct worker *w, struct frame *f, struct args_link_create *a) {
    struct linker *l;
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

    (void)f;
    if (a->info_cap > VCUDA_JIT_LOG_MAX || a->error_cap > VCUDA_JIT_LOG_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    l = new_linker();
    if (!l)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->info = calloc(1, a->info_cap + 1);
    l->error = calloc(1, a->error_cap + 1);
    if (l->info && l->error)
        r = jit_options(&l->jit, a->options, a->options_len);
    if (r == CUDA_SUCCESS) {
        jit_logs(&l->jit, l->info, a->info_cap, l->error, a->error_cap);
        r = w->driver.cuLinkCreate_v2(l->jit.count, l->jit.options, l->jit.values, &l->state);
    }
    if (r != CUDA_SUCCESS) {
        end(l);
        let_go(l);
        return r;
    }
    a->link = (CUlinkState)l;
    return CUDA_SUCCESS;
}

/* Input of the kinds that tell their size must be as long as they tell. */
static CUresult check_input(int32_t type, const void *input, uint64_t bytes) {
    struct cuda_image measured;

    switch (type) {
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY:
        return cuda_image_measure(input, bytes, &measured);
    default:
        return type >= 0 && type < CU_JIT_NUM_INPUT_TYPES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult private_input(struct worker *w, const struct args_link_add *a, char **input) {
    CUresult r;

    if (!a->bytes || a->bytes > CUDA_IMAGE_MAX || !regions_hold(w, a->address, a->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    *input = malloc(a->bytes + 1);
    if (!*input)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(*input, (const void *)a->address, a->bytes);
    (*input)[a->bytes] = 0; /* text ends somewhere */
    r = check_input(a->type, *input, a->bytes);
    if (r != CUDA_SUCCESS)
        free(*input);
    return r;
}

static bool room_for_logs(const struct linker *l, uint32_t cap) {
    return cap >= sizeof(struct vcuda_module_log) + l->jit.info_cap + l->jit.error_cap;
}

CUresult own_link_add(struct worker *w, struct frame *f, struct args_link_add *a) {
    struct jit jit;
    struct linker *l;
    char *input;
    CUresult r = jit_options(&jit, a->options, a->options_len);

    (void)f;
    if (r == CUDA_SUCCESS)
        r = private_input(w, a, &input);
    if (r != CUDA_SUCCESS)
        return r;
    r = lock(w, a->link_name, &l);
    if (r == CUDA_SUCCESS && !room_for_logs(l, a->log_cap))
        r = unlock(l, CUDA_ERROR_INVALID_VALUE);
    if (r == CUDA_SUCCESS) {
        r = w->driver.cuLinkAddData_v2(l->state, (CUjitInputType)a->type, input, a->bytes,
                                       a->name[0] ? a->name : NULL, jit.count, jit.options,
                                       jit.values);
        a->log_len = jit_answer(&l->jit, r, a->log);
        r = unlock(l, CUDA_SUCCESS);
    }
    free(input);
    return r;
}

CUresult own_link_complete(struct worker *w, struct frame *f, struct args_link_complete *a) {
    struct linker *l;
    void *cubin = NULL;
    CUresult r = lock(w, a->link_name, &l);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    if (!room_for_logs(l, a->log_cap))
        return unlock(l, CUDA_ERROR_INVALID_VALUE);
    r = w->driver.cuLinkComplete(l->state, &cubin, &l->cubin_bytes);
    l->cubin = r == CUDA_SUCCESS ? cubin : NULL;
    a->bytes = l->cubin ? l->cubin_bytes : 0;
    a->log_len = jit_answer(&l->jit, r, a->log);
    return unlock(l, CUDA_SUCCESS);
}

/* A piece of what was made, into the arena. */
CUresult own_link_read(struct worker *w, struct frame *f, struct args_link_read *a) {
    struct linker *l;
    CUresult r = lock_any(w, a->link_name, &l);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    if (!l->cubin || a->offset > l->cubin_bytes || a->bytes > l->cubin_bytes - a->offset ||
        !regions_hold(w, a->address, a->bytes))
        return unlock(l, CUDA_ERROR_INVALID_VALUE);
    memcpy((void *)a->address, (const char *)l->cubin + a->offset, a->bytes);
    return unlock(l, CUDA_SUCCESS);
}

CUresult own_link_destroy(struct worker *w, struct frame *f, struct args_link_destroy *a) {
    struct linker *l;
    CUresult r = lock_any(w, a->link_name, &l);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    if (!l->state && !l->code) /* another thread was faster, and its name has not ended yet */
        return unlock(l, CUDA_ERROR_INVALID_VALUE);
    r = l->state ? w->driver.cuLinkDestroy(l->state) : CUDA_SUCCESS;
    if (r != CUDA_SUCCESS)
        return unlock(l, r);
    end(l);
    objects_end(&w->objects, a->link_name);
    let_go(l);
    return unlock(l, CUDA_SUCCESS);
}
