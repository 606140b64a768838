// SPDX-License-Identifier: Apache-2.0
/* Events. Named here, so that making, recording and ending one is posted. */
#include <stdlib.h>

#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

/* An event for other processes must not measure time, and cannot be passed on yet. */
static CUresult check_flags(unsigned int flags) {
    if (flags & ~EVENT_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS)
        return flags & CU_EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED
                                               : CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    struct event *e;
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = phEvent ? check_flags(Flags) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    e = calloc(1, sizeof(*e));
    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *e = (struct event){t->context, Flags};
    name = names_new(VCUDA_KIND_EVENT, e);
    if (!name) {
        free(e);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r = wire_cuEventCreate(t, name, Flags);
    if (r == CUDA_SUCCESS)
        *phEvent = (CUevent)name;
    else
        free(names_end(VCUDA_KIND_EVENT, name));
    return r;
}

VCUDA_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent) {
    struct event *e;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    e = names_retire(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    free(e);
    r = wire_cuEventDestroy_v2(t, (uint64_t)hEvent);
    names_reuse(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    return r;
}

VCUDA_EXPORT CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    struct event *e;
    struct thread *t;
    uint64_t name, context;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, hStream, &name, &context);
    if (r != CUDA_SUCCESS)
        return r;
    e = names_get(VCUDA_KIND_EVENT, (uint64_t)hEvent);
    /* The driver says the same of an event of another context than the stream's. */
    if (!e || e->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags && !capture_graph(t, name)) /* a node's affair */
        return CUDA_ERROR_ILLEGAL_STATE;
    return wire_cuEventRecordWithFlags(t, (uint64_t)hEvent, name, flags);
}

VCUDA_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

/* Even for a missing result the driver says that a handle is wrong. */
VCUDA_EXPORT CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    struct thread *t;
    CUresult r = guest_enter(&t);

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
