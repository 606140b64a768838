// SPDX-License-Identifier: Apache-2.0
/* What nodes are asked: their parameters, as the program may use them. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "cuda_calls.h"
#include "graph_host.h"
#include "graph_node.h"
#include "hostfunc.h"
#include "launch_attributes.h"
#include "notes.h"
#include "wire.h"

struct memory {
    size_t bytes;
    unsigned int form;
    CUkernel kernel; /* with NODE_AS_KERNEL or NODE_IN_KERN */
    uint64_t data[];
};

void *node_memory(uint64_t node, uint64_t graph, size_t bytes) {
    struct memory *m = notes_get(node);
    unsigned int form = m ? m->form : 0;
    CUkernel kernel = m ? m->kernel : NULL;

    if (m && m->bytes == bytes)
        return m->data;
    m = calloc(1, sizeof(*m) + bytes);
    if (!m)
        return NULL;
    m->bytes = bytes;
    m->form = form;
    m->kernel = kernel;
    if (notes_set(node, graph, m, free))
        return m->data;
    free(m);
    return NULL;
}

bool node_owns(uint64_t node, uint64_t graph, CUgraph inner) {
    return (notes_has(node) || node_memory(node, graph, 0)) && notes_give((uint64_t)inner, node);
}

CUresult node_ask(CUgraphNode node, CUgraphNodeType type, const void *out, struct node_record *r) {
    struct thread *t;
    uint32_t len = 0;
    CUresult result = guest_enter_any(&t);

    if (result == CUDA_SUCCESS)
        result = guest_check(VCUDA_KIND_NODE, node);
    if (result == CUDA_SUCCESS && !out)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = wire_graph_node_get(t, (uint64_t)node, type, r, sizeof(*r), &len);
    if (result == CUDA_SUCCESS && (len < sizeof(r->node) || len != node_bytes(r)))
        result = VCUDA_ERROR_LOST;
    return result;
}

static unsigned int node_form(CUgraphNode node) {
    const struct memory *m = notes_get((uint64_t)node);

    return m ? m->form : 0;
}

/* Without memory for it native's way of telling is lost, nothing else. */
void node_keep_form(CUgraphNode node, uint64_t graph, const CUgraphNodeParams *p) {
    unsigned int form = node_form_of(p);
    struct memory *m = notes_get((uint64_t)node);
    struct node_record r;

    if (!m && !form)
        return;
    if (!m && !graph && node_ask(node, p->type, p, &r) == CUDA_SUCCESS)
        graph = r.node.graph;
    if (!m && node_memory((uint64_t)node, graph, 0))
        m = notes_get((uint64_t)node);
    if (!m)
        return;
    m->form = form;
    if (form & (NODE_AS_KERNEL | NODE_IN_KERN))
        m->kernel = form & NODE_IN_KERN ? p->kernel.kern : (CUkernel)p->kernel.func;
}

/* The parameters as they lie, in the node's memory, behind what leads to them. */
static CUresult read_extra(CUgraphNode node, const struct node_record *r, const struct function *f,
                           void ***extra) {
    struct {
        void *words[5];
        size_t size;
        uint8_t bytes[];
    } *m = node_memory((uint64_t)node, r->node.graph, sizeof(*m) + f->layout.bytes);

    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->words[0] = CU_LAUNCH_PARAM_BUFFER_POINTER, m->words[1] = m->bytes;
    m->words[2] = CU_LAUNCH_PARAM_BUFFER_SIZE, m->words[3] = &m->size;
    m->words[4] = CU_LAUNCH_PARAM_END;
    m->size = f->layout.bytes;
    memcpy(m->bytes, r->more, f->layout.bytes);
    *extra = m->words;
    return CUDA_SUCCESS;
}

/* One pointer a parameter, and what they point at, in the node's memory; or all as `extra`. */
static CUresult read_params(CUgraphNode node, const struct node_record *r, void ***params,
                            void ***extra) {
    const struct function *f = names_get(VCUDA_KIND_FUNCTION, r->node.kernel.function);
    uint8_t *bytes;

    if (!f || !f->layout.params)
        return CUDA_SUCCESS;
    if (r->node.bytes < f->layout.bytes)
        return VCUDA_ERROR_LOST;
    if (node_form(node) & NODE_BY_EXTRA)
        return read_extra(node, r, f, extra);
    *params = node_memory((uint64_t)node, r->node.graph,
                          f->layout.params * sizeof(void *) + f->layout.bytes);
    if (!*params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bytes = (uint8_t *)(*params + f->layout.params);
    memcpy(bytes, r->more, f->layout.bytes);
    for (uint32_t i = 0; i < f->layout.params; i++)
        (*params)[i] = bytes + f->layout.param[i].offset;
    return CUDA_SUCCESS;
}

static CUresult read_kernel(CUgraphNode node, const void *out, CUDA_KERNEL_NODE_PARAMS *p) {
    unsigned int form = node_form(node);
    CUkernel kernel = form ? ((const struct memory *)notes_get((uint64_t)node))->kernel : NULL;
    struct node_record r;
    void **params = NULL, **extra = NULL;
    CUresult result = node_ask(node, CU_GRAPH_NODE_TYPE_KERNEL, out, &r);

    if (result == CUDA_SUCCESS)
        result = read_params(node, &r, &params, &extra);
    if (result != CUDA_SUCCESS)
        return result;
    *p = (CUDA_KERNEL_NODE_PARAMS){
        .func = (CUfunction)r.node.kernel.function,
        .gridDimX = r.node.kernel.grid[0],
        .gridDimY = r.node.kernel.grid[1],
        .gridDimZ = r.node.kernel.grid[2],
        .blockDimX = r.node.kernel.block[0],
        .blockDimY = r.node.kernel.block[1],
        .blockDimZ = r.node.kernel.block[2],
        .sharedMemBytes = r.node.kernel.shared,
        .kernelParams = params,
        .extra = extra,
        .ctx = (CUcontext)r.node.context,
    };
    if (form & NODE_AS_KERNEL)
        p->func = (CUfunction)kernel;
    if (form & NODE_IN_KERN)
        p->kern = kernel;
    if (form & NODE_NO_FUNC)
        p->func = NULL;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                                    CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    return read_kernel(hNode, nodeParams, nodeParams);
}

VCUDA_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode,
                                                 CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    CUDA_KERNEL_NODE_PARAMS p;
    CUresult r = read_kernel(hNode, nodeParams, &p);

    if (r == CUDA_SUCCESS)
        memcpy(nodeParams, &p, sizeof(*nodeParams));
    return r;
}

