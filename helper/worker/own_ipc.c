// SPDX-License-Identifier: Apache-2.0
/* Memory that programs of one domain or user pass to each other, see handoff.h. */
#include "handoff.h"
#include "ipc.h"
#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vcuda_handoffs *handoffs;
static uint32_t place;

_Static_assert(sizeof(CUipcMemHandle) == VCUDA_HANDOFF_BYTES, "a handle fits");

void ipc_start(struct vcuda_owner *owner, uint32_t own_place) {
    handoffs = &owner->handoffs;
    place = own_place;
}

void ipc_memory_ends(uint64_t address) {
    if (!handoffs)
        return;
    pthread_mutex_lock(&lock);
    vcuda_handoff_end(handoffs, place, address);
    pthread_mutex_unlock(&lock);
}

CUresult own_ipc_give_memory(struct worker *w, struct frame *f, struct args_ipc_give_memory *a) {
    CUipcMemHandle handle;
    CUresult r;
    bool ok;

    (void)f;
    if (!handoffs || a->handle_cap != VCUDA_HANDOFF_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&handle, 0, sizeof(handle));
    r = w->driver.cuIpcGetMemHandle(&handle, a->dptr);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    ok = vcuda_handoff_give(handoffs, place, a->dptr, (const uint8_t *)&handle, a->handle);
    pthread_mutex_unlock(&lock);
    a->handle_len = VCUDA_HANDOFF_BYTES;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The driver counts how often a handle is opened, and gives the same address each time. */
CUresult own_ipc_open_memory(struct worker *w, struct frame *f, struct args_ipc_open_memory *a) {
    CUdeviceptr address = 0;
    CUipcMemHandle handle;
    size_t bytes = 0;
    CUresult r;

    (void)f;
    if (!handoffs || a->handle_len != VCUDA_HANDOFF_BYTES ||
        !vcuda_handoff_find(handoffs, a->handle, (uint8_t *)&handle))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuIpcOpenMemHandle_v2(&address, handle, a->flags);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemGetAddressRange_v2(NULL, &bytes, address);
    if (r != CUDA_SUCCESS)
        w->driver.cuIpcCloseMemHandle(address);
    a->dptr = address;
    a->bytes = bytes;
    return r;
}
