// SPDX-License-Identifier: Apache-2.0
/* Copies of bytes between the memories of two contexts. */
#include "cuda_calls.h"
#include "guest.h"
#include "ranges.h"
#include "wire.h"

/* Memory that is known to be there, and to be that context's. */
static bool is_of(uint64_t address, size_t bytes, CUcontext context) {
    struct range range;

    return ranges_find(address, bytes, &range) && range.context == (uint64_t)context;
}

/* None given means the thread's own. */
static CUresult settle_context(const struct thread *t, CUcontext *context) {
    if (!*context)
        *context = (CUcontext)t->context;
    return guest_check(VCUDA_KIND_CONTEXT, *context);
}

VCUDA_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                        CUdeviceptr srcDevice, CUcontext srcContext,
                                        size_t ByteCount, CUstream hStream) {
    uint64_t name;
    struct thread *t;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS)
        r = settle_context(t, &dstContext);
    if (r == CUDA_SUCCESS)
        r = settle_context(t, &srcContext);
    if (r != CUDA_SUCCESS || !ByteCount)
        return r;
    return wire_cuMemcpyPeerAsync(
        t, is_of(dstDevice, ByteCount, dstContext) && is_of(srcDevice, ByteCount, srcContext),
        dstDevice, (uint64_t)dstContext, srcDevice, (uint64_t)srcContext, ByteCount, name);
}

/* Memory of devices only: the call does not wait. */
VCUDA_EXPORT CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount) {
    return cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL);
}

VCUDA_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext,
                                        CUdeviceptr srcDevice, CUcontext srcContext,
                                        size_t ByteCount) {
    return cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext, ByteCount,
                             CU_STREAM_PER_THREAD);
}
