// SPDX-License-Identifier: Apache-2.0
/*
 * Peers: a context's kernels reach the memory of a context on another device, where that was asked
 * for. Memory of pools, and what was mapped, stays its device's.
 */
#include <stdlib.h>

#include "copy.h"
#include "graph.h"

/* One way: who reaches, and whose memory; ids of contexts. */
struct way {
    uint64_t from, to;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct way *ways;
static size_t count, room;
static atomic_bool any; /* there is one: kernels need not look else */

/* Under the lock; `count` if there is none. */
static size_t find(uint64_t from, uint64_t to) {
    size_t i = 0;

    while (i < count && (ways[i].from != from || ways[i].to != to))
        i++;
    return i;
}

bool sim_peer_reaches(uint64_t from, uint64_t to) {
    bool reaches;

    if (!atomic_load_explicit(&any, memory_order_relaxed))
        return false;
    pthread_rwlock_rdlock(&lock);
    reaches = find(from, to) < count;
    pthread_rwlock_unlock(&lock);
    return reaches;
}

void sim_peer_forget(uint64_t id) {
    size_t kept = 0;

    pthread_rwlock_wrlock(&lock);
    for (size_t i = 0; i < count; i++)
        if (ways[i].from != id && ways[i].to != id)
            ways[kept++] = ways[i];
    count = kept;
    pthread_rwlock_unlock(&lock);
}

static CUresult open_way(uint64_t from, uint64_t to) {
    CUresult result = CUDA_SUCCESS;

    pthread_rwlock_wrlock(&lock);
    if (find(from, to) < count) {
        result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    } else if (count == room) {
        size_t more = room ? 2 * room : 8;
        struct way *grown = realloc(ways, more * sizeof(*grown));

        if (grown)
            ways = grown, room = more;
        else
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) {
        ways[count++] = (struct way){from, to};
        atomic_store(&any, true);
    }
    pthread_rwlock_unlock(&lock);
    return result;
}

/* What one stream is given next comes after what the other was given. */
static CUresult follow(struct sim_stream *later, struct sim_stream *earlier) {
    struct sim_op *end = sim_op_new(sizeof(*end), NULL), *wait = sim_op_new(sizeof(*wait), NULL);
    struct sim_mark *mark = NULL;
    CUresult result = end && wait ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    if (result == CUDA_SUCCESS) {
        result = sim_submit(earlier, end, &mark);
        end = NULL;
    }
    if (result == CUDA_SUCCESS && !sim_op_wait_for(wait, mark))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    sim_mark_put(mark);
    if (result == CUDA_SUCCESS)
        return sim_submit(later, wait, NULL);
    if (end)
        sim_op_discard(end);
    if (wait)
        sim_op_discard(wait);
    return result;
}

static CUresult order(struct sim_stream *own, const struct sim_context *other, bool behind) {
    if (other == own->context)
        return CUDA_SUCCESS;
    return behind ? follow(other->legacy, own) : follow(own, other->legacy);
}

CUresult sim_peer_order(const struct sim_context *from, const struct sim_context *to,
                        bool per_thread, bool behind) {
    SIM_AUTO struct sim_stream *own = NULL;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, NULL, per_thread, &own);

    if (result == CUDA_SUCCESS)
        result = order(own, from, behind);
    return result == CUDA_SUCCESS ? order(own, to, behind) : result;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    SIM_AUTO struct sim_context *peer = NULL;
    SIM_ENTER(context);
    CUresult result = sim_context_get(peerContext, &peer);

    if (result != CUDA_SUCCESS)
        return result;
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer->device == context->device)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return open_way(context->home, peer->home);
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    SIM_AUTO struct sim_context *peer = NULL;
    SIM_ENTER(context);
    CUresult result = sim_context_get(peerContext, &peer);
    size_t i;

    if (result != CUDA_SUCCESS)
        return result;
    sim_context_wait(context, SIM_ALL_STREAMS);
    pthread_rwlock_wrlock(&lock);
    i = find(context->home, peer->home);
    if (i < count)
        ways[i] = ways[--count];
    else
        result = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    pthread_rwlock_unlock(&lock);
    return result;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
    SIM_READY();

    if (!value || attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attrib > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(srcDevice) || !sim_device(dstDevice) || srcDevice == dstDevice)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attrib == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
    return CUDA_SUCCESS;
}
