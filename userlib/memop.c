// SPDX-License-Identifier: Apache-2.0
/* Operations on memory words in streams: writes, waits, and batches of them. */
#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* What the driver takes in one batch. */
#define BATCH_MAX 256u

static CUresult send(CUstream stream, uint32_t version, bool single, unsigned int flags,
                     const CUstreamBatchMemOpParams *ops, unsigned int count) {
    uint64_t name;
    struct thread *t;
    CUresult r = guest_enter_stream(&t, stream, &name);

    if (r == CUDA_SUCCESS && (count > BATCH_MAX || (count && !ops)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    return wire_stream_memops(t, name, version, single, flags, ops, count * (uint32_t)sizeof(*ops));
}

static CUresult one(CUstream stream, uint32_t version, CUstreamBatchMemOpType operation,
                    CUdeviceptr address, uint64_t value, unsigned int flags) {
    CUstreamBatchMemOpParams op = {0};

    /* Waits and writes have the same layout. */
    op.waitValue.operation = operation;
    op.waitValue.address = address;
    op.waitValue.value64 = value;
    op.waitValue.flags = flags;
    return send(stream, version, true, 0, &op, 1);
}

#define OPERATION(name, version, type, operation)                                                  \
    VCUDA_EXPORT CUresult name(CUstream stream, CUdeviceptr addr, type value,                      \
                               unsigned int flags) {                                               \
        return one(stream, version, operation, addr, value, flags);                                \
    }

OPERATION(cuStreamWriteValue32, 1, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
OPERATION(cuStreamWriteValue32_v2, 2, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
OPERATION(cuStreamWriteValue64, 1, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
OPERATION(cuStreamWriteValue64_v2, 2, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
OPERATION(cuStreamWaitValue32, 1, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
OPERATION(cuStreamWaitValue32_v2, 2, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
OPERATION(cuStreamWaitValue64, 1, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
OPERATION(cuStreamWaitValue64_v2, 2, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)

VCUDA_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                         CUstreamBatchMemOpParams *paramArray, unsigned int flags) {
    return send(stream, 1, false, flags, paramArray, count);
}

VCUDA_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                            CUstreamBatchMemOpParams *paramArray,
                                            unsigned int flags) {
    return send(stream, 2, false, flags, paramArray, count);
}
