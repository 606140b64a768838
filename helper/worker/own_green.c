// SPDX-License-Identifier: Apache-2.0
/*
 * Green contexts. A resource is a structure of the driver's with bytes of unknown meaning, which
 * the driver takes back: the guest gets its public part and a number for the rest, which stays
 * here.
 */
#include <stdlib.h>

#include "bundle.h"
#include "worker.h"

/* Different resources of a session. */
#define RESOURCES_MAX 4096u

static struct {
    CUdevResource *list;
    uint32_t count, room;
} resources; /* of the executor */

static uint64_t number_of(const CUdevResource *r) {
    for (uint32_t i = 0; i < resources.count; i++) {
        if (!memcmp(&resources.list[i], r, sizeof(*r)))
            return i + 1;
    }
    if (resources.count == resources.room) {
        uint32_t room = resources.room ? 2 * resources.room : 16;
        CUdevResource *list =
            room <= RESOURCES_MAX ? realloc(resources.list, room * sizeof(*list)) : NULL;

        if (!list)
            return 0;
        resources.list = list;
        resources.room = room;
    }
    resources.list[resources.count++] = *r;
    return resources.count;
}

static const CUdevResource *resource_of(uint64_t number) {
    return number && number <= resources.count ? &resources.list[number - 1] : NULL;
}

/* What the guest may see of one. */
static CUresult tell(const CUdevResource *r, CUdevResource *out) {
    uint64_t number = number_of(r);

    memset(out, 0, sizeof(*out));
    if (!number)
        return CUDA_ERROR_OUT_OF_MEMORY;
    out->type = r->type;
    if (r->type == CU_DEV_RESOURCE_TYPE_SM)
        out->sm = r->sm;
    memcpy(out->_internal_padding, &number, sizeof(number));
    return CUDA_SUCCESS;
}

CUresult own_cuDeviceGetDevResource(struct worker *w, struct frame *f,
                                    struct args_cuDeviceGetDevResource *a) {
    CUdevResource resource = {0};
    CUresult r = w->driver.cuDeviceGetDevResource(a->device, &resource, (CUdevResourceType)a->type);

    (void)f;
    return r == CUDA_SUCCESS ? tell(&resource, a->resource) : r;
}

CUresult own_cuCtxGetDevResource(struct worker *w, struct frame *f,
                                 struct args_cuCtxGetDevResource *a) {
    CUdevResource resource = {0};
    CUresult r = w->driver.cuCtxGetDevResource(a->hCtx, &resource, (CUdevResourceType)a->type);

    (void)f;
    return r == CUDA_SUCCESS ? tell(&resource, a->resource) : r;
}

CUresult own_cuGreenCtxGetDevResource(struct worker *w, struct frame *f,
                                      struct args_cuGreenCtxGetDevResource *a) {
    CUdevResource resource = {0};
    CUresult r = w->driver.cuGreenCtxGetDevResource(a->hCtx, &resource, (CUdevResourceType)a->type);

    (void)f;
    return r == CUDA_SUCCESS ? tell(&resource, a->resource) : r;
}

/* The parts, and behind them what remains. */
static CUresult split(struct worker *w, struct args_sm_split *a, const CUdevResource *input,
                      CUdevResource *parts) {
    CUdevResource *results = a->results;
    CUresult r = w->driver.cuDevSmResourceSplitByCount(parts, &a->made, input, &parts[a->groups],
                                                       a->flags, a->min_count);

    for (uint32_t i = 0; i < a->made && r == CUDA_SUCCESS; i++)
        r = tell(&parts[i], &results[i]);
    if (r == CUDA_SUCCESS)
        r = tell(&parts[a->groups], &results[a->made]);
    a->results_len = (a->made + 1) * (uint32_t)sizeof(*results);
    return r;
}

CUresult own_sm_split(struct worker *w, struct frame *f, struct args_sm_split *a) {
    const CUdevResource *known = resource_of(a->input);
    CUdevResource input, *parts;
    CUresult r;

    (void)f;
    if (!known || a->results_cap < (a->groups + 1ull) * sizeof(*parts))
        return CUDA_ERROR_INVALID_VALUE;
    input = *known;
    a->made = a->groups;
    if (!a->groups)
        return w->driver.cuDevSmResourceSplitByCount(NULL, &a->made, &input, NULL, a->flags,
                                                     a->min_count);
    parts = calloc(a->groups + 1, sizeof(*parts));
    if (!parts)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = split(w, a, &input, parts);
    free(parts);
    return r;
}

CUresult own_resource_desc(struct worker *w, struct frame *f, struct args_resource_desc *a) {
    uint32_t count = a->resources_len / 8;
    const uint64_t *numbers = a->resources;
    CUdevResource *list;
    CUresult r = CUDA_SUCCESS;

    (void)f;
    if (!count || a->resources_len % 8)
        return CUDA_ERROR_INVALID_VALUE;
    list = calloc(count, sizeof(*list));
    if (!list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        const CUdevResource *known = resource_of(numbers[i]);

        if (known)
            list[i] = *known;
        else
            r = CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDevResourceGenerateDesc(&a->desc, list, count);
    free(list);
    return r;
}

CUresult own_cuGreenCtxCreate(struct worker *w, struct frame *f, struct args_cuGreenCtxCreate *a) {
    CUresult r = w->driver.cuGreenCtxCreate(&a->phCtx, a->desc, a->dev, a->flags);

    (void)f;
    bundle_give_up(); /* where a graph's kernels run is not for the stream to say */
    if (r == CUDA_SUCCESS)
        regions_register(w);
    return r;
}

CUresult own_cuGreenCtxDestroy(struct worker *w, struct frame *f,
                               struct args_cuGreenCtxDestroy *a) {
    CUresult r;

    (void)f;
    pending_forget_context(a->context);
    worker_forget_context();
    r = w->driver.cuGreenCtxDestroy(a->hCtx);
    if (r == CUDA_SUCCESS && a->context)
        objects_end(&w->objects, a->context);
    return r;
}

CUresult own_green_context(struct worker *w, struct frame *f, struct args_green_context *a) {
    (void)f;
    return w->driver.cuCtxFromGreenCtx(&a->ctx, a->green);
}

CUresult own_green_stream(struct worker *w, struct frame *f, struct args_green_stream *a) {
    (void)f;
    return w->driver.cuGreenCtxStreamCreate(&a->stream, a->green, a->flags, a->priority);
}

CUresult own_stream_green(struct worker *w, struct frame *f, struct args_stream_green *a) {
    (void)f;
    return w->driver.cuStreamGetGreenCtx(a->stream, &a->green);
}
