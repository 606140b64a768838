// SPDX-License-Identifier: Apache-2.0
/* Writes to words of memory, and waits for what is in them, in streams: alone and in batches. */
#include <string.h>
#include <time.h>

#include "copy.h"
#include "graph.h"

#define BATCH_MAX 256
#define LOOK_AGAIN_NS 20000 /* a wait looks at its word as often */

struct memop_op {
    struct sim_op op;
    CUcontext context;
    unsigned count;
    CUstreamBatchMemOpParams list[];
};

static bool is_wait(const CUstreamBatchMemOpParams *p) {
    return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool is_wide(const CUstreamBatchMemOpParams *p) {
    return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* Whether a word is as it is waited for. The comparison goes round at the end of the numbers. */
static bool is_there(uint64_t word, uint64_t value, bool wide, unsigned flags) {
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t sign = wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31;

    switch (flags) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return !((word - value) & sign);
    case CU_STREAM_WAIT_VALUE_EQ:
        return ((word ^ value) & mask) == 0;
    case CU_STREAM_WAIT_VALUE_AND:
        return (word & value & mask) != 0;
    default:
        return (~(word | value) & mask) != 0;
    }
}

static uint64_t load(const CUstreamBatchMemOpParams *p) {
    uintptr_t at = p->waitValue.address;

    return is_wide(p) ? __atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST)
                      : __atomic_load_n((uint32_t *)at, __ATOMIC_SEQ_CST);
}

static void wait(const CUstreamBatchMemOpParams *p) {
    static const struct timespec pause = {0, LOOK_AGAIN_NS};

    while (!is_there(load(p), p->waitValue.value64, is_wide(p), p->waitValue.flags) &&
           !__atomic_load_n(&sim_exiting, __ATOMIC_RELAXED))
        nanosleep(&pause, NULL);
}

static void run_one(const CUstreamBatchMemOpParams *p) {
    uintptr_t at = p->writeValue.address;

    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait(p);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        __atomic_store_n((uint32_t *)at, p->writeValue.value, __ATOMIC_SEQ_CST);
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        __atomic_store_n((uint64_t *)at, p->writeValue.value64, __ATOMIC_SEQ_CST);
        break;
    default:
        break; /* a barrier: all words are written in one order for everybody */
    }
}

static CUresult run(struct sim_op *op, struct sim_context *context) {
    struct memop_op *m = (struct memop_op *)op;

    (void)context;
    for (unsigned i = 0; i < m->count; i++)
        run_one(&m->list[i]);
    return CUDA_SUCCESS;
}

static void tell(const struct sim_op *op, CUgraphNodeParams *params) {
    struct memop_op *m = (struct memop_op *)op;

    params->memOp.ctx = m->context;
    params->memOp.count = m->count;
    params->memOp.paramArray = m->list;
}

static CUresult check_one(const CUstreamBatchMemOpParams *p) {
    size_t bytes = is_wide(p) ? 8 : 4;
    enum sim_place place;

    switch (p->operation) {
    case CU_STREAM_MEM_OP_BARRIER:
        return p->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED; /* the device's attribute says so */
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* A write without a barrier is refused as a real GPU of this capability does. */
    if (is_wait(p) && p->waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (p->waitValue.flags >
        (is_wait(p) ? CU_STREAM_WAIT_VALUE_NOR : CU_STREAM_WRITE_VALUE_DEFAULT))
        return CUDA_ERROR_INVALID_VALUE;
    place = p->waitValue.address % bytes ? SIM_BAD : sim_place_of(p->waitValue.address, bytes);
    return sim_is_device(place) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_memop_op(struct sim_context *context, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p,
                      struct sim_op **op) {
    struct memop_op *m;

    *op = NULL;
    if (p->count > BATCH_MAX || (p->count && !p->paramArray) || p->flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < p->count; i++) {
        CUresult result = check_one(&p->paramArray[i]);

        if (result != CUDA_SUCCESS)
            return result;
    }
    m = sim_op_new(sizeof(*m) + p->count * sizeof(m->list[0]), run);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->op.kind = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    m->op.tell = tell;
    m->context = p->ctx ? p->ctx : SIM_HANDLE(context);
    m->count = p->count;
    if (p->count)
        memcpy(m->list, p->paramArray, p->count * sizeof(m->list[0]));
    *op = &m->op;
    return CUDA_SUCCESS;
}

static CUresult submit(CUstream handle, bool per_thread, CUstreamBatchMemOpParams *list,
                       unsigned count, unsigned flags) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 p = {.count = count, .paramArray = list, .flags = flags};
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result == CUDA_SUCCESS && !count && !flags)
        return CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = sim_memop_op(context, &p, &op);
    return result == CUDA_SUCCESS ? sim_submit(stream, op, NULL) : result;
}

/* Waits and writes have the same layout. */
#define OPERATION(name, type, kind)                                                                \
    static CUresult name(CUstream stream, bool per_thread, CUdeviceptr addr, type value,           \
                         unsigned flags) {                                                         \
        CUstreamBatchMemOpParams p = {                                                             \
            .waitValue = {.operation = kind, .address = addr, .value64 = value, .flags = flags}};  \
                                                                                                   \
        return submit(stream, per_thread, &p, 1, 0);                                               \
    }                                                                                              \
    CUresult cuStream##name##_v2(CUstream stream, CUdeviceptr addr, type value,                    \
                                 unsigned int flags) {                                             \
        return name(stream, false, addr, value, flags);                                            \
    }                                                                                              \
    CUresult cuStream##name##_v2_ptsz(CUstream stream, CUdeviceptr addr, type value,               \
                                      unsigned int flags) {                                        \
        return name(stream, true, addr, value, flags);                                             \
    }

OPERATION(WriteValue32, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
OPERATION(WriteValue64, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
OPERATION(WaitValue32, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
OPERATION(WaitValue64, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams *paramArray, unsigned int flags) {
    return submit(stream, false, paramArray, count, flags);
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count,
                                    CUstreamBatchMemOpParams *paramArray, unsigned int flags) {
    return submit(stream, true, paramArray, count, flags);
}
