// SPDX-License-Identifier: Apache-2.0
/* Streams and events. */
#include "worker.h"

CUresult own_cuStreamCreateWithPriority(struct worker *w, struct frame *f,
                                        struct args_cuStreamCreateWithPriority *a) {
    (void)f;
    return w->driver.cuStreamCreateWithPriority(&a->phStream, a->flags, a->priority);
}

/* With many streams the driver waits for running kernels before it makes another. */
CUresult own_stream_create(struct worker *w, struct frame *f, struct args_stream_create *a) {
    (void)f;
    return w->driver.cuStreamCreateWithPriority(&a->stream, a->flags, a->priority);
}

CUresult own_cuStreamSynchronize(struct worker *w, struct frame *f,
                                 struct args_cuStreamSynchronize *a) {
    return pending_stream(w, f, a->hStream, a->hStream_name);
}

CUresult own_cuEventCreate(struct worker *w, struct frame *f, struct args_cuEventCreate *a) {
    (void)f;
    /* The guest's thread is not the one that waits: whoever does here must sleep. */
    return w->driver.cuEventCreate(&a->phEvent, a->Flags | CU_EVENT_BLOCKING_SYNC);
}

CUresult own_cuEventDestroy_v2(struct worker *w, struct frame *f,
                               struct args_cuEventDestroy_v2 *a) {
    (void)f;
    return pending_destroy(w, a->hEvent);
}

CUresult own_cuEventSynchronize(struct worker *w, struct frame *f,
                                struct args_cuEventSynchronize *a) {
    (void)w;
    return pending_event(f, a->hEvent);
}
