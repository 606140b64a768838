// SPDX-License-Identifier: Apache-2.0
/* Streams and events. */
#include "bundle.h"
#include "graphs.h"
#include "ipc.h"
#include "hostfunc.h"
#include "launch_attributes.h"
#include "told.h"
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
    return pending_stream(w, f, a->hStream, a->hStream_name, false);
}

CUresult own_cuStreamQuery(struct worker *w, struct frame *f, struct args_cuStreamQuery *a) {
    return told_query(w, a->hStream, a->hStream_name, f->head.ctx);
}

CUresult own_cuStreamDestroy_v2(struct worker *w, struct frame *f,
                                struct args_cuStreamDestroy_v2 *a) {
    (void)f;
    told_stream_ends(w, a->hStream_name);
    return w->driver.cuStreamDestroy_v2(a->hStream);
}

CUresult own_cuEventCreate(struct worker *w, struct frame *f, struct args_cuEventCreate *a) {
    (void)f;
    /* Nobody sleeps for it in the driver, whatever the program asks for: see pending.c. */
    return w->driver.cuEventCreate(&a->phEvent, a->Flags & ~(uint32_t)CU_EVENT_BLOCKING_SYNC);
}

CUresult own_cuEventDestroy_v2(struct worker *w, struct frame *f,
                               struct args_cuEventDestroy_v2 *a) {
    (void)f;
    ipc_ends((uint64_t)a->hEvent);
    return pending_destroy(w, a->hEvent);
}

CUresult own_cuEventSynchronize(struct worker *w, struct frame *f,
                                struct args_cuEventSynchronize *a) {
    (void)w;
    return pending_event(f, a->hEvent);
}

/* The graph that a stream is captured into; NULL: it is not captured. */
static CUgraph capturing(struct worker *w, CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    cuuint64_t id;
    CUresult r =
        w->driver.cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, NULL, NULL, NULL);

    return r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : NULL;
}

/* A captured function runs whenever the graph does. */
static CUresult launch_function(struct worker *w, struct args_launch_host *a) {
    CUgraph graph = capturing(w, a->stream);
    CUresult r = w->driver.cuLaunchHostFunc(a->stream, graph ? hostfunc_again : hostfunc_once,
                                            hostfunc_arg(a->id));

    a->captured = graph != NULL;
    if (r == CUDA_SUCCESS && graph && a->end)
        graph_tie_end(w, graph, a->end);
    return r;
}

CUresult own_launch_host(struct worker *w, struct frame *f, struct args_launch_host *a) {
    (void)f;
    if (a->callback)
        return w->driver.cuStreamAddCallback(a->stream, hostfunc_callback, hostfunc_arg(a->id), 0);
    return launch_function(w, a);
}

/* A value with a handle in it would be the guest's number; no attribute of a stream has one. */
CUresult own_cuStreamSetAttribute(struct worker *w, struct frame *f,
                                  struct args_cuStreamSetAttribute *a) {
    (void)f;
    if (!cuda_launch_attribute_travels((CUlaunchAttributeID)a->attr) &&
        a->attr != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
        return CUDA_ERROR_INVALID_VALUE;
    bundle_give_up(); /* a graph's kernels do not have it */
    return w->driver.cuStreamSetAttribute(a->hStream, (CUstreamAttrID)a->attr, a->param);
}
