// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "event_share.h"
#include "graph.h"

static void destroy_event(struct sim_object *object) {
    struct sim_event *event = (struct sim_event *)object;

    sim_capture_forget_event(event);
    sim_mark_put(event->mark);
    sim_event_share_put(event->share);
    sim_put(event->context);
    free(event);
}

CUresult sim_event_get(CUevent handle, struct sim_event **out) {
    CUresult result = sim_ready();

    *out = NULL;
    if (result != CUDA_SUCCESS)
        return result;
    *out = sim_handle_get(handle, SIM_EVENT);
    if (!*out)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!atomic_load(&(*out)->context->open) || (*out)->owner != (*out)->context->id)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return sim_context_error((*out)->context);
}

#define EVENT(name, handle)                                                                        \
    SIM_AUTO struct sim_event *name = NULL;                                                        \
    CUresult name##_error = sim_event_get(handle, &name);                                          \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

static CUresult make(struct sim_context *context, unsigned flags, struct sim_event_share *share,
                     CUevent *out) {
    SIM_AUTO struct sim_event *event = calloc(1, sizeof(*event));

    if (!event) {
        sim_event_share_put(share);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&event->object, SIM_EVENT, destroy_event);
    event->context = sim_ref(context);
    event->owner = context->id;
    event->flags = flags;
    event->share = share;
    if (!sim_handle_open(&event->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(event);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    struct sim_event_share *share = NULL;
    SIM_ENTER(context);

    if (!phEvent || (Flags & ~known))
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags & CU_EVENT_INTERPROCESS) {
        if (!(Flags & CU_EVENT_DISABLE_TIMING))
            return CUDA_ERROR_INVALID_VALUE;
        share = sim_event_share_new();
        if (!share)
            return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return make(context, Flags, share, phEvent);
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent hEvent) {
    EVENT(event, hEvent);

    if (!pHandle || !event->share)
        return CUDA_ERROR_INVALID_VALUE;
    sim_event_share_tell(event->share, pHandle);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
    struct sim_event_share *share;
    SIM_ENTER(context);
    CUresult result = phEvent ? sim_event_share_open(&handle, &share) : CUDA_ERROR_INVALID_VALUE;

    return result == CUDA_SUCCESS
               ? make(context, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, share, phEvent)
               : result;
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
    SIM_AUTO struct sim_event *event = NULL;
    CUresult result = sim_event_get(hEvent, &event);

    if (event) /* it goes, whatever its context is like */
        sim_handle_close(&event->object);
    return result;
}

static CUresult record(CUevent hEvent, CUstream hStream, unsigned flags, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_mark *mark;
    struct sim_op *op;
    EVENT(event, hEvent);
    CUresult result;

    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_look(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return stream->tips.capture ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_ILLEGAL_STATE;
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (sim_capture_record(stream, event))
        return CUDA_SUCCESS;
    if (event->share)
        return sim_event_share_record(event->share, stream);
    op = sim_op_new(sizeof(*op), NULL);
    result = op ? sim_submit(stream, op, &mark) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        sim_mark_store(&event->mark, mark);
    return result;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    return record(hEvent, hStream, 0, false);
}

CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream) {
    return record(hEvent, hStream, 0, true);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    return record(hEvent, hStream, flags, false);
}

CUresult cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags) {
    return record(hEvent, hStream, flags, true);
}

/* An event that was never recorded counts as done. */
CUresult cuEventQuery(CUevent hEvent) {
    EVENT(event, hEvent);
    CUresult result = sim_capture_refuses_event(event);
    struct sim_mark *mark = sim_mark_load(&event->mark);
    bool done = event->share ? sim_event_share_done(event->share) : sim_mark_done(mark);

    sim_mark_put(mark);
    if (result != CUDA_SUCCESS)
        return result;
    if (!done)
        return CUDA_ERROR_NOT_READY;
    return sim_context_error(event->context);
}

CUresult cuEventSynchronize(CUevent hEvent) {
    EVENT(event, hEvent);
    CUresult result = sim_capture_refuses_event(event);
    struct sim_mark *mark;

    if (result != CUDA_SUCCESS)
        return result;
    mark = sim_mark_load(&event->mark);
    sim_mark_wait(mark);
    sim_mark_put(mark);
    if (event->share)
        sim_event_share_wait(event->share);
    sim_print_flush(event->context);
    return sim_context_error(event->context);
}

/* The time at which the event was reached. */
static CUresult reached(struct sim_event *event, uint64_t *time) {
    struct sim_mark *mark;
    CUresult result = CUDA_SUCCESS;

    if (event->flags & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    mark = sim_mark_load(&event->mark);
    if (!mark)
        return CUDA_ERROR_INVALID_HANDLE;
    if (sim_mark_done(mark))
        *time = mark->time;
    else
        result = CUDA_ERROR_NOT_READY;
    sim_mark_put(mark);
    return result;
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    EVENT(start, hStart);
    EVENT(end, hEnd);
    uint64_t from, to;
    CUresult first, second;

    if (!pMilliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    first = reached(start, &from);
    second = reached(end, &to);
    /* A wrong event is told before one that is not there yet. */
    if (first == CUDA_ERROR_INVALID_HANDLE || second == CUDA_ERROR_INVALID_HANDLE)
        return CUDA_ERROR_INVALID_HANDLE;
    if (first != CUDA_SUCCESS || second != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_READY;
    *pMilliseconds = (float)((double)((int64_t)to - (int64_t)from) / 1e6);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

static CUresult wait_event(CUstream hStream, CUevent hEvent, unsigned flags, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_mark *mark;
    struct sim_op *op;
    EVENT(event, hEvent);
    CUresult result;
    bool good;

    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_look(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return stream->tips.capture ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_ILLEGAL_STATE;
    if (sim_capture_wait(stream, event, &result))
        return result;
    if (event->share)
        return sim_event_share_follow(event->share, stream);
    op = sim_op_new(sizeof(*op), NULL);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mark = sim_mark_load(&event->mark);
    good = sim_op_wait_for(op, mark);
    sim_mark_put(mark);
    if (good)
        return sim_submit(stream, op, NULL);
    sim_op_discard(op);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    return wait_event(hStream, hEvent, Flags, false);
}

CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    return wait_event(hStream, hEvent, Flags, true);
}
