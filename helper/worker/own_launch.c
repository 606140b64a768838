// SPDX-License-Identifier: Apache-2.0
/* Launches. */
#include "launch_attributes.h"
#include "worker.h"

static CUresult gather_attributes(const struct args_launch *a, CUlaunchAttribute *attributes,
                                  unsigned int *count) {
    const struct vcuda_launch_attribute *given = a->attributes;

    *count = a->attributes_len / (uint32_t)sizeof(*given);
    if (a->attributes_len % sizeof(*given) || *count > VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < *count; i++) {
        if (!cuda_launch_attribute_travels((CUlaunchAttributeID)given[i].id))
            return CUDA_ERROR_INVALID_VALUE;
        attributes[i].id = (CUlaunchAttributeID)given[i].id;
        memcpy(&attributes[i].value, given[i].value, sizeof(attributes[i].value));
    }
    return CUDA_SUCCESS;
}

CUresult own_launch(struct worker *w, struct frame *f, struct args_launch *a) {
    CUlaunchAttribute attributes[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    CUlaunchConfig config = {a->gx, a->gy,     a->gz,     a->bx,      a->by,
                             a->bz, a->shared, a->stream, attributes, 0};
    size_t bytes = a->params_len;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)a->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    struct object function;
    CUresult r;

    (void)f;
    /* The driver reads as many bytes as the kernel has: all must be in the record. */
    if (!objects_get(&w->objects, VCUDA_KIND_FUNCTION, a->f_name, &function) ||
        bytes < function.aux)
        return CUDA_ERROR_INVALID_VALUE;
    r = gather_attributes(a, attributes, &config.numAttrs);
    if (r != CUDA_SUCCESS)
        return r;
    return w->driver.cuLaunchKernelEx(&config, a->f, NULL, bytes ? extra : NULL);
}
