// SPDX-License-Identifier: Apache-2.0
/* A node's parameters as the driver tells them, into the record's form. */

#include "graph_params.h"
#include "hostfunc.h"

/* What is written. */
struct told {
    struct worker *w;
    struct vcuda_node *node;
    uint8_t *more; /* what follows it */
    uint32_t room; /* bytes there */
};

/* Of a context that the guest does not know (the worker's own), it hears nothing. */
static uint64_t name_of(struct told *t, enum vcuda_kind kind, const void *native) {
    return native ? objects_find(&t->w->objects, kind, native) : 0;
}

static CUresult put(struct told *t, const void *bytes, size_t count) {
    if (count > t->room - t->node->bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (count)
        memcpy(t->more + t->node->bytes, bytes, count);
    t->node->bytes += (uint32_t)count;
    return CUDA_SUCCESS;
}

/* Parameters that were given in one buffer are told so. */
static CUresult put_extra(struct told *t, void **extra) {
    const void *buffer = NULL;
    size_t size = 0;

    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(size_t *)extra[1];
    }
    return buffer ? put(t, buffer, size) : CUDA_SUCCESS;
}

static CUresult put_params(struct told *t, CUfunction function, void **params) {
    size_t offset, size;

    for (size_t i = 0; t->w->driver.cuFuncGetParamInfo(function, i, &offset, &size) == CUDA_SUCCESS;
         i++) {
        if (offset > t->room || size > t->room - offset)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(t->more + offset, params[i], size);
        if (offset + size > t->node->bytes)
            t->node->bytes = (uint32_t)(offset + size);
    }
    return CUDA_SUCCESS;
}

static CUresult tell_kernel(struct told *t, CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS k = {0};
    CUresult r = t->w->driver.cuGraphKernelNodeGetParams_v2(node, &k);

    if (r == CUDA_SUCCESS && !k.func && k.kern)
        r = t->w->driver.cuKernelGetFunction(&k.func, k.kern);
    if (r != CUDA_SUCCESS)
        return r;
    t->node->kernel.function = name_of(t, VCUDA_KIND_FUNCTION, k.func);
    t->node->context = name_of(t, VCUDA_KIND_CONTEXT, k.ctx);
    t->node->kernel.grid[0] = k.gridDimX, t->node->kernel.grid[1] = k.gridDimY;
    t->node->kernel.grid[2] = k.gridDimZ;
    t->node->kernel.block[0] = k.blockDimX, t->node->kernel.block[1] = k.blockDimY;
    t->node->kernel.block[2] = k.blockDimZ;
    t->node->kernel.shared = k.sharedMemBytes;
    if (k.kernelParams)
        return put_params(t, k.func, k.kernelParams);
    return k.extra ? put_extra(t, k.extra) : CUDA_SUCCESS;
}

static CUresult tell_copy(struct told *t, CUgraphNode node) {
    CUDA_MEMCPY3D c = {0};
    CUresult r = t->w->driver.cuGraphMemcpyNodeGetParams(node, &c);

    return r == CUDA_SUCCESS ? copy3d_told(t->w, &c, &t->node->copy) : r;
}

static CUresult tell_fill(struct told *t, CUgraphNode node) {
    CUDA_MEMSET_NODE_PARAMS m = {0};
    CUresult r = t->w->driver.cuGraphMemsetNodeGetParams(node, &m);

    t->node->fill.dst = m.dst;
    t->node->fill.pitch = m.pitch;
    t->node->fill.width = m.width;
    t->node->fill.rows = m.height;
    t->node->fill.value = m.value;
    t->node->fill.element = m.elementSize;
    return r;
}

static CUresult tell_host(struct told *t, CUgraphNode node) {
    CUDA_HOST_NODE_PARAMS h = {0};
    CUresult r = t->w->driver.cuGraphHostNodeGetParams(node, &h);

    t->node->host.function = hostfunc_id(h.userData);
    return r;
}

static CUresult tell_event(struct told *t, CUgraphNode node) {
    CUevent event = NULL;
    CUresult r = t->node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD
                     ? t->w->driver.cuGraphEventRecordNodeGetEvent(node, &event)
                     : t->w->driver.cuGraphEventWaitNodeGetEvent(node, &event);

    t->node->event.event = name_of(t, VCUDA_KIND_EVENT, event);
    return r;
}

/* The guest's number of a device of the driver's. */
static int32_t guest_device(const struct worker *w, int id) {
    CUdevice device;

    for (int i = 0; i < w->gpu_count; i++) {
        if (worker_device(w, i, &device) == CUDA_SUCCESS && device == id)
            return i;
    }
    return -1;
}

static CUresult tell_alloc(struct told *t, CUgraphNode node) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {0};
    CUresult r = t->w->driver.cuGraphMemAllocNodeGetParams(node, &p);

    t->node->alloc.bytes = p.bytesize;
    t->node->alloc.address = p.dptr;
    t->node->alloc.max_size = p.poolProps.maxSize;
    t->node->alloc.type = p.poolProps.allocType;
    t->node->alloc.handles = p.poolProps.handleTypes;
    t->node->alloc.usage = p.poolProps.usage;
    t->node->alloc.location = p.poolProps.location.type;
    t->node->alloc.id = guest_device(t->w, p.poolProps.location.id);
    for (size_t i = 0; i < p.accessDescCount && r == CUDA_SUCCESS; i++) {
        struct vcuda_node_access a = {p.accessDescs[i].location.type,
                                      guest_device(t->w, p.accessDescs[i].location.id),
                                      p.accessDescs[i].flags, 0};

        r = put(t, &a, sizeof(a));
    }
    return r;
}

static CUresult tell_operations(struct told *t, CUgraphNode node) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {0};
    CUresult r = t->w->driver.cuGraphBatchMemOpNodeGetParams(node, &p);

    if (r != CUDA_SUCCESS)
        return r;
    t->node->context = name_of(t, VCUDA_KIND_CONTEXT, p.ctx);
    t->node->operations.flags = p.flags;
    t->node->operations.count = p.count;
    return put(t, p.paramArray, p.count * sizeof(*p.paramArray));
}

static CUresult tell_kind(struct told *t, CUgraphNode node) {
    CUdeviceptr address = 0;
    CUgraph graph;
    CUresult r;

    switch (t->node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return tell_kernel(t, node);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return tell_copy(t, node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return tell_fill(t, node);
    case CU_GRAPH_NODE_TYPE_HOST:
        return tell_host(t, node);
    case CU_GRAPH_NODE_TYPE_GRAPH: /* the graph in it has a call of its own */
        return t->w->driver.cuGraphChildGraphNodeGetGraph(node, &graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return tell_event(t, node);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return tell_alloc(t, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        r = t->w->driver.cuGraphMemFreeNodeGetParams(node, &address);
        t->node->release.address = address;
        return r;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return tell_operations(t, node);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult node_params_tell(struct worker *w, CUgraphNode node, uint32_t type, void *out,
                          uint32_t cap, uint32_t *len) {
    struct told t = {w, out, (uint8_t *)out + sizeof(struct vcuda_node),
                     cap - (uint32_t)sizeof(struct vcuda_node)};
    CUresult r;

    if (cap < sizeof(*t.node))
        return CUDA_ERROR_INVALID_VALUE;
    t.node->type = type;
    r = tell_kind(&t, node);
    *len = (uint32_t)sizeof(*t.node) + t.node->bytes;
    return r;
}
