// SPDX-License-Identifier: Apache-2.0
/* User objects: counted, and destroyed by the program's function when nobody holds them. */
#include "user_object.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "graph.h"

struct sim_user_object {
    struct sim_object object;
    void *data;
    CUhostFn destroy;
    uint64_t held; /* references of all holders; under the lock below */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy_object(struct sim_object *object) {
    free(object);
}

static void *destructor(void *argument) {
    struct sim_user_object *o = argument;

    sim_inside_host_function(true);
    o->destroy(o->data);
    sim_inside_host_function(false);
    sim_put(o);
    return NULL;
}

/* On a thread of its own: whoever gave the last reference back may hold the program's locks. */
static void end_object(struct sim_user_object *o) {
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;

    sim_ref(o);
    sim_handle_close(&o->object);
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attr, destructor, o) != 0)
        destructor(o);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

static void retain(struct sim_user_object *o, unsigned count) {
    pthread_mutex_lock(&lock);
    o->held += count;
    pthread_mutex_unlock(&lock);
}

/* CUDA_ERROR_INVALID_VALUE: so many are not held. */
static CUresult release(struct sim_user_object *o, unsigned count) {
    bool good, last;

    pthread_mutex_lock(&lock);
    good = count <= o->held;
    if (good)
        o->held -= count;
    last = good && !o->held;
    pthread_mutex_unlock(&lock);
    if (last)
        end_object(o);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The place of the object in a list, where there is NULL if it is not in it. */
static struct sim_holding **find(struct sim_holding **list, const struct sim_user_object *o) {
    while (*list && (*list)->object != o)
        list = &(*list)->next;
    return list;
}

static bool add(struct sim_holding **list, struct sim_user_object *o, unsigned count) {
    struct sim_holding **at = find(list, o);

    if (!*at) {
        *at = calloc(1, sizeof(**at));
        if (!*at)
            return false;
        (*at)->object = sim_ref(o);
    }
    (*at)->count += count;
    return true;
}

/* Takes this entry out. */
static void unlink_holding(struct sim_holding **at) {
    struct sim_holding *gone = *at;

    *at = gone->next;
    sim_put(gone->object);
    free(gone);
}

void sim_holdings_add(struct sim_holding **to, const struct sim_holding *from) {
    for (; from; from = from->next)
        if (add(to, from->object, from->count))
            retain(from->object, from->count);
}

void sim_holdings_drop(struct sim_holding **list) {
    while (*list) {
        release((*list)->object, (*list)->count);
        unlink_holding(list);
    }
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags) {
    SIM_AUTO struct sim_user_object *o = NULL;

    SIM_READY();
    if (!object_out || !destroy || !initialRefcount || initialRefcount > INT_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    o = calloc(1, sizeof(*o));
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&o->object, SIM_USER_OBJECT, destroy_object);
    o->data = ptr;
    o->destroy = destroy;
    o->held = initialRefcount;
    if (!sim_handle_open(&o->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *object_out = SIM_HANDLE(o);
    return CUDA_SUCCESS;
}

/* The opening lines of calls about one, and a number of references to it. */
#define OBJECT_ARG(name, handle, count)                                                            \
    SIM_AUTO struct sim_user_object *name = NULL;                                                  \
    SIM_READY();                                                                                   \
    name = sim_handle_get(handle, SIM_USER_OBJECT);                                                \
    if (!name || !count || count > INT_MAX)                                                        \
    return CUDA_ERROR_INVALID_VALUE

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
    OBJECT_ARG(o, object, count);

    retain(o, count);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
    OBJECT_ARG(o, object, count);

    return release(o, count);
}

CUresult cuGraphRetainUserObject(CUgraph hGraph, CUuserObject object, unsigned int count,
                                 unsigned int flags) {
    bool good;
    OBJECT_ARG(o, object, count);
    SIM_GRAPH_ARG(graph, hGraph);

    if (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    good = add(&graph->holdings, o, count);
    sim_graph_unlock();
    if (!good)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) /* else the caller's own become the graph's */
        retain(o, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph hGraph, CUuserObject object, unsigned int count) {
    struct sim_holding **at;
    bool good;
    OBJECT_ARG(o, object, count);
    SIM_GRAPH_ARG(graph, hGraph);

    sim_graph_lock();
    at = find(&graph->holdings, o);
    good = *at && (*at)->count >= count;
    if (good) {
        (*at)->count -= count;
        if (!(*at)->count)
            unlink_holding(at);
    }
    sim_graph_unlock();
    return good ? release(o, count) : CUDA_ERROR_INVALID_VALUE;
}
