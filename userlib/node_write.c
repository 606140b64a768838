// SPDX-License-Identifier: Apache-2.0
/* A node's parameters, from the program's form into the record's. */
#include <string.h>

#include "code.h"
#include "cuda_calls.h"
#include "graph_node.h"
#include "hostfunc.h"
#include "launch.h"

static CUresult put(struct node_record *r, const void *bytes, size_t count) {
    if (count > sizeof(r->more) - r->node.bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (count)
        memcpy(r->more + r->node.bytes, bytes, count);
    r->node.bytes += (uint32_t)count;
    return CUDA_SUCCESS;
}

static unsigned int kernel_form(const CUDA_KERNEL_NODE_PARAMS_v3 *k) {
    unsigned int form = k->extra && !k->kernelParams ? NODE_BY_EXTRA : 0;

    if (k->kern)
        return form | NODE_IN_KERN | (k->func ? 0 : NODE_NO_FUNC);
    return names_get(VCUDA_KIND_FUNCTION, (uint64_t)k->func) ? form : form | NODE_AS_KERNEL;
}

unsigned int node_form_of(const CUgraphNodeParams *p) {
    const CUDA_MEMCPY3D *c = &p->memcpy.copyParams;

    if (p->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return kernel_form(&p->kernel);
    if (p->type != CU_GRAPH_NODE_TYPE_MEMCPY)
        return 0;
    return (c->srcPitch ? 0 : NODE_SRC_NO_PITCH) | (c->srcHeight ? 0 : NODE_SRC_NO_HEIGHT) |
           (c->dstPitch ? 0 : NODE_DST_NO_PITCH) | (c->dstHeight ? 0 : NODE_DST_NO_HEIGHT);
}

/* With parameters in both forms those one by one are taken, where a launch is an error. */
static CUresult write_kernel(struct thread *t, const CUDA_KERNEL_NODE_PARAMS_v3 *k,
                             struct node_record *out) {
    CUfunction handle = k->func ? k->func : (CUfunction)k->kern;
    struct function *f;
    CUresult r = function_resolve(t, handle, &f);

    if (r == CUDA_SUCCESS && f->layout.bytes > sizeof(out->more))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = params_put(&f->layout, k->kernelParams, k->kernelParams ? NULL : k->extra, out->more);
    if (r != CUDA_SUCCESS)
        return r;
    out->node.bytes = f->layout.bytes;
    out->node.context = (uint64_t)k->ctx;
    out->node.kernel.function = f->name;
    out->node.kernel.grid[0] = k->gridDimX, out->node.kernel.grid[1] = k->gridDimY;
    out->node.kernel.grid[2] = k->gridDimZ;
    out->node.kernel.block[0] = k->blockDimX, out->node.kernel.block[1] = k->blockDimY;
    out->node.kernel.block[2] = k->blockDimZ;
    out->node.kernel.shared = k->sharedMemBytes;
    return CUDA_SUCCESS;
}

static CUresult write_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *m, struct node_record *out) {
    out->node.context = (uint64_t)m->ctx;
    out->node.fill.dst = m->dst;
    out->node.fill.pitch = m->pitch;
    out->node.fill.width = m->width;
    out->node.fill.rows = m->height;
    out->node.fill.value = m->value;
    out->node.fill.element = m->elementSize;
    return CUDA_SUCCESS;
}

static CUresult write_host(const CUDA_HOST_NODE_PARAMS_v2 *h, struct node_record *out) {
    if (!h->fn)
        return CUDA_ERROR_INVALID_VALUE;
    out->node.host.function = hostfunc_register(h->fn, h->userData);
    if (!out->node.host.function)
        return CUDA_ERROR_OUT_OF_MEMORY;
    out->node.host.end = hostfunc_register_end(out->node.host.function);
    if (out->node.host.end)
        return CUDA_SUCCESS;
    hostfunc_drop(out->node.host.function);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void node_drop(uint64_t owner, const struct node_record *r) {
    if (r->node.type == CU_GRAPH_NODE_TYPE_MEMCPY)
        graph_host_undo(owner, &r->held);
    if (r->node.type != CU_GRAPH_NODE_TYPE_HOST)
        return;
    hostfunc_drop(r->node.host.end);
    hostfunc_drop(r->node.host.function);
}

static CUresult write_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *a, struct node_record *out) {
    CUresult r = CUDA_SUCCESS;

    if (a->accessDescCount && !a->accessDescs)
        return CUDA_ERROR_INVALID_VALUE;
    out->node.alloc.bytes = a->bytesize;
    out->node.alloc.max_size = a->poolProps.maxSize;
    out->node.alloc.type = a->poolProps.allocType;
    out->node.alloc.handles = a->poolProps.handleTypes;
    out->node.alloc.location = a->poolProps.location.type;
    out->node.alloc.id = a->poolProps.location.id;
    out->node.alloc.usage = a->poolProps.usage;
    for (size_t i = 0; i < a->accessDescCount && r == CUDA_SUCCESS; i++) {
        struct vcuda_node_access one = {a->accessDescs[i].location.type,
                                        a->accessDescs[i].location.id, a->accessDescs[i].flags, 0};

        r = put(out, &one, sizeof(one));
    }
    return r;
}

static CUresult write_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *m,
                                 struct node_record *out) {
    if ((m->count && !m->paramArray) || m->count > VCUDA_NODE_OPERATIONS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    out->node.context = (uint64_t)m->ctx;
    out->node.operations.flags = m->flags;
    out->node.operations.count = m->count;
    return put(out, m->paramArray, m->count * sizeof(*m->paramArray));
}

CUresult node_write(struct thread *t, const CUgraphNodeParams *p, uint64_t owner, uint64_t node,
                    struct node_record *out) {
    memset(&out->node, 0, sizeof(out->node));
    out->node.type = p->type;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return write_kernel(t, &p->kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (p->memcpy.flags || p->memcpy.reserved)
            return CUDA_ERROR_INVALID_VALUE;
        out->node.context = (uint64_t)p->memcpy.copyCtx;
        return node_write_copy(t, &p->memcpy.copyParams, owner, node, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return write_fill(&p->memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
        return write_host(&p->host, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        out->node.child.graph = (uint64_t)p->graph.graph;
        out->node.child.ownership = p->graph.ownership;
        return guest_check(VCUDA_KIND_GRAPH, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        out->node.event.event = (uint64_t)p->eventRecord.event;
        if (!p->eventRecord.event)
            return CUDA_ERROR_INVALID_VALUE;
        return guest_check(VCUDA_KIND_EVENT, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return write_alloc(&p->alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        out->node.release.address = p->free.dptr;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return write_operations(&p->memOp, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->node.context = (uint64_t)p->conditional.ctx;
        out->node.conditional.handle = p->conditional.handle;
        out->node.conditional.type = p->conditional.type;
        out->node.conditional.size = p->conditional.size;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
