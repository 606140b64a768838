// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.h"

#include <stdlib.h>
#include <string.h>

struct alloc_op {
    struct sim_op op;
    struct sim_block block;
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 params;
    CUmemAccessDesc access[];
};

struct free_op {
    struct sim_op op;
    CUdeviceptr dptr;
};

/* ---- how much there is of it ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct amount {
    uint64_t now, high; /* bytes */
} used[SIM_MAX_DEVICES], reserved[SIM_MAX_DEVICES];

static void account(struct amount *amount, const struct sim_block *block, bool more) {
    struct amount *a = &amount[block->heap->device];

    pthread_mutex_lock(&lock);
    a->now = more ? a->now + block->span : a->now - block->span;
    if (a->now > a->high)
        a->high = a->now;
    pthread_mutex_unlock(&lock);
}

/* ---- states of a block, changed under the map's lock; false: it was in that state ---- */

static bool wake(struct sim_block *block, bool awake) {
    bool changes = block->graph && block->asleep == awake;

    if (changes)
        block->asleep = !awake;
    return changes;
}

static bool take(struct sim_block *block, bool taken) {
    bool changes = block->graph && block->taken != taken;

    if (changes)
        block->taken = taken;
    return changes;
}

/* The graph is gone: what is allocated still is memory like any other. */
static bool set_free(struct sim_block *block, bool set) {
    bool kept = block->taken;

    (void)set;
    if (kept)
        block->graph = false;
    return kept;
}

/* ---- the nodes ---- */

static CUresult run_alloc(struct sim_op *op, struct sim_context *context) {
    const struct alloc_op *alloc = (const struct alloc_op *)op;

    (void)context;
    if (sim_memory_change(alloc->block.base, wake, true))
        account(used, &alloc->block, true);
    return CUDA_SUCCESS;
}

static void release_alloc(struct sim_op *op) {
    struct alloc_op *alloc = (struct alloc_op *)op;
    struct sim_block now;

    account(reserved, &alloc->block, false);
    if (sim_memory_find(alloc->block.base, &now) && now.id == alloc->block.id) {
        if (!now.asleep)
            account(used, &alloc->block, false);
        if (!sim_memory_change(alloc->block.base, set_free, true))
            sim_memory_free(&alloc->block);
    }
    free(alloc);
}

static void tell_alloc(const struct sim_op *op, CUgraphNodeParams *params) {
    params->alloc = ((const struct alloc_op *)op)->params;
}

static bool sleeps(struct sim_block *block, bool unused) {
    (void)unused;
    block->graph = block->asleep = true;
    return true;
}

/* Each device's memory is its own. */
static CUresult check_access(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p) {
    if (p->accessDescCount && !p->accessDescs)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount; i++)
        if (p->accessDescs[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            p->accessDescs[i].location.id != p->poolProps.location.id)
            return CUDA_ERROR_INVALID_DEVICE;
    return p->accessDescCount > SIM_MAX_DEVICES ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult check_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p) {
    if (!p->bytesize || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !sim_device(p->poolProps.location.id))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return check_access(p);
}

CUresult sim_graph_alloc_op(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p, struct sim_op **op) {
    struct alloc_op *alloc;
    struct sim_space space = {0};
    CUresult result = check_alloc(p);
    uint64_t addr;

    *op = NULL;
    if (result != CUDA_SUCCESS)
        return result;
    alloc = sim_op_new(sizeof(*alloc) + p->accessDescCount * sizeof(alloc->access[0]), run_alloc);
    if (!alloc)
        return CUDA_ERROR_OUT_OF_MEMORY;
    space.heap = &sim_device(p->poolProps.location.id)->heap;
    result = sim_memory_alloc(&space, SIM_MEMORY_DEVICE, p->bytesize, 1, &addr);
    if (result != CUDA_SUCCESS) {
        free(alloc);
        return result;
    }
    sim_memory_change(addr, sleeps, true);
    sim_memory_find(addr, &alloc->block);
    account(reserved, &alloc->block, true);
    p->dptr = addr;
    alloc->params = *p;
    alloc->params.accessDescs = p->accessDescCount ? alloc->access : NULL;
    if (p->accessDescCount)
        memcpy(alloc->access, p->accessDescs, p->accessDescCount * sizeof(alloc->access[0]));
    alloc->op.release = release_alloc;
    alloc->op.kind = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    alloc->op.tell = tell_alloc;
    *op = &alloc->op;
    return CUDA_SUCCESS;
}

