// SPDX-License-Identifier: Apache-2.0
/* Events. Named here, so that making, recording and ending one is posted. */
#include <stdlib.h>

#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

/* An event for other processes must not measure time. */
static CUresult check_flags(unsigned int flags) {
    if (flags & ~EVENT_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult send_plain(struct thread *t, void *arg, uint64_t name) {
    return wire_cuEventCreate(t, name, *(unsigned int *)arg);
}

/* Others may be told of it: it must be there when the call returns. */
static CUresult send_interprocess(struct thread *t, void *arg, uint64_t name) {
    return wire_ipc_make_event(t, name, *(unsigned int *)arg);
}

static CUresult send_open(struct thread *t, void *arg, uint64_t name) {
    return wire_ipc_open_event(t, name, arg, sizeof(CUipcEventHandle));
}

/* A new event that the worker makes by `send`. */
static CUresult make(struct thread *t, CUevent *event, unsigned int flags,
                     CUresult (*send)(struct thread *t, void *arg, uint64_t name), void *arg) {
    struct event *e;
    uint64_t name;
    CUresult r;

    e = calloc(1, sizeof(*e));
    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *e = (struct event){t->context, flags};
    name = names_new(VCUDA_KIND_EVENT, e);
    if (!name) {
        free(e);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r = send(t, arg, name);
    if (r == CUDA_SUCCESS)
        *event = (CUevent)name;
    else
        free(names_end(VCUDA_KIND_EVENT, name));
    return r;
}

VCUDA_EXPORT CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = phEvent ? check_flags(Flags) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    return make(t, phEvent, Flags, Flags & CU_EVENT_INTERPROCESS ? send_interprocess : send_plain,
                &Flags);
}

VCUDA_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event) {
    struct event *e;
    struct thread *t;
    uint32_t len = 0;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pHandle)
        return CUDA_ERROR_INVALID_VALUE;
    e = names_get(VCUDA_KIND_EVENT, (uint64_t)event);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    r = wire_ipc_give_event(t, (uint64_t)event, pHandle, sizeof(*pHandle), &len);
    return r == CUDA_SUCCESS && len != sizeof(*pHandle) ? VCUDA_ERROR_LOST : r;
}

VCUDA_EXPORT CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!phEvent)
        return CUDA_ERROR_INVALID_VALUE;
    return make(t, phEvent, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, send_open, &handle);
}

VCUDA_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent) {
    struct event *e;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    e = names_retire(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    if (!e)
        return guest_check(VCUDA_KIND_EVENT, hEvent);
    free(e);
    r = wire_cuEventDestroy_v2(t, (uint64_t)hEvent);
    names_reuse(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    return r == CUDA_SUCCESS ? guest_fault(t) : r;
}

/* The program may tell another that the event is recorded: until it is, this does not return. */
static CUresult arrive(struct thread *t, CUevent event) {
    CUresult r = wire_cuEventQuery(t, (uint64_t)event);

    return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}

VCUDA_EXPORT CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    struct event *e;
    struct thread *t;
    uint64_t name, context;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, hStream);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, hStream, &name, &context);
    if (r != CUDA_SUCCESS)
        return r;
    e = names_get(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    if (!e)
        return guest_check(VCUDA_KIND_EVENT, hEvent);
    if (e->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags && !capture_graph(t, name)) /* a node's affair */
        return CUDA_ERROR_ILLEGAL_STATE;
    r = wire_cuEventRecordWithFlags(t, (uint64_t)hEvent, name, flags);
    return r == CUDA_SUCCESS && e->flags & CU_EVENT_INTERPROCESS && !capture_graph(t, name)
               ? arrive(t, hEvent)
               : r;
}

VCUDA_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

/* Even for a missing result the driver says that a handle is wrong. */
VCUDA_EXPORT CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    struct thread *t;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_EVENT, hStart);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EVENT, hStart);
    if (r == CUDA_SUCCESS)
        r = pMilliseconds ? guest_check(VCUDA_KIND_EVENT, hEnd) : CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS
               ? wire_cuEventElapsedTime_v2(t, pMilliseconds, (uint64_t)hStart, (uint64_t)hEnd)
               : r;
}

VCUDA_EXPORT CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

VCUDA_EXPORT CUresult cuEventDestroy(CUevent hEvent) {
    return cuEventDestroy_v2(hEvent);
}
