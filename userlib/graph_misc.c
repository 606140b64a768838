// SPDX-License-Identifier: Apache-2.0
/* User objects, conditional handles, and graphs printed as text. */
#include <pthread.h>
#include <stdio.h>

#include "cuda_calls.h"
#include "guest.h"
#include "hostfunc.h"
#include "wire.h"

VCUDA_EXPORT CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                         unsigned int initialRefcount, unsigned int flags) {
    struct thread *t;
    uint64_t id, name;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!object_out || !destroy)
        return CUDA_ERROR_INVALID_VALUE;
    id = hostfunc_register(destroy, ptr);
    if (!id)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = wire_user_object_create(t, id, initialRefcount, flags, &name);
    if (r == CUDA_SUCCESS)
        *object_out = (CUuserObject)name;
    else
        hostfunc_drop(id);
    return r;
}

VCUDA_EXPORT CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                                     CUgraph hGraph, CUcontext ctx,
                                                     unsigned int defaultLaunchValue,
                                                     unsigned int flags) {
    uint64_t handle;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pHandle_out)
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_check(VCUDA_KIND_GRAPH, hGraph);
    if (r == CUDA_SUCCESS && ctx)
        r = guest_check(VCUDA_KIND_CONTEXT, ctx);
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphConditionalHandleCreate(t, (uint64_t)hGraph, (uint64_t)ctx,
                                                defaultLaunchValue, flags, &handle);
    if (r == CUDA_SUCCESS)
        *pHandle_out = handle;
    return r;
}

/*
 * The driver's text comes in pieces; the file is the program's. The worker keeps one text: of two
 * threads that print, one waits.
 */
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static CUresult copy_text(struct thread *t, CUgraph graph, unsigned int flags, FILE *file) {
    char text[32768];
    uint64_t at = 0, all = 0;
    uint32_t len;
    CUresult r;

    do {
        r = wire_graph_dot(t, (uint64_t)graph, flags, at, &all, text, sizeof(text), &len);
        if (r == CUDA_SUCCESS && fwrite(text, 1, len, file) != len)
            r = CUDA_ERROR_OPERATING_SYSTEM;
        at += len;
    } while (r == CUDA_SUCCESS && len && at < all);
    return r;
}

VCUDA_EXPORT CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    struct thread *t;
    FILE *file;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, hGraph);
    if (r == CUDA_SUCCESS && !path)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    file = fopen(path, "we");
    if (!file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    pthread_mutex_lock(&printing);
    r = copy_text(t, hGraph, flags, file);
    pthread_mutex_unlock(&printing);
    if (fclose(file) && r == CUDA_SUCCESS)
        r = CUDA_ERROR_OPERATING_SYSTEM;
    return r;
}
