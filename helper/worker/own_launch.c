// SPDX-License-Identifier: Apache-2.0
/* Launches, and what would fit of them. */
#include "bundle.h"
#include "function.h"
#include "launch.h"
#include "launch_attributes.h"
#include "worker.h"

/* The event that stands in an attribute by its name. */
static CUresult attribute_event(struct worker *w, CUevent *event) {
    void *found;
    CUresult r = frame_object(w, VCUDA_KIND_EVENT, (uint64_t)*event, &found);

    *event = r == CUDA_SUCCESS ? found : NULL;
    return r;
}

/* One attribute for the driver: events by their names are looked up. */
static CUresult launch_attribute(struct worker *w, const struct vcuda_launch_attribute *given,
                                 CUlaunchAttribute *a) {
    a->id = (CUlaunchAttributeID)given->id;
    memcpy(&a->value, given->value, sizeof(a->value));
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return attribute_event(w, &a->value.programmaticEvent.event);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return attribute_event(w, &a->value.launchCompletionEvent.event);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        memset(&a->value, 0, sizeof(a->value)); /* "no" is all that may be said */
        return CUDA_SUCCESS;
    default:
        return cuda_launch_attribute_travels(a->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

/* A blob of them, up to VCUDA_LAUNCH_ATTRIBUTES_MAX. */
static CUresult launch_attributes(struct worker *w, const void *blob, uint32_t bytes,
                                  CUlaunchAttribute *attributes, unsigned int *count) {
    const struct vcuda_launch_attribute *given = blob;
    CUresult r = CUDA_SUCCESS;

    *count = bytes / (uint32_t)sizeof(*given);
    if (bytes % sizeof(*given) || *count > VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < *count && r == CUDA_SUCCESS; i++)
        r = launch_attribute(w, &given[i], &attributes[i]);
    return r;
}

CUresult own_launch(struct worker *w, struct frame *f, struct args_launch *a) {
    CUlaunchAttribute attributes[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    CUlaunchConfig config = {a->gx, a->gy,     a->gz,     a->bx,      a->by,
                             a->bz, a->shared, a->stream, attributes, 0};
    size_t bytes = a->params_len;
    struct launch_buffer b;
    struct object function;
    CUresult r = CUDA_SUCCESS;

    if (!objects_get(&w->objects, VCUDA_KIND_FUNCTION, a->function, &function))
        return CUDA_ERROR_INVALID_HANDLE;
    /* The driver reads as many bytes as the kernel has: all must be in the record. */
    if (bytes < function_params(&function))
        return CUDA_ERROR_INVALID_VALUE;
    if (bundle_take(w, f, a, &function))
        return CUDA_SUCCESS;
    if (a->attributes_len)
        r = launch_attributes(w, a->attributes, a->attributes_len, attributes, &config.numAttrs);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuLaunchKernelEx(&config, function.native, NULL,
                                   launch_buffer(&b, a->params, &bytes));
    if (r == CUDA_SUCCESS && !config.numAttrs)
        bundle_may_have(w, a->function, f->head.ctx, &function);
    return r;
}

CUresult own_occupancy_clusters(struct worker *w, struct frame *f,
                                struct args_occupancy_clusters *a) {
    CUlaunchAttribute attributes[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    CUlaunchConfig config = {a->gx, a->gy,     a->gz,     a->bx,      a->by,
                             a->bz, a->shared, a->stream, attributes, 0};
    CUresult r =
        launch_attributes(w, a->attributes, a->attributes_len, attributes, &config.numAttrs);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    return a->which == VCUDA_CLUSTERS_ACTIVE
               ? w->driver.cuOccupancyMaxActiveClusters(&a->value, a->f, &config)
               : w->driver.cuOccupancyMaxPotentialClusterSize(&a->value, a->f, &config);
}
