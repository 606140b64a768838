// SPDX-License-Identifier: Apache-2.0
/*
 * User objects. The driver counts the references; the end of the last one is told to the guest. The
 * driver would follow a reference that is none: what the guest holds is counted here as well.
 */
#include <stdlib.h>

#include "barrier.h"
#include "hostfunc.h"
#include "worker.h"

/* Until the driver has called, and the next one is made. */
struct user_object {
    struct user_object *next; /* of those that have ended */
    CUuserObject native;
    uint64_t id;    /* the guest's number for the destructor */
    uint32_t held;  /* references of the guest's own */
    uint32_t ended; /* the destructor was called */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user_object *gone;

/* On the driver's thread. */
static void ended(void *arg) {
    struct user_object *u = arg;

    vcuda_store_release(&u->ended, 1);
    hostfunc_tell(hostfunc_arg(u->id));
    pthread_mutex_lock(&lock);
    u->next = gone;
    gone = u;
    pthread_mutex_unlock(&lock);
}

static bool is_of(struct worker *w, uint64_t name, const struct user_object *u) {
    struct object o;

    return objects_get(&w->objects, VCUDA_KIND_USEROBJECT, name, &o) && o.aux == (uintptr_t)u;
}

/* On the executor, which alone looks for them. Another may lie where one lay. */
static void forget_gone(struct worker *w) {
    struct user_object *u, *next;

    pthread_mutex_lock(&lock);
    u = gone;
    gone = NULL;
    pthread_mutex_unlock(&lock);
    for (; u; u = next) {
        uint64_t name = objects_known(&w->objects, VCUDA_KIND_USEROBJECT, u->native);

        next = u->next;
        if (is_of(w, name, u))
            objects_end(&w->objects, name);
        free(u);
    }
}

static struct user_object *find(struct worker *w, uint64_t name) {
    struct object o;
    struct user_object *u;

    if (!objects_get(&w->objects, VCUDA_KIND_USEROBJECT, name, &o))
        return NULL;
    u = (struct user_object *)(uintptr_t)o.aux;
    return vcuda_load_acquire(&u->ended) ? NULL : u;
}

CUresult own_user_object_create(struct worker *w, struct frame *f,
                                struct args_user_object_create *a) {
    struct user_object *u = calloc(1, sizeof(*u));
    CUresult r;

    forget_gone(w);
    if (!u)
        return CUDA_ERROR_OUT_OF_MEMORY;
    u->id = a->id;
    u->held = a->count;
    r = w->driver.cuUserObjectCreate(&a->object, u, ended, a->count, a->flags);
    if (r != CUDA_SUCCESS) {
        free(u);
        return r;
    }
    u->native = a->object;
    /* One that has just ended may have lain there before. */
    objects_end_native(&w->objects, VCUDA_KIND_USEROBJECT, a->object);
    f->aux = (uint64_t)(uintptr_t)u;
    return CUDA_SUCCESS;
}

CUresult own_cuUserObjectRetain(struct worker *w, struct frame *f,
                                struct args_cuUserObjectRetain *a) {
    struct user_object *u = find(w, a->object_name);
    CUresult r = CUDA_ERROR_INVALID_VALUE;

    (void)f;
    if (u && u->held && a->count <= UINT32_MAX - u->held)
        r = w->driver.cuUserObjectRetain(a->object, a->count);
    if (r == CUDA_SUCCESS)
        u->held += a->count;
    return r;
}

CUresult own_cuUserObjectRelease(struct worker *w, struct frame *f,
                                 struct args_cuUserObjectRelease *a) {
    struct user_object *u = find(w, a->object_name);

    (void)f;
    if (!u || a->count > u->held)
        return CUDA_ERROR_INVALID_VALUE;
    u->held -= a->count;
    return w->driver.cuUserObjectRelease(a->object, a->count);
}

CUresult own_cuGraphRetainUserObject(struct worker *w, struct frame *f,
                                     struct args_cuGraphRetainUserObject *a) {
    struct user_object *u = find(w, a->object_name);
    bool move = a->flags & CU_GRAPH_USER_OBJECT_MOVE;
    CUresult r = CUDA_ERROR_INVALID_VALUE;

    (void)f;
    if (u && u->held && (!move || a->count <= u->held))
        r = w->driver.cuGraphRetainUserObject(a->graph, a->object, a->count, a->flags);
    if (r == CUDA_SUCCESS && move)
        u->held -= a->count;
    return r;
}

CUresult own_cuGraphReleaseUserObject(struct worker *w, struct frame *f,
                                      struct args_cuGraphReleaseUserObject *a) {
    (void)f;
    if (!find(w, a->object_name))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuGraphReleaseUserObject(a->graph, a->object, a->count);
}
