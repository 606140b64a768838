// SPDX-License-Identifier: Apache-2.0
/* Operations on memory words in streams. */
#include "addresses.h"
#include "worker.h"

static CUresult one(struct worker *w, const struct args_stream_memops *a,
                    const CUstreamBatchMemOpParams *op) {
    const struct driver *d = &w->driver;
    bool old = a->version == 1;
    CUdeviceptr at = op->waitValue.address;
    uint32_t value = op->waitValue.value;
    uint64_t value64 = op->waitValue.value64;
    unsigned int flags = op->waitValue.flags;

    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return (old ? d->cuStreamWaitValue32 : d->cuStreamWaitValue32_v2)(a->stream, at, value,
                                                                          flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return (old ? d->cuStreamWriteValue32 : d->cuStreamWriteValue32_v2)(a->stream, at, value,
                                                                            flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return (old ? d->cuStreamWaitValue64 : d->cuStreamWaitValue64_v2)(a->stream, at, value64,
                                                                          flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return (old ? d->cuStreamWriteValue64 : d->cuStreamWriteValue64_v2)(a->stream, at, value64,
                                                                            flags);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult own_stream_memops(struct worker *w, struct frame *f, struct args_stream_memops *a) {
    CUstreamBatchMemOpParams *ops = (CUstreamBatchMemOpParams *)a->ops;
    uint32_t count = a->ops_len / (uint32_t)sizeof(*ops);

    (void)f;
    if (a->ops_len % sizeof(*ops) || (a->single && count != 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (!addresses_operations_ok(w, ops, count))
        return CUDA_ERROR_INVALID_VALUE;
    if (a->single)
        return one(w, a, ops);
    return (a->version == 1 ? w->driver.cuStreamBatchMemOp
                            : w->driver.cuStreamBatchMemOp_v2)(a->stream, count, ops, a->flags);
}
