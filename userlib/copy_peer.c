// SPDX-License-Identifier: Apache-2.0
/* Copies between the memories of two contexts. */
#include <string.h>

#include "arena.h"
#include "boxes.h"
#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "peer_order.h"
#include "ranges.h"
#include "wire.h"

/* One copy of bytes. */
struct peer_copy {
    CUdeviceptr dst, src;
    CUcontext to, from;
    size_t bytes;
    CUstream stream;
};

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

static CUresult enter(struct thread **t, struct peer_copy *c, uint64_t *name) {
    CUresult r = guest_enter_stream(t, c->stream, name);

    if (r == CUDA_SUCCESS)
        r = settle_context(*t, &c->to);
    return r == CUDA_SUCCESS ? settle_context(*t, &c->from) : r;
}

/* Not by the driver, which makes its caller wait for such a copy: that would be the worker. */
static CUresult copy_on_host(struct thread *t, const struct peer_copy *c, uint64_t name) {
    CUresult r = wire_cuStreamSynchronize(t, name);

    if (r == CUDA_SUCCESS)
        memmove((void *)c->dst, (const void *)c->src, c->bytes);
    return r;
}

static CUresult run(struct thread *t, const struct peer_copy *c, uint64_t name) {
    bool good = is_of(c->dst, c->bytes, c->to) && is_of(c->src, c->bytes, c->from);

    /* The driver knows whole regions of the arena only. */
    if (!good && (arena_overrun((const void *)c->dst, c->bytes) ||
                  arena_overrun((const void *)c->src, c->bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!good && arena_holds((const void *)c->dst, c->bytes) &&
        arena_holds((const void *)c->src, c->bytes) && !capture_graph(t, name))
        return copy_on_host(t, c, name);
    return wire_cuMemcpyPeerAsync(t, good, c->dst, (uint64_t)c->to, c->src, (uint64_t)c->from,
                                  c->bytes, name);
}

VCUDA_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                        CUdeviceptr srcDevice, CUcontext srcContext,
                                        size_t ByteCount, CUstream hStream) {
    struct peer_copy c = {dstDevice, srcDevice, dstContext, srcContext, ByteCount, hStream};
    uint64_t name;
    struct thread *t;
    CUresult r = enter(&t, &c, &name);

    return r == CUDA_SUCCESS && ByteCount ? run(t, &c, name) : r;
}

/* Between memories of devices the call does not wait. */
static CUresult copy(struct peer_copy *c) {
    uint64_t name;
    struct thread *t;
    CUresult r = enter(&t, c, &name);

    if (r != CUDA_SUCCESS || !c->bytes)
        return r;
    r = peer_order_before(c->to, c->from, c->stream);
    if (r == CUDA_SUCCESS)
        r = run(t, c, name);
    if (r == CUDA_SUCCESS &&
        (arena_holds((const void *)c->dst, 1) || arena_holds((const void *)c->src, 1)))
        r = wire_cuStreamSynchronize(t, name);
    return r == CUDA_SUCCESS ? peer_order_behind(c->to, c->from, c->stream) : r;
}

VCUDA_EXPORT CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount) {
    return copy(&(struct peer_copy){dstDevice, srcDevice, dstContext, srcContext, ByteCount, NULL});
}

VCUDA_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext,
                                        CUdeviceptr srcDevice, CUcontext srcContext,
                                        size_t ByteCount) {
    return copy(&(struct peer_copy){dstDevice, srcDevice, dstContext, srcContext, ByteCount,
                                    CU_STREAM_PER_THREAD});
}

CUresult copy3d_call_peer(const struct vcuda_copy3d *copy, CUstream stream) {
    CUcontext to = (CUcontext)copy->dst.context, from = (CUcontext)copy->src.context;
    CUresult r = peer_order_before(to, from, stream);

    if (r == CUDA_SUCCESS)
        r = copy3d_call(copy, stream, true);
    return r == CUDA_SUCCESS ? peer_order_behind(to, from, stream) : r;
}
