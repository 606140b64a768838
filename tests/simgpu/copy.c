// SPDX-License-Identifier: Apache-2.0
/*
 * Copies and fills. All of them are operations in a stream; they differ in what the host waits for:
 * pageable memory cannot be left to a copy that goes on, so that the host waits for the copy, or
 * hands over a copy of a small source.
 */
#include <string.h>

#include "copy.h"
#include "graph.h"

#define STAGE_LIMIT ((size_t)65536) /* bytes of pageable memory that are taken at once */

struct copy_op {
    struct sim_op op;
    uint64_t dst, src;
    size_t bytes;
    char staged[]; /* the source, if src is 0 */
};

struct fill_op {
    struct sim_op op;
    uint64_t dst;
    size_t count;
    unsigned width; /* bytes of the pattern */
    uint32_t pattern;
};

enum sim_place sim_place_of(uint64_t addr, size_t bytes) {
    struct sim_block block;

    if (!sim_memory_find(addr, &block))
        return addr ? SIM_PAGEABLE : SIM_BAD;
    while (bytes > block.size - (addr - block.base)) {
        /* Mappings that touch are one piece of memory. */
        if (block.kind != SIM_MEMORY_MAPPED || !block.access)
            return SIM_BAD;
        bytes -= block.size - (addr - block.base);
        addr = block.base + block.size;
        if (!sim_memory_find(addr, &block) || block.kind != SIM_MEMORY_MAPPED)
            return SIM_BAD;
    }
    if (block.kind == SIM_MEMORY_MAPPED && !block.access)
        return SIM_BAD;
    if (sim_block_on_device(&block))
        return SIM_DEVICE;
    return block.kind == SIM_MEMORY_MANAGED ? SIM_MANAGED : SIM_PINNED;
}

static CUresult run_copy(struct sim_op *op, struct sim_context *context) {
    struct copy_op *copy = (struct copy_op *)op;
    const void *source = copy->src ? (void *)(uintptr_t)copy->src : copy->staged;

    (void)context;
    memmove((void *)(uintptr_t)copy->dst, source, copy->bytes);
    return CUDA_SUCCESS;
}

static void tell_copy(const struct sim_op *op, CUgraphNodeParams *params) {
    const struct copy_op *copy = (const struct copy_op *)op;

    params->memcpy.copyParams = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = copy->src,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = copy->dst,
        .WidthInBytes = copy->bytes,
        .Height = 1,
        .Depth = 1,
    };
}

/* What a call asks for. */
struct request {
    uint64_t dst, src;
    size_t bytes;
    enum sim_place to, from;
    bool async; /* it takes a stream */
    bool per_thread;
};

static CUresult copy(const struct request *request, CUstream handle) {
    bool stage = request->async && request->from == SIM_PAGEABLE && request->to == SIM_DEVICE &&
                 request->bytes <= STAGE_LIMIT;
    bool inside = request->from == SIM_DEVICE && request->to == SIM_DEVICE;
    bool wait = request->async ? sim_copy_waits(request->to, request->from) && !stage : !inside;
    SIM_AUTO struct sim_stream *stream = NULL;
    struct copy_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, request->per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (request->bytes == 0)
        return CUDA_SUCCESS;
    stage = stage && !stream->tips.capture; /* a node reads its source when it runs */
    if (request->to == SIM_BAD || request->from == SIM_BAD)
        return CUDA_ERROR_INVALID_VALUE;
    op = sim_op_new(sizeof(*op) + (stage ? request->bytes : 0), run_copy);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = request->dst;
    op->src = stage ? 0 : request->src;
    op->bytes = request->bytes;
    op->op.kind = CU_GRAPH_NODE_TYPE_MEMCPY;
    op->op.tell = tell_copy;
    if (stage)
        memcpy(op->staged, (void *)(uintptr_t)request->src, request->bytes);
    return wait ? sim_submit_and_wait(stream, &op->op) : sim_submit_with_room(stream, &op->op);
}

static struct request ask(uint64_t dst, uint64_t src, size_t bytes, bool async, bool per_thread) {
    return (struct request){
        .dst = dst,
        .src = src,
        .bytes = bytes,
        .to = sim_place_of(dst, bytes),
        .from = sim_place_of(src, bytes),
        .async = async,
        .per_thread = per_thread,
    };
}

/* Each direction insists on what its name says. */
static CUresult to_device(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream,
                          bool async, bool per_thread) {
    struct request request = ask(dst, (uintptr_t)src, bytes, async, per_thread);

    if (!sim_is_device(request.to) || !sim_is_host(request.from))
        request.to = SIM_BAD;
    return copy(&request, stream);
}

static CUresult to_host(void *dst, CUdeviceptr src, size_t bytes, CUstream stream, bool async,
                        bool per_thread) {
    struct request request = ask((uintptr_t)dst, src, bytes, async, per_thread);

    if (!sim_is_host(request.to) || !sim_is_device(request.from))
        request.to = SIM_BAD;
    return copy(&request, stream);
}

static CUresult between_devices(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream,
                                bool async, bool per_thread) {
    struct request request = ask(dst, src, bytes, async, per_thread);

    if (!sim_is_device(request.to) || !sim_is_device(request.from))
        request.to = SIM_BAD;
    return copy(&request, stream);
}

