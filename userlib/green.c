// SPDX-License-Identifier: Apache-2.0
/*
 * Green contexts: shares of a device's multiprocessors. Resources are structures that a program
 * copies and passes back; what is in them stays in the worker, under a number in their private
 * part.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* Parts of one device. */
#define PARTS_MAX 256u

static uint64_t number_of(const CUdevResource *r) {
    uint64_t number;

    memcpy(&number, r->_internal_padding, sizeof(number));
    return number;
}

/* ---- the context that stands for a green one, made when it is asked for ---- */

struct green {
    struct green *next;
    uint64_t name, context;
    CUdevice dev;
};

static struct green *greens;
static pthread_mutex_t greens_lock = PTHREAD_MUTEX_INITIALIZER;

static struct green **find(uint64_t name) {
    struct green **g = &greens;

    while (*g && (*g)->name != name)
        g = &(*g)->next;
    return g;
}

static CUresult remember(uint64_t name, CUdevice dev) {
    struct green *g = malloc(sizeof(*g));

    if (!g)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&greens_lock);
    *g = (struct green){greens, name, 0, dev};
    greens = g;
    pthread_mutex_unlock(&greens_lock);
    return CUDA_SUCCESS;
}

/* Under the lock. */
static CUresult make_context(struct thread *t, struct green *g) {
    struct context *c;
    CUresult r;

    g->context = context_new(g->dev, 0, false);
    c = names_get(VCUDA_KIND_CONTEXT, g->context);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->green = g->name;
    r = wire_green_context(t, g->context, g->name);
    if (r != CUDA_SUCCESS) {
        context_end(g->context);
        g->context = 0;
    }
    return r;
}

static CUresult context_of(struct thread *t, CUgreenCtx green, uint64_t *context) {
    CUresult r = guest_check(VCUDA_KIND_GREEN, green);
    struct green *g;

    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&greens_lock);
    g = *find((uint64_t)green);
    r = !g ? CUDA_ERROR_INVALID_VALUE : g->context ? CUDA_SUCCESS : make_context(t, g);
    if (r == CUDA_SUCCESS)
        *context = g->context;
    pthread_mutex_unlock(&greens_lock);
    return r;
}

VCUDA_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
    struct thread *t;
    uint64_t context;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && !pContext)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = context_of(t, hCtx, &context);
    if (r == CUDA_SUCCESS)
        *pContext = (CUcontext)context;
    return r;
}

VCUDA_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                                       unsigned int flags) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && !phCtx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_DESC, desc);
    if (r == CUDA_SUCCESS && (dev < 0 || dev >= guest_device_count()))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS)
        r = wire_cuGreenCtxCreate(t, &name, (uint64_t)desc, dev, flags);
    if (r == CUDA_SUCCESS)
        r = remember(name, dev);
    if (r == CUDA_SUCCESS)
        *phCtx = (CUgreenCtx)name;
    return r;
}

VCUDA_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    struct green **at, *g;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GREEN, hCtx);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&greens_lock);
    at = find((uint64_t)hCtx);
    g = *at;
    if (g)
        *at = g->next;
    pthread_mutex_unlock(&greens_lock);
    if (!g)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuGreenCtxDestroy(t, g->name, g->context);
    if (g->context)
        context_end(g->context);
    free(g);
    return r;
}

/* ---- resources ---- */

VCUDA_EXPORT CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
                                                  const CUdevResource *input,
                                                  CUdevResource *remaining, unsigned int useFlags,
                                                  unsigned int minCount) {
    uint32_t groups, made = 0, len = 0;
    CUdevResource *parts;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && (!nbGroups || !input))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && input->type != CU_DEV_RESOURCE_TYPE_SM)
        r = CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (r != CUDA_SUCCESS)
        return r;
    groups = !result ? 0 : *nbGroups < PARTS_MAX ? *nbGroups : PARTS_MAX;
    parts = malloc((groups + 1) * sizeof(*parts));
    if (!parts)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = wire_sm_split(t, number_of(input), groups, useFlags, minCount, &made, parts,
                      (groups + 1) * (uint32_t)sizeof(*parts), &len);
    if (r == CUDA_SUCCESS && groups && (made > groups || len != (made + 1) * sizeof(*parts)))
        r = CUDA_ERROR_UNKNOWN;
    if (r == CUDA_SUCCESS) {
        *nbGroups = made;
        if (groups) {
            memcpy(result, parts, made * sizeof(*parts));
            if (remaining)
                *remaining = parts[made];
        }
    }
    free(parts);
    return r;
}

VCUDA_EXPORT CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
                                                unsigned int nbResources) {
    uint64_t numbers[PARTS_MAX], desc;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && (!phDesc || !resources || !nbResources || nbResources > PARTS_MAX))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    for (unsigned int i = 0; i < nbResources; i++)
        numbers[i] = number_of(&resources[i]);
    r = wire_resource_desc(t, numbers, 8 * nbResources, &desc);
    if (r == CUDA_SUCCESS)
        *phDesc = (CUdevResourceDesc)desc;
    return r;
}

/* ---- streams ---- */

VCUDA_EXPORT CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx,
                                             unsigned int flags, int priority) {
    uint64_t context, name;
    struct thread *t, there;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && !phStream)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = context_of(t, greenCtx, &context);
    if (r != CUDA_SUCCESS)
        return r;
    name = stream_new(context, flags);
    if (!name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    there = *t;
    guest_set_context(&there, context); /* with which it ends */
    r = wire_green_stream(&there, name, (uint64_t)greenCtx, flags, priority);
    if (r == CUDA_SUCCESS)
        *phStream = (CUstream)name;
    else
        stream_free(names_end(VCUDA_KIND_STREAM, name));
    return r;
}

VCUDA_EXPORT CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx) {
    uint64_t name, context, green = 0;
    struct context *c;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, hStream, &name, &context);
    if (r == CUDA_SUCCESS && !phCtx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    c = names_get(VCUDA_KIND_CONTEXT, context);
    /* An ordinary context's streams are no green one's: nothing to ask. */
    if (c && c->green)
        r = wire_stream_green(t, name, &green);
    if (r == CUDA_SUCCESS)
        *phCtx = (CUgreenCtx)green;
    return r;
}

/* A green context's stream has both; neither need be asked for. */
VCUDA_EXPORT CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx) {
    CUcontext context;
    CUresult r = cuStreamGetCtx(hStream, &context);

    if (r == CUDA_SUCCESS && pGreenCtx)
        r = cuStreamGetGreenCtx(hStream, pGreenCtx);
    if (r == CUDA_SUCCESS && pCtx)
        *pCtx = context;
    return r;
}
