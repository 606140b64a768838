// SPDX-License-Identifier: Apache-2.0
/* Numbers of contexts and streams, as libraries for profiling and multi-GPU work ask for them. */
#include "cuda_calls.h"
#include "export/tables.h"

/* A stream in the form that only get_id understands: its handle, never 0. */
static CUresult get_private(CUcontext context, CUstream stream, void **private, int per_thread) {
    (void)context;
    if (!private)
        return CUDA_ERROR_INVALID_VALUE;
    *private = stream ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    return CUDA_SUCCESS;
}

static CUresult get_id(CUcontext context, void *private, uint64_t *id) {
    unsigned long long number = 0;
    CUcontext popped;
    CUresult r = context ? cuCtxPushCurrent_v2(context) : CUDA_SUCCESS;

    if (r != CUDA_SUCCESS)
        return r;
    r = id ? cuStreamGetId(private, &number) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = number;
    if (context)
        cuCtxPopCurrent_v2(&popped);
    return r;
}

const void *const export_streams[93] = {
    [0] = EXPORT_SIZE(93),
    [1 ... 3] = EXPORT_REFUSED,
    [4] = (const void *)cuCtxGetId,
    [5 ... 38] = EXPORT_REFUSED,
    [39] = (const void *)get_id,
    [40 ... 50] = EXPORT_REFUSED,
    [51] = (const void *)get_private,
    [52 ... 92] = EXPORT_REFUSED,
};
