// SPDX-License-Identifier: Apache-2.0
/* Memory and events that programs of one domain or user pass to each other, see handoff.h. */
#include "handoff.h"
#include "ipc.h"
#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vcuda_handoffs *handoffs;
static uint32_t place;

_Static_assert(sizeof(CUipcMemHandle) == VCUDA_HANDOFF_BYTES, "a handle fits");
_Static_assert(sizeof(CUipcEventHandle) == VCUDA_HANDOFF_BYTES, "a handle fits");

void ipc_start(struct vcuda_owner *owner, uint32_t own_place) {
    handoffs = &owner->handoffs;
    place = own_place;
}

void ipc_ends(uint64_t key) {
    if (!handoffs)
        return;
    pthread_mutex_lock(&lock);
    vcuda_handoff_end(handoffs, place, key);
    pthread_mutex_unlock(&lock);
}

static CUresult give(uint64_t key, const void *handle, void *name) {
    bool ok;

    pthread_mutex_lock(&lock);
    ok = vcuda_handoff_give(handoffs, place, key, handle, name);
    pthread_mutex_unlock(&lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult own_ipc_give_memory(struct worker *w, struct frame *f, struct args_ipc_give_memory *a) {
    CUipcMemHandle handle;
    CUresult r;

    (void)f;
    if (!handoffs || a->handle_cap != VCUDA_HANDOFF_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&handle, 0, sizeof(handle));
    r = w->driver.cuIpcGetMemHandle(&handle, a->dptr);
    a->handle_len = VCUDA_HANDOFF_BYTES;
    return r == CUDA_SUCCESS ? give(a->dptr, &handle, a->handle) : r;
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

/* Like any other, but for the flag: the program waits for it, since it may tell others at once. */
CUresult own_ipc_make_event(struct worker *w, struct frame *f, struct args_ipc_make_event *a) {
    (void)f;
    return w->driver.cuEventCreate(&a->event, a->flags & ~(uint32_t)CU_EVENT_BLOCKING_SYNC);
}

CUresult own_ipc_give_event(struct worker *w, struct frame *f, struct args_ipc_give_event *a) {
    CUipcEventHandle handle;
    CUresult r;

    (void)f;
    if (!handoffs || a->handle_cap != VCUDA_HANDOFF_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    memset(&handle, 0, sizeof(handle));
    r = w->driver.cuIpcGetEventHandle(&handle, a->event);
    a->handle_len = VCUDA_HANDOFF_BYTES;
    return r == CUDA_SUCCESS ? give((uint64_t)a->event, &handle, a->handle) : r;
}

CUresult own_ipc_open_event(struct worker *w, struct frame *f, struct args_ipc_open_event *a) {
    CUipcEventHandle handle;

    (void)f;
    if (!handoffs || a->handle_len != VCUDA_HANDOFF_BYTES ||
        !vcuda_handoff_find(handoffs, a->handle, (uint8_t *)&handle))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuIpcOpenEventHandle(&a->event, handle);
}
