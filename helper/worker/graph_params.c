// SPDX-License-Identifier: Apache-2.0
/*
 * A node's parameters: from the record's form, every name and address of it checked, into the
 * driver's. Nothing of it outlives the call: the driver copies what it is given.
 */
#include "graph_params.h"

#include "addresses.h"

#include <stdlib.h>

#include "conditional.h"
#include "function.h"
#include "hostfunc.h"

/* What follows the fixed part is a list of elements of one size. */
static CUresult list_of(const struct vcuda_node *n, size_t element, uint32_t most,
                        uint32_t *count) {
    *count = n->bytes / (uint32_t)element;
    return n->bytes % element || *count > most ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult build_kernel(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    CUDA_KERNEL_NODE_PARAMS_v3 *k = &p->native.kernel;
    const uint8_t *bytes = (const uint8_t *)(n + 1);
    size_t count = 0, offset, size;
    struct object f;

    if (!objects_get(&w->objects, VCUDA_KIND_FUNCTION, n->kernel.function, &f))
        return CUDA_ERROR_INVALID_VALUE;
    if (n->bytes < function_params(&f))
        return CUDA_ERROR_INVALID_VALUE;
    k->func = f.native;
    k->ctx = p->context;
    k->gridDimX = n->kernel.grid[0], k->gridDimY = n->kernel.grid[1];
    k->gridDimZ = n->kernel.grid[2];
    k->blockDimX = n->kernel.block[0], k->blockDimY = n->kernel.block[1];
    k->blockDimZ = n->kernel.block[2];
    k->sharedMemBytes = n->kernel.shared;
    while (w->driver.cuFuncGetParamInfo(k->func, count, &offset, &size) == CUDA_SUCCESS)
        count++;
    k->kernelParams = p->memory = calloc(count + 1, sizeof(void *));
    if (!p->memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        w->driver.cuFuncGetParamInfo(k->func, i, &offset, &size);
        if (offset + size > n->bytes)
            return CUDA_ERROR_INVALID_VALUE;
        k->kernelParams[i] = (void *)(bytes + offset);
    }
    return CUDA_SUCCESS;
}

static CUresult build_copy(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    p->native.memcpy.copyCtx = p->context;
    return copy3d_native(w, &n->copy, &p->native.memcpy.copyParams);
}

static CUresult build_fill(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    uint64_t width;

    if (__builtin_mul_overflow(n->fill.width, n->fill.element, &width))
        width = UINT64_MAX;
    if (!addresses_rows_ok(w, n->fill.dst, n->fill.pitch, width, n->fill.rows))
        return CUDA_ERROR_INVALID_VALUE;
    p->native.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = n->fill.dst,
        .pitch = n->fill.pitch,
        .value = n->fill.value,
        .elementSize = n->fill.element,
        .width = n->fill.width,
        .height = n->fill.rows,
        .ctx = p->context,
    };
    return CUDA_SUCCESS;
}

/* Whether a graph is that other one, or lies inside it: the driver would not see the circle. */
static bool lies_in(struct worker *w, uint64_t graph, uint64_t other) {
    struct object o;

    while (graph != other) {
        if (!objects_get(&w->objects, VCUDA_KIND_GRAPH, graph, &o))
            return false;
        graph = graph_owner_of(w, o.owner); /* the node that has it, and that node's graph */
    }
    return true;
}

