// SPDX-License-Identifier: Apache-2.0
/*
 * Peers: a context's kernels reach the memory of a context on another device, where that was asked
 * for. Memory of pools, and what was mapped, stays its device's.
 */
#include <stdlib.h>

#include "sim.h"

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
