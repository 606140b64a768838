// SPDX-License-Identifier: Apache-2.0
/* Events of all streams of a context: recorded behind their work, waited for by what follows. */
#include <stdlib.h>

#include "graph.h"

/* An operation that waits for these marks, in a stream of its own; its mark. Drops the marks. */
static CUresult submit_after(struct sim_context *context, struct sim_mark **marks, unsigned count,
                             struct sim_mark **done) {
    struct sim_stream *stream = sim_stream_new(context, CU_STREAM_NON_BLOCKING, 0);
    struct sim_op *op = sim_op_new(sizeof(*op), NULL);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    bool good = stream && op;

    for (unsigned i = 0; i < count; i++) {
        good = good && sim_op_wait_for(op, marks[i]);
        sim_mark_put(marks[i]);
    }
    if (good)
        result = sim_submit(stream, op, done);
    else if (op)
        sim_op_discard(op);
    if (stream)
        sim_stream_close(stream);
    sim_put(stream);
    return result;
}

CUresult sim_context_record(struct sim_context *context, struct sim_event *event) {
    struct sim_mark **marks, *mark;
    unsigned count;
    CUresult result;

    if (event->context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (event->share)
        return CUDA_ERROR_NOT_SUPPORTED;
    result = sim_capture_refuses_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_context_marks(context, SIM_ALL_STREAMS, &marks, &count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = submit_after(context, marks, count, &mark);
    free(marks);
    if (result == CUDA_SUCCESS)
        sim_mark_store(&event->mark, mark);
    return result;
}

CUresult sim_context_wait_event(struct sim_context *context, struct sim_event *event) {
    CUresult result = sim_capture_refuses_context(context);
    struct sim_mark *mark, *done;

    if (event->share)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS)
        return result;
    mark = sim_mark_load(&event->mark);
    if (!mark)
        return CUDA_SUCCESS;
    result = submit_after(context, &mark, 1, &done);
    if (result == CUDA_SUCCESS)
        sim_mark_store(&context->gate, done);
    return result;
}

#define CONTEXT_AND_EVENT(context, hCtx, event, hEvent)                                            \
    SIM_AUTO struct sim_context *context = NULL;                                                   \
    SIM_AUTO struct sim_event *event = NULL;                                                       \
    CUresult result = sim_ready();                                                                 \
    if (result == CUDA_SUCCESS)                                                                    \
        result = hCtx ? sim_enter_context(hCtx, &context) : CUDA_ERROR_INVALID_CONTEXT;            \
    if (result == CUDA_SUCCESS)                                                                    \
        result = sim_event_get(hEvent, &event);                                                    \
    if (result != CUDA_SUCCESS)                                                                    \
    return result

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
    CONTEXT_AND_EVENT(context, hCtx, event, hEvent);

    return sim_context_record(context, event);
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
    CONTEXT_AND_EVENT(context, hCtx, event, hEvent);

    return sim_context_wait_event(context, event);
}