static CUresult build_child(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    if (lies_in(w, p->graph, n->child.graph))
        return CUDA_ERROR_INVALID_VALUE;
    if (n->child.ownership > CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    p->native.graph.ownership = (CUgraphChildGraphNodeOwnership)n->child.ownership;
    return frame_object(w, VCUDA_KIND_GRAPH, n->child.graph, (void **)&p->native.graph.graph);
}

static CUresult build_event(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    return frame_object(w, VCUDA_KIND_EVENT, n->event.event, (void **)&p->native.eventRecord.event);
}

/* A place of memory: devices are the guest's numbers. */
static CUresult build_location(struct worker *w, uint32_t type, int32_t id, CUmemLocation *out) {
    CUdevice device;

    out->type = (CUmemLocationType)type;
    out->id = id;
    if (type != CU_MEM_LOCATION_TYPE_DEVICE || worker_device(w, id, &device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    out->id = device;
    return CUDA_SUCCESS;
}

static CUresult build_alloc(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    const struct vcuda_node_access *a = (const void *)(n + 1);
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 *out = &p->native.alloc;
    CUmemAccessDesc *access;
    uint32_t count;
    CUresult r = list_of(n, sizeof(*a), VCUDA_NODE_ACCESS_MAX, &count);

    if (r != CUDA_SUCCESS)
        return r;
    access = p->memory = calloc(count + 1, sizeof(*access));
    if (!access)
        return CUDA_ERROR_OUT_OF_MEMORY;
    out->poolProps.allocType = (CUmemAllocationType)n->alloc.type;
    out->poolProps.handleTypes = (CUmemAllocationHandleType)n->alloc.handles;
    out->poolProps.maxSize = n->alloc.max_size;
    out->poolProps.usage = (unsigned short)n->alloc.usage;
    out->bytesize = n->alloc.bytes;
    r = build_location(w, n->alloc.location, n->alloc.id, &out->poolProps.location);
    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        r = build_location(w, a[i].location, a[i].id, &access[i].location);
        access[i].flags = (CUmemAccess_flags)a[i].flags;
    }
    out->accessDescs = count ? access : NULL;
    out->accessDescCount = count;
    return r;
}

static CUresult build_operations(struct worker *w, const struct vcuda_node *n,
                                 struct node_params *p) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *out = &p->native.memOp;
    uint32_t count;
    CUresult r = list_of(n, sizeof(struct vcuda_node_operation), VCUDA_NODE_OPERATIONS_MAX, &count);

    _Static_assert(sizeof(struct vcuda_node_operation) == sizeof(CUstreamBatchMemOpParams), "form");
    if (r != CUDA_SUCCESS)
        return r;
    if (!addresses_operations_ok(w, (const CUstreamBatchMemOpParams *)(n + 1), count))
        return CUDA_ERROR_INVALID_VALUE;
    p->memory = malloc(n->bytes + 1);
    if (!p->memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(p->memory, n + 1, n->bytes);
    out->ctx = p->context;
    out->count = count;
    out->paramArray = p->memory;
    out->flags = n->operations.flags;
    return CUDA_SUCCESS;
}

static CUresult build_conditional(struct worker *w, const struct vcuda_node *n,
                                  struct node_params *p) {
    if (!conditional_known(w, n->conditional.handle) || n->conditional.size > VCUDA_NODE_BODIES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    p->native.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = n->conditional.handle,
        .type = (CUgraphConditionalNodeType)n->conditional.type,
        .size = n->conditional.size,
        .ctx = p->context,
    };
    return CUDA_SUCCESS;
}

static CUresult build_kind(struct worker *w, const struct vcuda_node *n, struct node_params *p) {
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return build_kernel(w, n, p);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return build_copy(w, n, p);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return build_fill(w, n, p);
    case CU_GRAPH_NODE_TYPE_HOST:
        p->native.host.fn = hostfunc_again;
        p->native.host.userData = hostfunc_arg(n->host.function);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return build_child(w, n, p);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return build_event(w, n, p);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return build_alloc(w, n, p);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        p->native.free.dptr = n->release.address;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return build_operations(w, n, p);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return build_conditional(w, n, p);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult node_params_build(struct worker *w, uint64_t graph, const void *record, uint32_t len,
                           struct node_params *p) {
    const struct vcuda_node *n = record;
    CUresult r;

    memset(p, 0, sizeof(*p));
    if (len < sizeof(*n) || n->bytes != len - sizeof(*n))
        return CUDA_ERROR_INVALID_VALUE;
    p->native.type = (CUgraphNodeType)n->type;
    p->graph = graph;
    r = frame_object_or_null(w, VCUDA_KIND_CONTEXT, n->context, (void **)&p->context);
    if (r == CUDA_SUCCESS)
        r = build_kind(w, n, p);
    if (r != CUDA_SUCCESS)
        node_params_drop(p);
    return r;
}

void node_params_drop(struct node_params *p) {
    free(p->memory);
    p->memory = NULL;
}