void sim_graph_memory_ends(const struct sim_block *block) {
    struct sim_block now;

    if (sim_memory_change(block->base, wake, false))
        account(used, block, false);
    else if (sim_memory_find(block->base, &now) && now.id == block->id && !now.graph)
        sim_memory_free(&now);
}

static CUresult run_free(struct sim_op *op, struct sim_context *context) {
    struct sim_block block;

    (void)context;
    if (sim_memory_find(((struct free_op *)op)->dptr, &block))
        sim_graph_memory_ends(&block);
    return CUDA_SUCCESS;
}

static void tell_free(const struct sim_op *op, CUgraphNodeParams *params) {
    params->free.dptr = ((const struct free_op *)op)->dptr;
}

CUresult sim_graph_free_op(const CUDA_MEM_FREE_NODE_PARAMS *p, struct sim_op **op) {
    struct sim_block block;
    struct free_op *gone;

    *op = NULL;
    if (!sim_memory_find(p->dptr, &block) || block.base != p->dptr || !block.graph)
        return CUDA_ERROR_INVALID_VALUE;
    gone = sim_op_new(sizeof(*gone), run_free);
    if (!gone)
        return CUDA_ERROR_OUT_OF_MEMORY;
    gone->dptr = p->dptr;
    gone->op.kind = CU_GRAPH_NODE_TYPE_MEM_FREE;
    gone->op.tell = tell_free;
    *op = &gone->op;
    return CUDA_SUCCESS;
}

bool sim_graph_frees(const struct sim_graph *graph, CUdeviceptr dptr) {
    for (const struct sim_node *n = graph->first; n; n = n->next)
        if (n->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
            ((const struct free_op *)n->work->op)->dptr == dptr)
            return true;
    return false;
}

/* ---- launches ---- */

/* What a step does to memory, or that undone; false: it cannot be. */
static bool step_takes(const struct sim_step *step, bool undo) {
    if (step->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return sim_memory_change(((const struct alloc_op *)step->work->op)->block.base, take,
                                 !undo);
    if (step->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return sim_memory_change(((const struct free_op *)step->work->op)->dptr, take, undo);
    return true;
}

CUresult sim_graph_memory_begin(const struct sim_exec *exec) {
    bool frees = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;

    for (size_t i = 0; i < exec->count; i++) {
        const struct sim_step *step = &exec->steps[i];

        if (step_takes(step, false) || (frees && step->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            continue;
        while (i)
            step_takes(&exec->steps[--i], true);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

bool sim_graph_memory_give_back(const struct sim_block *block) {
    return sim_memory_change(block->base, take, false);
}

/* ---- what a program asks of all of it ---- */

/* The amount that an attribute is about; *high: its greatest so far. */
static struct amount *amount_of(CUgraphMem_attribute attr, CUdevice dev, bool *high) {
    *high = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        return &used[dev];
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        return &reserved[dev];
    default:
        return NULL;
    }
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
    struct amount *amount;
    bool high;
    SIM_READY();

    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    amount = amount_of(attr, device, &high);
    if (!amount || !value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *(cuuint64_t *)value = high ? amount->high : amount->now;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* 0 is the only value that may be set: begin anew. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
    struct amount *amount;
    bool high;
    SIM_READY();

    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    amount = amount_of(attr, device, &high);
    if (!amount || !high || !value || *(cuuint64_t *)value)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    amount->high = amount->now;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* Nothing is kept for later. */
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    SIM_READY();

    return sim_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
