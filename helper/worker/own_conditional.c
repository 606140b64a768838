// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "conditional.h"
#include "worker.h"

#define HANDLES_MAX 65536u

/* Of the executor. */
static struct {
    uint64_t handle;
    uint64_t graph; /* name */
} * handles;
static uint32_t count, room;

static bool is_there(struct worker *w, uint64_t graph) {
    struct object o;

    return objects_get(&w->objects, VCUDA_KIND_GRAPH, graph, &o);
}

bool conditional_known(struct worker *w, uint64_t handle) {
    for (uint32_t i = 0; i < count; i++) {
        if (handles[i].handle == handle && is_there(w, handles[i].graph))
            return true;
    }
    return false;
}

/* Those of graphs that have ended mean nothing any more. */
static void drop_ended(struct worker *w) {
    for (uint32_t i = count; i-- > 0;) {
        if (!is_there(w, handles[i].graph))
            handles[i] = handles[--count];
    }
}

static bool reach(struct worker *w) {
    void *more;

    if (count == room)
        drop_ended(w);
    if (count < room)
        return true;
    if (room >= HANDLES_MAX)
        return false;
    room = room ? 2 * room : 64;
    more = realloc(handles, room * sizeof(*handles));
    if (more)
        handles = more;
    else
        room = count;
    return more != NULL;
}

CUresult own_cuGraphConditionalHandleCreate(struct worker *w, struct frame *f,
                                            struct args_cuGraphConditionalHandleCreate *a) {
    cuuint64_t handle;
    CUresult r;

    (void)f;
    if (!reach(w))
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuGraphConditionalHandleCreate(&handle, a->hGraph, a->ctx, a->defaultLaunchValue,
                                                 a->flags);
    if (r != CUDA_SUCCESS)
        return r;
    handles[count].handle = a->pHandle_out = handle;
    handles[count++].graph = a->hGraph_name;
    return CUDA_SUCCESS;
}
