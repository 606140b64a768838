// SPDX-License-Identifier: Apache-2.0
/* What is made of graphs: their steps one after another, in an order that the edges allow. */
#include <stdlib.h>
#include <string.h>

#include "graph_condition.h"
#include "graph_memory.h"

/* One launch, with the steps as they were then. */
struct run_op {
    struct sim_op op;
    struct sim_holding *holdings;
    size_t count;
    struct sim_work *works[];
};

static CUresult run(struct sim_op *op, struct sim_context *context) {
    struct run_op *r = (struct run_op *)op;
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < r->count && result == CUDA_SUCCESS; i++)
        result = r->works[i]->op->run(r->works[i]->op, context);
    return result;
}

static void release(struct sim_op *op) {
    struct run_op *r = (struct run_op *)op;

    for (size_t i = 0; i < r->count; i++)
        sim_work_put(r->works[i]);
    sim_holdings_drop(&r->holdings);
    free(r);
}

static void drop_steps(struct sim_exec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        sim_work_put(exec->steps[i].work);
        sim_put(exec->steps[i].event);
    }
    free(exec->steps);
    exec->steps = NULL;
    exec->count = 0;
    sim_holdings_drop(&exec->holdings);
}

static void destroy_exec(struct sim_object *object) {
    drop_steps((struct sim_exec *)object);
    free(object);
}

static bool add_graph(struct sim_exec *exec, const struct sim_graph *graph);

/* The node, after all that it comes after. A graph has no circles. */
static bool add_node(struct sim_exec *exec, struct sim_node *node, unsigned walk) {
    struct sim_step *more;
    size_t within;

    if (node->mark == walk)
        return true;
    node->mark = walk;
    for (size_t i = 0; i < node->dep_count; i++)
        if (!add_node(exec, node->deps[i].on, walk))
            return false;
    within = exec->count;
    if (node->child && !add_graph(exec, node->child))
        return false;
    within = exec->count - within;
    if (node->branches) {
        const struct sim_graph *body;

        /* Whether there is an end was looked at before. */
        sim_branches_choose(node->branches, &body);
        if (body && !add_graph(exec, body))
            return false;
    }
    more = realloc(exec->steps, (exec->count + 1) * sizeof(*more));
    if (!more)
        return false;
    exec->steps = more;
    exec->steps[exec->count++] = (struct sim_step){
        .type = node->type,
        .work = sim_work_ref(node->work),
        .event = node->event ? sim_ref(node->event) : NULL,
        .node = node->object.handle,
        .within = within,
    };
    return true;
}

/* Under the lock: all that would run comes to an end. */
static bool comes_to_an_end(const struct sim_graph *graph) {
    const struct sim_graph *body;

    for (const struct sim_node *n = graph->first; n; n = n->next) {
        if (n->child && !comes_to_an_end(n->child))
            return false;
        if (n->branches && (sim_branches_choose(n->branches, &body) != CUDA_SUCCESS ||
                            (body && !comes_to_an_end(body))))
            return false;
    }
    return true;
}

