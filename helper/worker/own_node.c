// SPDX-License-Identifier: Apache-2.0
/* The nodes of graphs: added, changed, asked about. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph_params.h"
#include "hostfunc.h"
#include "launch_attributes.h"
#include "memory.h"
#include "pools.h"

CUuserObject graph_tie_end(struct worker *w, CUgraph graph, uint64_t end) {
    CUuserObject object;
    CUresult r = w->driver.cuUserObjectCreate(&object, hostfunc_arg(end), hostfunc_tell, 1,
                                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);

    /* What the graph does not take stays as it is: its end would be told at once. */
    if (r == CUDA_SUCCESS)
        r = w->driver.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    return r == CUDA_SUCCESS ? object : NULL;
}

/*
 * A node's function is another now, or none (0): the graph lets go of the one before. What was made
 * of the graph meanwhile, and may call that one, has a hold of its own.
 */
static void tie_function(struct worker *w, CUgraph graph, uint64_t node, uint64_t end) {
    CUuserObject now = end ? graph_tie_end(w, graph, end) : NULL;
    uint64_t before = objects_change_aux(&w->objects, node, (uint64_t)now);

    if (before)
        w->driver.cuGraphReleaseUserObject(graph, (CUuserObject)before, 1);
}

static bool graph_of_node(struct worker *w, uint64_t node, CUgraph *graph) {
    return frame_object(w, VCUDA_KIND_GRAPH, graph_owner_of(w, node), (void **)graph) ==
           CUDA_SUCCESS;
}

/* What a node brought into being: the address of its memory, or the names of its graphs. */
static CUresult tell_made(struct worker *w, const struct node_params *p, uint64_t node,
                          uint64_t *made, uint32_t cap, uint32_t *len) {
    uint32_t count = 0;

    if (p->native.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && cap >= sizeof(*made))
        made[count++] = p->native.alloc.dptr;
    if (p->native.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        if (p->native.conditional.size > cap / sizeof(*made))
            return CUDA_ERROR_INVALID_VALUE;
        for (; count < p->native.conditional.size; count++)
            made[count] = graph_name_of(w, p->native.conditional.phGraph_out[count], node);
    }
    *len = count * (uint32_t)sizeof(*made);
    return CUDA_SUCCESS;
}