/* The direction follows from the addresses. */
static CUresult by_address(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream,
                           bool async, bool per_thread) {
    struct request request = ask(dst, src, bytes, async, per_thread);

    return copy(&request, stream);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    return by_address(dst, src, ByteCount, NULL, false, false);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    return by_address(dst, src, ByteCount, NULL, false, true);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
    return by_address(dst, src, ByteCount, hStream, true, false);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
    return by_address(dst, src, ByteCount, hStream, true, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
    return to_device(dstDevice, srcHost, ByteCount, NULL, false, false);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
    return to_device(dstDevice, srcHost, ByteCount, NULL, false, true);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                              CUstream hStream) {
    return to_device(dstDevice, srcHost, ByteCount, hStream, true, false);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                   CUstream hStream) {
    return to_device(dstDevice, srcHost, ByteCount, hStream, true, true);
}

CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return to_host(dstHost, srcDevice, ByteCount, NULL, false, false);
}

CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return to_host(dstHost, srcDevice, ByteCount, NULL, false, true);
}

CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
    return to_host(dstHost, srcDevice, ByteCount, hStream, true, false);
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream) {
    return to_host(dstHost, srcDevice, ByteCount, hStream, true, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return between_devices(dstDevice, srcDevice, ByteCount, NULL, false, false);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return between_devices(dstDevice, srcDevice, ByteCount, NULL, false, true);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
    return between_devices(dstDevice, srcDevice, ByteCount, hStream, true, false);
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream) {
    return between_devices(dstDevice, srcDevice, ByteCount, hStream, true, true);
}

/* All contexts share one address space: each place is found by its address. */
static CUresult peer_copy(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                          size_t bytes, CUstream stream, bool async, bool per_thread) {
    SIM_AUTO struct sim_context *source = NULL, *target = NULL;
    CUresult result = sim_enter_context(to, &target);

    if (result == CUDA_SUCCESS)
        result = sim_enter_context(from, &source);
    if (result == CUDA_SUCCESS && !async)
        result = sim_peer_order(source, target, per_thread, false);
    if (result == CUDA_SUCCESS)
        result = between_devices(dst, src, bytes, stream, async, per_thread);
    if (result == CUDA_SUCCESS && !async)
        result = sim_peer_order(source, target, per_thread, true);
    return result;
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount) {
    return peer_copy(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false, false);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount) {
    return peer_copy(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false, true);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    return peer_copy(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true, false);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    return peer_copy(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true, true);
}

static CUresult run_fill(struct sim_op *op, struct sim_context *context) {
    struct fill_op *fill = (struct fill_op *)op;
    char *dst = (char *)(uintptr_t)fill->dst;

    (void)context;
    if (fill->width == 1) {
        memset(dst, (int)fill->pattern, fill->count);
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < fill->count; i++)
        memcpy(dst + i * fill->width, &fill->pattern, fill->width);
    return CUDA_SUCCESS;
}

static void tell_fill(const struct sim_op *op, CUgraphNodeParams *params) {
    const struct fill_op *fill = (const struct fill_op *)op;

    params->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = fill->dst,
        .value = fill->pattern,
        .elementSize = fill->width,
        .width = fill->count,
        .height = 1,
    };
}

static CUresult fill(CUdeviceptr dst, unsigned width, uint32_t pattern, size_t count,
                     CUstream handle, bool async, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    enum sim_place place;
    struct fill_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (count == 0)
        return CUDA_SUCCESS;
    place = count > SIZE_MAX / width ? SIM_BAD : sim_place_of(dst, count * width);
    if (!sim_is_device(place) || dst % width)
        return CUDA_ERROR_INVALID_VALUE;
    op = sim_op_new(sizeof(*op), run_fill);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = dst;
    op->count = count;
    op->width = width;
    op->pattern = pattern;
    op->op.kind = CU_GRAPH_NODE_TYPE_MEMSET;
    op->op.tell = tell_fill;
    /* The host sees pinned memory at once, so it waits for what it did not ask to be async. */
    return place != SIM_DEVICE && !async ? sim_submit_and_wait(stream, &op->op)
                                         : sim_submit_with_room(stream, &op->op);
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    return fill(dstDevice, 1, uc, N, NULL, false, false);
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    return fill(dstDevice, 1, uc, N, NULL, false, true);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    return fill(dstDevice, 1, uc, N, hStream, true, false);
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    return fill(dstDevice, 1, uc, N, hStream, true, true);
}

CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    return fill(dstDevice, 2, us, N, NULL, false, false);
}

CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    return fill(dstDevice, 2, us, N, NULL, false, true);
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
    return fill(dstDevice, 2, us, N, hStream, true, false);
}

CUresult cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us, size_t N,
                               CUstream hStream) {
    return fill(dstDevice, 2, us, N, hStream, true, true);
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    return fill(dstDevice, 4, ui, N, NULL, false, false);
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    return fill(dstDevice, 4, ui, N, NULL, false, true);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
    return fill(dstDevice, 4, ui, N, hStream, true, false);
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
    return fill(dstDevice, 4, ui, N, hStream, true, true);
}
