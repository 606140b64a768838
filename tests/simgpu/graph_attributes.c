// SPDX-License-Identifier: Apache-2.0
/* The attributes of kernels' nodes. */
#include "graph.h"
#include "launch.h"

/* A kernel's node has work always. */
static CUresult kernel_node(CUgraphNode handle, struct sim_node **node) {
    CUresult result = sim_node_get(handle, node);

    return result == CUDA_SUCCESS && (*node)->type != CU_GRAPH_NODE_TYPE_KERNEL
               ? CUDA_ERROR_INVALID_VALUE
               : result;
}

#define KERNEL_NODE_ARG(name, handle)                                                              \
    SIM_AUTO struct sim_node *name = NULL;                                                         \
    CUresult name##_error = kernel_node(handle, &name);                                            \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

/* Under the graphs' lock. What was made of the graph before keeps its own. */
static CUresult replace(struct sim_node *node, const struct sim_launch_settings *settings) {
    struct sim_work *work;
    struct sim_op *op;
    CUresult result = sim_launch_with(node->work->op, settings, &op);

    if (result != CUDA_SUCCESS)
        return result;
    work = sim_work_new(op);
    if (!work) {
        sim_op_discard(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_work_put(node->work);
    node->work = work;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value_out) {
    CUresult result;
    KERNEL_NODE_ARG(node, hNode);

    if (!value_out)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    result = sim_launch_setting_get(sim_launch_settings_of(node->work->op), attr, value_out);
    sim_graph_unlock();
    return result;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value) {
    struct sim_launch_settings settings;
    CUresult result;
    KERNEL_NODE_ARG(node, hNode);

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    settings = *sim_launch_settings_of(node->work->op);
    result = sim_launch_setting_set(&settings, attr, value);
    if (result == CUDA_SUCCESS)
        result = replace(node, &settings);
    sim_graph_unlock();
    return result;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
    CUresult result;
    KERNEL_NODE_ARG(to, dst);
    KERNEL_NODE_ARG(from, src);

    sim_graph_lock();
    result = replace(to, sim_launch_settings_of(from->work->op));
    sim_graph_unlock();
    return result;
}
