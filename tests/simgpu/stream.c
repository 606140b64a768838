// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "graph.h"
#include "sim.h"

CUresult sim_stream_get(struct sim_context *context, CUstream handle, bool per_thread,
                        struct sim_stream **out) {
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread)) {
        *out = sim_thread_stream(context);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = !handle || handle == CU_STREAM_LEGACY ? sim_ref(context->legacy)
                                                 : sim_handle_get(handle, SIM_STREAM);
    if (!*out)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((*out)->context == context)
        return CUDA_SUCCESS;
    sim_put(*out);
    *out = NULL;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_stream_look(CUstream handle, bool per_thread, struct sim_stream **out) {
    SIM_ENTER(context);

    *out = handle > CU_STREAM_PER_THREAD ? sim_handle_get(handle, SIM_STREAM) : NULL;
    if (*out)
        return sim_context_error((*out)->context);
    return sim_stream_get(context, handle, per_thread, out);
}

#define LOOK(name, handle, per_thread)                                                             \
    SIM_AUTO struct sim_stream *name = NULL;                                                       \
    CUresult name##_error = sim_stream_look(handle, per_thread, &name);                            \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

void sim_context_wait(struct sim_context *context, enum sim_which_streams which) {
    struct sim_mark **marks;
    unsigned count;

    if (!sim_context_marks(context, which, &marks, &count))
        return;
    for (unsigned i = 0; i < count; i++) {
        sim_mark_wait(marks[i]);
        sim_mark_put(marks[i]);
    }
    free(marks);
}

CUresult sim_stream_create(struct sim_context *context, CUstream *phStream, unsigned flags,
                           int priority) {
    SIM_AUTO struct sim_stream *stream = NULL;

    if (!phStream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return CUDA_ERROR_INVALID_VALUE;
    stream = sim_stream_new(context, flags, sim_clamp_priority(priority));
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_handle_open(&stream->object)) {
        sim_stream_close(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phStream = SIM_HANDLE(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
    SIM_ENTER(context);

    return sim_stream_create(context, phStream, flags, priority);
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    return cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
    SIM_AUTO struct sim_stream *stream = NULL;
    SIM_ENTER(context);

    stream = sim_handle_get(hStream, SIM_STREAM);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_stream_close(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream hStream) {
    return cuStreamDestroy_v2(hStream);
}

/* The default stream is done when all streams are that wait for it and for which it waits. */
static CUresult synchronize(CUstream hStream, bool per_thread) {
    LOOK(stream, hStream, per_thread);
    CUresult refused = sim_capture_refuses_wait(stream);

    if (refused != CUDA_SUCCESS)
        return refused;
    if (stream == stream->context->legacy) {
        sim_context_wait(stream->context, SIM_BLOCKING_STREAMS);
    } else {
        struct sim_mark *last = sim_stream_last(stream);

        sim_mark_wait(last);
        sim_mark_put(last);
    }
    sim_print_flush(stream->context);
    return sim_context_error(stream->context);
}

CUresult cuStreamSynchronize(CUstream hStream) {
    return synchronize(hStream, false);
}

CUresult cuStreamSynchronize_ptsz(CUstream hStream) {
    return synchronize(hStream, true);
}

static CUresult query(CUstream hStream, bool per_thread) {
    LOOK(stream, hStream, per_thread);
    CUresult refused = sim_capture_refuses_wait(stream);
    bool done;

    if (refused != CUDA_SUCCESS)
        return refused;
    if (stream == stream->context->legacy) {
        done = !sim_context_busy(stream->context, SIM_BLOCKING_STREAMS);
    } else {
        struct sim_mark *last = sim_stream_last(stream);

        done = sim_mark_done(last);
        sim_mark_put(last);
    }
    if (!done)
        return CUDA_ERROR_NOT_READY;
    return sim_context_error(stream->context);
}

CUresult cuStreamQuery(CUstream hStream) {
    return query(hStream, false);
}

CUresult cuStreamQuery_ptsz(CUstream hStream) {
    return query(hStream, true);
}

/* What can be asked of a stream: by its handle alone, and by thread. */
#define GETTER(name, type, value)                                                                  \
    static CUresult get_##name(CUstream hStream, bool per_thread, type *out) {                     \
        LOOK(stream, hStream, per_thread);                                                         \
                                                                                                   \
        if (!out)                                                                                  \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *out = value;                                                                              \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    CUresult cuStreamGet##name(CUstream hStream, type *out) {                                      \
        return get_##name(hStream, false, out);                                                    \
    }                                                                                              \
    CUresult cuStreamGet##name##_ptsz(CUstream hStream, type *out) {                               \
        return get_##name(hStream, true, out);                                                     \
    }

GETTER(Priority, int, stream->priority)
GETTER(Flags, unsigned int, stream->flags)
GETTER(Ctx, CUcontext, SIM_HANDLE(stream->context))
GETTER(Id, unsigned long long, stream->id)
GETTER(Device, CUdevice, stream->context->device->ordinal)