/* A node's memory is taken by a launch; what does not fit at all is refused here. */
static CUresult memory_fits(struct worker *w, const CUgraphNodeParams *p) {
    uint64_t bytes = memory_grains(p->alloc.bytesize);

    if (p->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_SUCCESS;
    if (!pools_take_any(w, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory_give_back(bytes);
    pools_graphs_hold();
    return CUDA_SUCCESS;
}

static CUresult add(struct worker *w, struct args_graph_node_add *a, struct node_params *p) {
    const struct vcuda_node *n = a->params;
    const CUgraphEdgeData *edges;
    uint64_t name;
    CUresult r = graph_edges(a->edges, a->edges_len, a->dependencies_count, &edges);

    if (r == CUDA_SUCCESS)
        r = memory_fits(w, &p->native);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuGraphAddNode_v2(&a->node, a->graph, a->dependencies, edges,
                                        a->dependencies_count, &p->native);
    if (r != CUDA_SUCCESS)
        return r;
    name = graph_node_name(w, a->node, a->graph_name);
    if (!name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (n->type == CU_GRAPH_NODE_TYPE_HOST)
        tie_function(w, a->graph, name, n->host.end);
    /* What was moved into a node ends with it. */
    if (n->type == CU_GRAPH_NODE_TYPE_GRAPH &&
        n->child.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        objects_give(&w->objects, n->child.graph, name);
    return tell_made(w, p, name, a->made, a->made_cap, &a->made_len);
}

CUresult own_graph_node_add(struct worker *w, struct frame *f, struct args_graph_node_add *a) {
    struct node_params p;
    CUresult r = node_params_build(w, a->graph_name, a->params, a->params_len, &p);

    f->owner = a->graph_name;
    if (r != CUDA_SUCCESS)
        return r;
    r = add(w, a, &p);
    node_params_drop(&p);
    return r;
}

CUresult own_graph_node_set(struct worker *w, struct frame *f, struct args_graph_node_set *a) {
    const struct vcuda_node *n = a->params;
    struct node_params p;
    CUgraph graph;
    CUresult r =
        node_params_build(w, graph_owner_of(w, a->node_name), a->params, a->params_len, &p);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuGraphNodeSetParams(a->node, &p.native);
    node_params_drop(&p);
    if (r == CUDA_SUCCESS && n->type == CU_GRAPH_NODE_TYPE_HOST &&
        graph_of_node(w, a->node_name, &graph))
        tie_function(w, graph, a->node_name, n->host.end);
    return r;
}

CUresult own_cuGraphDestroyNode(struct worker *w, struct frame *f,
                                struct args_cuGraphDestroyNode *a) {
    CUresult r = w->driver.cuGraphDestroyNode(a->hNode);
    CUgraph graph;

    (void)f;
    if (r == CUDA_SUCCESS && graph_of_node(w, a->hNode_name, &graph))
        tie_function(w, graph, a->hNode_name, 0);
    return r;
}

CUresult own_graph_exec_set(struct worker *w, struct frame *f, struct args_graph_exec_set *a) {
    struct node_params p;
    CUresult r =
        node_params_build(w, graph_owner_of(w, a->node_name), a->params, a->params_len, &p);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuGraphExecNodeSetParams(a->exec, a->node, &p.native);
    node_params_drop(&p);
    return r;
}

CUresult own_graph_node_get(struct worker *w, struct frame *f, struct args_graph_node_get *a) {
    CUresult r = node_params_tell(w, a->node, a->type, a->params, a->params_cap, &a->params_len);

    (void)f;
    if (r == CUDA_SUCCESS)
        ((struct vcuda_node *)a->params)->graph = graph_owner_of(w, a->node_name);
    return r;
}

/* None with a handle, or a pointer into the program. */
static bool attribute_travels(int32_t attribute) {
    return attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || /* an address of the device's */
           cuda_launch_attribute_travels((CUlaunchAttributeID)attribute);
}

CUresult own_graph_attribute_get(struct worker *w, struct frame *f,
                                 struct args_graph_attribute_get *a) {
    CUresult r;

    (void)f;
    if (!attribute_travels(a->attribute) || a->value_cap < sizeof(CUkernelNodeAttrValue))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuGraphKernelNodeGetAttribute(a->node, (CUkernelNodeAttrID)a->attribute,
                                                a->value);
    a->value_len = sizeof(CUkernelNodeAttrValue);
    return r;
}

CUresult own_graph_attribute_set(struct worker *w, struct frame *f,
                                 struct args_graph_attribute_set *a) {
    (void)f;
    if (!attribute_travels(a->attribute) || a->value_len != sizeof(CUkernelNodeAttrValue))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuGraphKernelNodeSetAttribute(a->node, (CUkernelNodeAttrID)a->attribute,
                                                   a->value);
}

/* The driver writes a file: one in memory, that has no name anywhere. Kept while it is read. */
static int dot_fd = -1;

static CUresult print_dot(struct worker *w, CUgraph graph, uint32_t flags) {
    char path[32];

    if (dot_fd >= 0)
        close(dot_fd);
    dot_fd = memfd_create("graph", MFD_CLOEXEC);
    if (dot_fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", dot_fd);
    return w->driver.cuGraphDebugDotPrint(graph, path, flags);
}

CUresult own_graph_dot(struct worker *w, struct frame *f, struct args_graph_dot *a) {
    CUresult r = a->first ? CUDA_SUCCESS : print_dot(w, a->graph, a->flags);
    ssize_t n;
    off_t end;

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    end = lseek(dot_fd, 0, SEEK_END);
    n = pread(dot_fd, a->text, a->text_cap, (off_t)a->first);
    if (end < 0 || n < 0)
        return CUDA_ERROR_INVALID_VALUE;
    a->bytes = (uint64_t)end;
    a->text_len = (uint32_t)n;
    return CUDA_SUCCESS;
}
