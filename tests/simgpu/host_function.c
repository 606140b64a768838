// SPDX-License-Identifier: Apache-2.0
/* Host functions in streams: they run on the stream's thread, in their turn. */
#include "graph.h"
#include "sim.h"

struct host_op {
    struct sim_op op;
    CUhostFn function;         /* or: */
    CUstreamCallback callback; /* which is called with the stream and the context's error */
    CUstream stream;
    void *data;
};

static CUresult run(struct sim_op *op, struct sim_context *context) {
    struct host_op *host = (struct host_op *)op;

    sim_inside_host_function(true);
    if (host->function)
        host->function(host->data);
    else
        host->callback(host->stream, (CUresult)atomic_load(&context->device->error), host->data);
    sim_inside_host_function(false);
    return CUDA_SUCCESS;
}

static void tell(const struct sim_op *op, CUgraphNodeParams *params) {
    const struct host_op *host = (const struct host_op *)op;

    params->host.fn = host->function;
    params->host.userData = host->data;
}

static void prepare(struct host_op *host) {
    host->op.run = run;
    host->op.kind = CU_GRAPH_NODE_TYPE_HOST;
    host->op.tell = tell;
    host->op.always = host->callback != NULL; /* it is told of errors, a function is not called */
}

CUresult sim_host_op(const CUDA_HOST_NODE_PARAMS_v2 *p, struct sim_op **op) {
    struct host_op *host = p->fn ? sim_op_new(sizeof(*host), run) : NULL;

    *op = (struct sim_op *)host;
    if (!host)
        return p->fn ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    host->function = p->fn;
    host->data = p->userData;
    prepare(host);
    return CUDA_SUCCESS;
}

static CUresult add(const struct host_op *what, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct host_op *host;
    SIM_ENTER(context);
    CUresult result;

    if (!what->function && !what->callback)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_get(context, what->stream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    host = sim_op_new(sizeof(*host), run);
    if (!host)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *host = *what;
    prepare(host);
    return sim_submit(stream, &host->op, NULL);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    return add(&(struct host_op){.function = fn, .stream = hStream, .data = userData}, false);
}

CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData) {
    return add(&(struct host_op){.function = fn, .stream = hStream, .data = userData}, true);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                             unsigned int flags) {
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    return add(&(struct host_op){.callback = callback, .stream = hStream, .data = userData}, false);
}

CUresult cuStreamAddCallback_ptsz(CUstream hStream, CUstreamCallback callback, void *userData,
                                  unsigned int flags) {
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    return add(&(struct host_op){.callback = callback, .stream = hStream, .data = userData}, true);
}