VCUDA_EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
    unsigned int form = node_form(hNode);
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, &r);

    if (result != CUDA_SUCCESS)
        return result;
    graph_host_original(&r.node.copy);
    node_read_copy(&r.node.copy, nodeParams);
    if (form & NODE_SRC_NO_PITCH)
        nodeParams->srcPitch = 0;
    if (form & NODE_SRC_NO_HEIGHT)
        nodeParams->srcHeight = 0;
    if (form & NODE_DST_NO_PITCH)
        nodeParams->dstPitch = 0;
    if (form & NODE_DST_NO_HEIGHT)
        nodeParams->dstHeight = 0;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                                 CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, &r);

    if (result == CUDA_SUCCESS)
        *nodeParams =
            (CUDA_MEMSET_NODE_PARAMS){r.node.fill.dst,     r.node.fill.pitch, r.node.fill.value,
                                      r.node.fill.element, r.node.fill.width, r.node.fill.rows};
    return result;
}

VCUDA_EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode hNode,
                                               CUDA_HOST_NODE_PARAMS *nodeParams) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, &r);

    if (result == CUDA_SUCCESS &&
        !hostfunc_find(r.node.host.function, &nodeParams->fn, &nodeParams->userData))
        result = CUDA_ERROR_INVALID_VALUE;
    return result;
}

VCUDA_EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, &r);

    if (result == CUDA_SUCCESS)
        *event_out = (CUevent)r.node.event.event;
    return result;
}

VCUDA_EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, &r);

    if (result == CUDA_SUCCESS)
        *event_out = (CUevent)r.node.event.event;
    return result;
}

VCUDA_EXPORT CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                                     CUDA_BATCH_MEM_OP_NODE_PARAMS *out) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, out, &r);
    void *operations;

    if (result != CUDA_SUCCESS)
        return result;
    operations = node_memory((uint64_t)hNode, r.node.graph, r.node.bytes);
    if (!operations)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(operations, r.more, r.node.bytes);
    *out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        (CUcontext)r.node.context, r.node.bytes / (uint32_t)sizeof(CUstreamBatchMemOpParams),
        operations, r.node.operations.flags};
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                                   CUDA_MEM_ALLOC_NODE_PARAMS *params_out) {
    const struct vcuda_node_access *told;
    CUmemAccessDesc *access = NULL;
    struct node_record r;
    size_t count;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, &r);

    if (result != CUDA_SUCCESS)
        return result;
    told = (const void *)r.more;
    count = r.node.bytes / sizeof(*told);
    if (count)
        access = node_memory((uint64_t)hNode, r.node.graph, count * sizeof(*access));
    if (count && !access)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        access[i].location.type = (CUmemLocationType)told[i].location;
        access[i].location.id = told[i].id;
        access[i].flags = (CUmemAccess_flags)told[i].flags;
    }
    *params_out = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = (CUmemAllocationType)r.node.alloc.type,
                      .handleTypes = (CUmemAllocationHandleType)r.node.alloc.handles,
                      .location = {(CUmemLocationType)r.node.alloc.location, r.node.alloc.id},
                      .maxSize = r.node.alloc.max_size,
                      .usage = (unsigned short)r.node.alloc.usage},
        .accessDescs = access,
        .accessDescCount = count,
        .bytesize = r.node.alloc.bytes,
        .dptr = r.node.alloc.address,
    };
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out) {
    struct node_record r;
    CUresult result = node_ask(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out, &r);

    if (result == CUDA_SUCCESS)
        *dptr_out = r.node.release.address;
    return result;
}

static CUresult enter_attribute(struct thread **t, CUgraphNode node, CUkernelNodeAttrID attr,
                                const void *value) {
    CUresult r = guest_enter_any(t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_NODE, node);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (attr == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                              attr == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
                              attr == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE))
        r = CUDA_ERROR_NOT_SUPPORTED;
    return r;
}

VCUDA_EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                    CUkernelNodeAttrValue *value_out) {
    struct thread *t;
    uint32_t len;
    CUresult r = enter_attribute(&t, hNode, attr, value_out);

    return r == CUDA_SUCCESS ? wire_graph_attribute_get(t, (uint64_t)hNode, (int32_t)attr,
                                                        value_out, sizeof(*value_out), &len)
                             : r;
}

VCUDA_EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                                    const CUkernelNodeAttrValue *value) {
    struct thread *t;
    CUresult r = enter_attribute(&t, hNode, attr, value);

    return r == CUDA_SUCCESS
               ? wire_graph_attribute_set(t, (uint64_t)hNode, (int32_t)attr, value, sizeof(*value))
               : r;
}
