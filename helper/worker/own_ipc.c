// SPDX-License-Identifier: Apache-2.0
/* Memory and events that programs of one domain or user pass to each other, see handoff.h. */
#include "handoff.h"
#include "ipc.h"
#include "memory.h"
#include "shared.h"
#include "worker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the place's names */
/* One at a time: what the driver gives or opens, and what is noted and counted of it. */
static pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;
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

void ipc_end_context(uint64_t context) {
    struct memory_part part;
    uint64_t key;

    while (context && memory_let_go_shared(context, &key, &part)) {
        ipc_ends(key);
        shared_leave(part.hold);
        memory_give_back(part.bytes);
    }
}

static bool has_name(uint64_t key, const struct vcuda_handed *what, void *name) {
    bool has;

    pthread_mutex_lock(&lock);
    has = vcuda_handoff_again(handoffs, place, key, what->handle, name);
    pthread_mutex_unlock(&lock);
    return has;
}

static CUresult give(uint64_t key, const struct vcuda_handed *what, void *name) {
    bool ok;

    pthread_mutex_lock(&lock);
    ok = vcuda_handoff_give(handoffs, place, key, what, name);
    pthread_mutex_unlock(&lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Under `sharing`: the allocation counts as shared from now on, and what its token is. */
static CUresult put(uint64_t base, struct vcuda_share_token *token) {
    struct memory_part part;
    CUresult r;

    if (!memory_held(MEMORY_PLAIN, base, &part))
        return CUDA_ERROR_INVALID_VALUE;
    r = shared_put(VCUDA_SHARE_HANDLE, part.bytes, -1, &part.hold, token);
    if (r == CUDA_SUCCESS && !memory_note_hold(MEMORY_PLAIN, base, &part)) {
        shared_leave(part.hold);
        r = CUDA_ERROR_INVALID_VALUE; /* freed meanwhile */
    }
    return r;
}

/* Under `sharing`. */
static CUresult give_memory(uint64_t base, struct vcuda_handed *what, void *name) {
    CUresult r;

    if (has_name(base, what, name))
        return CUDA_SUCCESS;
    r = put(base, &what->token);
    if (r != CUDA_SUCCESS)
        return r;
    r = give(base, what, name);
    if (r != CUDA_SUCCESS)
        shared_end(&what->token);
    return r;
}

CUresult own_ipc_give_memory(struct worker *w, struct frame *f, struct args_ipc_give_memory *a) {
    struct vcuda_handed what = {0};
    CUdeviceptr base = 0;
    CUresult r;

    (void)f;
    if (!handoffs || a->handle_cap != VCUDA_HANDOFF_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sharing);
    r = w->driver.cuIpcGetMemHandle((CUipcMemHandle *)what.handle, a->dptr);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuMemGetAddressRange_v2(&base, NULL, a->dptr);
    if (r == CUDA_SUCCESS)
        r = give_memory(base, &what, a->handle);
    pthread_mutex_unlock(&sharing);
    a->handle_len = VCUDA_HANDOFF_BYTES;
    return r;
}

/* Under `sharing`. The driver counts how often a handle is opened, at one address. */
static void opened(uint64_t address, uint64_t context, uint32_t hold) {
    struct memory_part part;

    if (memory_let_go(MEMORY_OPENED, address, &part))
        shared_leave(hold);
    else
        part = (struct memory_part){.context = context, .hold = hold};
    part.opens++;
    memory_hold(MEMORY_OPENED, address, &part);
}

static CUresult open_memory(struct worker *w, struct frame *f, const struct vcuda_handed *what,
                            struct args_ipc_open_memory *a) {
    CUipcMemHandle handle;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    uint32_t hold;
    int none;
    CUresult r = shared_get(VCUDA_SHARE_HANDLE, &what->token, &none, &hold);

    if (r != CUDA_SUCCESS)
        return r;
    memcpy(&handle, what->handle, sizeof(handle));
    r = w->driver.cuIpcOpenMemHandle_v2(&address, handle, a->flags);
    if (r == CUDA_SUCCESS) {
        r = w->driver.cuMemGetAddressRange_v2(NULL, &bytes, address);
        if (r != CUDA_SUCCESS)
            w->driver.cuIpcCloseMemHandle(address);
    }
    if (r == CUDA_SUCCESS)
        opened(address, f->head.ctx, hold);
    else
        shared_leave(hold);
    a->dptr = address;
    a->bytes = bytes;
    return r;
}

CUresult own_ipc_open_memory(struct worker *w, struct frame *f, struct args_ipc_open_memory *a) {
    struct vcuda_handed what;
    CUresult r;

    if (!handoffs || a->handle_len != VCUDA_HANDOFF_BYTES ||
        !vcuda_handoff_find(handoffs, a->handle, &what))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sharing);
    r = open_memory(w, f, &what, a);
    pthread_mutex_unlock(&sharing);
    return r;
}

CUresult own_cuIpcCloseMemHandle(struct worker *w, struct frame *f,
                                 struct args_cuIpcCloseMemHandle *a) {
    struct memory_part part;
    bool known;
    CUresult r;

    (void)f;
    pthread_mutex_lock(&sharing);
    known = memory_let_go(MEMORY_OPENED, a->dptr, &part);
    r = w->driver.cuIpcCloseMemHandle(a->dptr);
    if (known && r == CUDA_SUCCESS && --part.opens == 0)
        shared_leave(part.hold);
    else if (known)
        memory_hold(MEMORY_OPENED, a->dptr, &part);
    pthread_mutex_unlock(&sharing);
    return r;
}

/* Like any other, but for the flag: the program waits for it, since it may tell others at once. */
CUresult own_ipc_make_event(struct worker *w, struct frame *f, struct args_ipc_make_event *a) {
    (void)f;
    return w->driver.cuEventCreate(&a->event, a->flags & ~(uint32_t)CU_EVENT_BLOCKING_SYNC);
}

CUresult own_ipc_give_event(struct worker *w, struct frame *f, struct args_ipc_give_event *a) {
    struct vcuda_handed what = {0};
    CUresult r;

    (void)f;
    if (!handoffs || a->handle_cap != VCUDA_HANDOFF_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuIpcGetEventHandle((CUipcEventHandle *)what.handle, a->event);
    a->handle_len = VCUDA_HANDOFF_BYTES;
    if (r != CUDA_SUCCESS || has_name((uint64_t)a->event, &what, a->handle))
        return r;
    return give((uint64_t)a->event, &what, a->handle);
}

CUresult own_ipc_open_event(struct worker *w, struct frame *f, struct args_ipc_open_event *a) {
    struct vcuda_handed what;
    CUipcEventHandle handle;

    (void)f;
    if (!handoffs || a->handle_len != VCUDA_HANDOFF_BYTES ||
        !vcuda_handoff_find(handoffs, a->handle, &what))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&handle, what.handle, sizeof(handle));
    return w->driver.cuIpcOpenEventHandle(&a->event, handle);
}
