// SPDX-License-Identifier: Apache-2.0
/* Device memory between programs of one guest. A handle is good for these alone. */
#include <pthread.h>
#include <stdlib.h>

#include "apart.h"
#include "cuda_calls.h"
#include "guest.h"
#include "ipc.h"
#include "wire.h"

/* Memory of others that is open here: how often. */
struct opened {
    struct opened *next;
    uint64_t address;
    uint64_t context; /* that it ends with */
    uint32_t count;
};

static struct opened *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct request {
    const CUipcMemHandle *handle;
    unsigned int flags;
};

VCUDA_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    struct range range;
    struct thread *t;
    uint32_t len = 0;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pHandle || !ranges_find(dptr, 1, &range) || range.kind != RANGE_PLAIN)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_ipc_give_memory(t, dptr, pHandle, sizeof(*pHandle), &len);
    return r == CUDA_SUCCESS && len != sizeof(*pHandle) ? VCUDA_ERROR_LOST : r;
}

static CUresult open_memory(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes) {
    const struct request *q = arg;

    return wire_ipc_open_memory(t, address, bytes, q->handle, sizeof(*q->handle), q->flags);
}

static CUresult close_memory(struct thread *t, void *arg, uint64_t address) {
    (void)arg;
    return wire_cuIpcCloseMemHandle(t, address);
}

/* Under the lock. */
static struct opened **find(uint64_t address) {
    struct opened **at = &all;

    while (*at && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

/* Under the lock: opened once more, which may be the first time. */
static CUresult note(uint64_t address, uint64_t context) {
    struct opened *o = *find(address);

    if (!o) {
        o = calloc(1, sizeof(*o));
        if (!o)
            return CUDA_ERROR_OUT_OF_MEMORY;
        o->address = address;
        o->context = context;
        o->next = all;
        all = o;
    }
    o->count++;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                            unsigned int Flags) {
    struct request q = {&handle, Flags};
    struct thread *t;
    uint64_t address;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    r = apart_alloc(t, &(struct apart){RANGE_IPC, t->context, open_memory, close_memory}, &q,
                    &address);
    if (r == CUDA_SUCCESS)
        r = note(address, t->context);
    pthread_mutex_unlock(&lock);
    if (r == CUDA_SUCCESS)
        *pdptr = address;
    return r;
}

VCUDA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                         unsigned int Flags) {
    return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

VCUDA_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    struct opened **at, *gone = NULL;
    struct range range = {0};
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    at = find(dptr);
    ranges_find(dptr, 1, &range);
    r = *at ? wire_cuIpcCloseMemHandle(t, dptr) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && --(*at)->count == 0) {
        gone = *at;
        *at = gone->next;
        ranges_end(dptr, range.id);
    }
    pthread_mutex_unlock(&lock);
    free(gone);
    return r;
}

void ipc_forget(uint64_t context) {
    struct opened **at = &all, *o;

    pthread_mutex_lock(&lock);
    while ((o = *at)) {
        if (o->context == context) {
            *at = o->next;
            free(o);
        } else {
            at = &o->next;
        }
    }
    pthread_mutex_unlock(&lock);
}