static bool add_graph(struct sim_exec *exec, const struct sim_graph *graph) {
    static unsigned last_walk = 0x80000000u; /* another sort of walk than graph.c's */
    unsigned walk = ++last_walk;

    sim_holdings_add(&exec->holdings, graph->holdings);
    for (struct sim_node *n = graph->first; n; n = n->next)
        if (!add_node(exec, n, walk))
            return false;
    return true;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
    SIM_AUTO struct sim_graph *graph = NULL;
    struct sim_exec *exec;
    bool good, circles, ends;
    SIM_ENTER(context);

    (void)context;
    graph = sim_handle_get(hGraph, SIM_GRAPH);
    if (!graph || !phGraphExec || !p || p->flags > 15)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return CUDA_ERROR_NOT_SUPPORTED;
    exec = calloc(1, sizeof(*exec));
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&exec->object, SIM_EXEC, destroy_exec);
    exec->flags = p->flags;
    sim_graph_lock();
    circles = sim_graph_circles(graph);
    ends = comes_to_an_end(graph);
    good = !circles && ends && add_graph(exec, graph);
    sim_graph_unlock();
    if (!circles && !ends) {
        sim_put(exec);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (circles) {
        sim_put(exec);
        p->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!good || !sim_handle_open(&exec->object)) {
        sim_put(exec);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_put(exec); /* its handle holds it */
    p->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    p->hErrNode_out = NULL;
    *phGraphExec = SIM_HANDLE(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    SIM_AUTO struct sim_exec *exec = sim_handle_get(hGraphExec, SIM_EXEC);

    SIM_READY();
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    sim_handle_close(&exec->object);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags) {
    SIM_AUTO struct sim_exec *exec = sim_handle_get(hGraphExec, SIM_EXEC);

    SIM_READY();
    if (!exec || !flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

/* Under the lock. NULL: out of memory. */
static struct run_op *new_run(const struct sim_exec *exec) {
    struct run_op *op = sim_op_new(sizeof(*op) + exec->count * sizeof(op->works[0]), run);

    if (!op)
        return NULL;
    op->op.release = release;
    sim_holdings_add(&op->holdings, exec->holdings);
    for (size_t i = 0; i < exec->count; i++) {
        const struct sim_step *s = &exec->steps[i];
        struct sim_mark *mark;

        if (s->work && !s->off)
            op->works[op->count++] = sim_work_ref(s->work);
        if (s->type != CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            continue;
        mark = sim_mark_load(&s->event->mark);
        sim_op_wait_for(&op->op, mark);
        sim_mark_put(mark);
    }
    return op;
}

/* Events that the graph records are reached when all of it is done. */
static void record_events(const struct sim_exec *exec, struct sim_mark *mark) {
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            sim_mark_store(&exec->steps[i].event->mark, sim_mark_ref(mark));
    }
}

static CUresult launch(CUgraphExec handle, CUstream hStream, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    SIM_AUTO struct sim_exec *exec = NULL;
    struct sim_mark *mark = NULL;
    struct run_op *op;
    SIM_ENTER(context);
    CUresult result;

    exec = sim_handle_get(handle, SIM_EXEC);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_get(context, hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_capture_refuses_wait(stream) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_SUPPORTED; /* it would be a graph within the graph */
    sim_graph_lock();
    op = new_run(exec);
    result = op ? sim_graph_memory_begin(exec) : CUDA_ERROR_OUT_OF_MEMORY;
    sim_graph_unlock();
    if (result != CUDA_SUCCESS) {
        if (op)
            sim_op_discard(&op->op);
        return result;
    }
    result = sim_submit(stream, &op->op, &mark);
    if (result != CUDA_SUCCESS)
        return result;
    sim_graph_lock();
    record_events(exec, mark);
    sim_graph_unlock();
    sim_mark_put(mark);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
    return launch(hGraph, hStream, false);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraph, CUstream hStream) {
    return launch(hGraph, hStream, true);
}

/* There is nothing to bring anywhere. */
CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
    SIM_AUTO struct sim_stream *stream = NULL;
    SIM_AUTO struct sim_exec *exec = NULL;
    SIM_ENTER(context);

    exec = sim_handle_get(hGraph, SIM_EXEC);
    return exec ? sim_stream_get(context, hStream, false, &stream) : CUDA_ERROR_INVALID_VALUE;
}

/* Exchanges the works and events of steps, which are of the same kinds; how each is known stays. */
static void exchange(struct sim_step *steps, struct sim_step *with, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct sim_step before = steps[i];

        steps[i] = with[i];
        steps[i].node = before.node;
        with[i] = before;
    }
}

static bool has_memory(const struct sim_exec *exec) {
    for (size_t i = 0; i < exec->count; i++)
        if (sim_is_graph_memory(exec->steps[i].type))
            return true;
    return false;
}

static bool same_kinds(const struct sim_step *a, const struct sim_step *b, size_t count,
                       size_t *differs) {
    for (size_t i = 0; i < count; i++) {
        if (a[i].type != b[i].type) {
            *differs = i;
            return false;
        }
    }
    return true;
}

/* Under the lock: steps of the same kinds in the same order are a change, all else another graph.
 */
static CUresult update(struct sim_exec *exec, struct sim_exec *next,
                       CUgraphExecUpdateResultInfo *info) {
    struct sim_holding *held = exec->holdings;
    size_t differs;

    if (next->count != exec->count) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    if (!same_kinds(exec->steps, next->steps, exec->count, &differs)) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        info->errorNode = (CUgraphNode)(uintptr_t)next->steps[differs].node;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    if (has_memory(next)) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    exchange(exec->steps, next->steps, exec->count);
    exec->holdings = next->holdings;
    next->holdings = held;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo *resultInfo) {
    SIM_AUTO struct sim_graph *graph = NULL;
    SIM_AUTO struct sim_exec *exec = NULL;
    CUgraphExecUpdateResultInfo info = {0};
    struct sim_exec next = {0};
    SIM_ENTER(context);
    CUresult result;

    (void)context;
    exec = sim_handle_get(hGraphExec, SIM_EXEC);
    graph = sim_handle_get(hGraph, SIM_GRAPH);
    if (!exec || !graph)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    if (sim_graph_circles(graph) || !comes_to_an_end(graph))
        result = CUDA_ERROR_NOT_SUPPORTED;
    else if (!add_graph(&next, graph))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else
        result = update(exec, &next, &info);
    drop_steps(&next);
    sim_graph_unlock();
    if (resultInfo)
        *resultInfo = info;
    return result;
}

struct sim_step *sim_exec_step(struct sim_exec *exec, CUgraphNode node) {
    for (size_t i = 0; i < exec->count; i++)
        if (exec->steps[i].node == (uint64_t)(uintptr_t)node)
            return &exec->steps[i];
    return NULL;
}

CUresult sim_exec_set_child(struct sim_exec *exec, CUgraphNode node, CUgraph handle) {
    struct sim_exec next = {0};
    struct sim_step *step;
    CUresult result;
    size_t differs;
    SIM_GRAPH_ARG(graph, handle);

    sim_graph_lock();
    step = sim_exec_step(exec, node);
    if (!step || step->type != CU_GRAPH_NODE_TYPE_GRAPH || sim_graph_circles(graph)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (!comes_to_an_end(graph)) {
        result = CUDA_ERROR_NOT_SUPPORTED;
    } else if (!add_graph(&next, graph)) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else if (next.count == step->within &&
               same_kinds(step - step->within, next.steps, next.count, &differs)) {
        exchange(step - step->within, next.steps, next.count);
        sim_holdings_add(&exec->holdings, graph->holdings);
        result = CUDA_SUCCESS;
    } else {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    drop_steps(&next);
    sim_graph_unlock();
    return result;
}

static CUresult enabled(CUgraphExec hGraphExec, CUgraphNode hNode, struct sim_exec **exec,
                        struct sim_step **step) {
    *exec = sim_handle_get(hGraphExec, SIM_EXEC);
    *step = NULL;
    SIM_READY();
    if (*exec)
        *step = sim_exec_step(*exec, hNode);
    if (!*step)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((*step)->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
    SIM_AUTO struct sim_exec *exec = NULL;
    struct sim_step *step;
    CUresult result = enabled(hGraphExec, hNode, &exec, &step);

    if (result == CUDA_SUCCESS)
        step->off = !isEnabled;
    return result;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled) {
    SIM_AUTO struct sim_exec *exec = NULL;
    struct sim_step *step;
    CUresult result = enabled(hGraphExec, hNode, &exec, &step);

    if (result == CUDA_SUCCESS && !isEnabled)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *isEnabled = !step->off;
    return result;
}
