// SPDX-License-Identifier: Apache-2.0
/*
 * Conditional nodes. No kernel that runs here can set a condition, so that each has its default
 * value, and what a node does is known when something is made of its graph.
 */
#include "graph_condition.h"

#include <stdlib.h>

#define BODIES_MAX 64

/* What a condition's handle means. */
struct condition {
    struct sim_object object;
    uint64_t graph;     /* handle */
    unsigned int value; /* as each launch finds it */
};

static void destroy(struct sim_object *object) {
    free(object);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags) {
    SIM_AUTO struct sim_context *context = NULL;
    struct condition *condition;
    CUresult result;
    SIM_GRAPH_ARG(graph, hGraph);

    if (!pHandle_out || flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    result = ctx ? sim_context_get(ctx, &context) : CUDA_ERROR_INVALID_CONTEXT;
    if (result != CUDA_SUCCESS)
        return result;
    condition = calloc(1, sizeof(*condition));
    if (!condition)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&condition->object, SIM_CONDITION, destroy);
    condition->graph = graph->object.handle;
    condition->value = flags ? defaultLaunchValue : 0;
    if (!sim_handle_open(&condition->object)) {
        sim_put(condition);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pHandle_out = condition->object.handle;
    sim_put(condition); /* its handle holds it */
    return CUDA_SUCCESS;
}

static bool good_size(CUgraphConditionalNodeType type, unsigned int size) {
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return size >= 1 && size <= BODIES_MAX;
    }
    return false;
}

void sim_branches_end(struct sim_branches *b) {
    for (unsigned int i = 0; b && i < b->count; i++)
        sim_graph_close(b->bodies[i]);
    free(b);
}

CUresult sim_branches_make(CUDA_CONDITIONAL_NODE_PARAMS *p, struct sim_branches **out) {
    SIM_AUTO struct condition *condition = sim_handle_get((void *)p->handle, SIM_CONDITION);
    struct sim_branches *b;

    if (!condition || !good_size(p->type, p->size))
        return CUDA_ERROR_INVALID_VALUE;
    b = calloc(1, sizeof(*b) + p->size * sizeof(b->bodies[0]));
    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    b->type = p->type;
    b->value = condition->value;
    for (; b->count < p->size; b->count++) {
        b->bodies[b->count] = sim_graph_new();
        if (!b->bodies[b->count]) {
            sim_branches_end(b);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        b->bodies[b->count]->owned = true;
        b->handles[b->count] = SIM_HANDLE(b->bodies[b->count]);
    }
    p->phGraph_out = b->handles;
    *out = b;
    return CUDA_SUCCESS;
}

CUresult sim_branches_choose(const struct sim_branches *b, const struct sim_graph **body) {
    unsigned int which = b->value;

    if (b->type == CU_GRAPH_COND_TYPE_WHILE && b->value)
        return CUDA_ERROR_NOT_SUPPORTED; /* it would never end */
    if (b->type != CU_GRAPH_COND_TYPE_SWITCH)
        which = !b->value;
    *body = which < b->count && !(b->type == CU_GRAPH_COND_TYPE_WHILE) ? b->bodies[which] : NULL;
    return CUDA_SUCCESS;
}
