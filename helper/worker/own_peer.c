// SPDX-License-Identifier: Apache-2.0
/* What devices can do to each other, and graphs' memory. */
#include "worker.h"

/* As many answers as operations. */
static bool lists_ok(uint32_t in, uint32_t out) {
    return in && in == out && in % sizeof(CUatomicOperation) == 0;
}

CUresult own_cuDeviceGetHostAtomicCapabilities(struct worker *w, struct frame *f,
                                               struct args_cuDeviceGetHostAtomicCapabilities *a) {
    (void)f;
    if (!lists_ok(a->operations_len, a->capabilities_cap))
        return CUDA_ERROR_INVALID_VALUE;
    a->capabilities_len = a->capabilities_cap;
    return w->driver.cuDeviceGetHostAtomicCapabilities(
        a->capabilities, a->operations, a->operations_len / sizeof(CUatomicOperation), a->dev);
}

CUresult own_cuDeviceGetP2PAtomicCapabilities(struct worker *w, struct frame *f,
                                              struct args_cuDeviceGetP2PAtomicCapabilities *a) {
    (void)f;
    if (!lists_ok(a->operations_len, a->capabilities_cap))
        return CUDA_ERROR_INVALID_VALUE;
    a->capabilities_len = a->capabilities_cap;
    return w->driver.cuDeviceGetP2PAtomicCapabilities(a->capabilities, a->operations,
                                                      a->operations_len / sizeof(CUatomicOperation),
                                                      a->src, a->dst);
}

static bool attribute_known(int32_t attr) {
    return attr >= CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT &&
           attr <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
}

CUresult own_cuDeviceGetGraphMemAttribute(struct worker *w, struct frame *f,
                                          struct args_cuDeviceGetGraphMemAttribute *a) {
    (void)f;
    if (!attribute_known(a->attr))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuDeviceGetGraphMemAttribute(a->device, (CUgraphMem_attribute)a->attr,
                                                  &a->value);
}

CUresult own_cuDeviceSetGraphMemAttribute(struct worker *w, struct frame *f,
                                          struct args_cuDeviceSetGraphMemAttribute *a) {
    (void)f;
    if (!attribute_known(a->attr))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuDeviceSetGraphMemAttribute(a->device, (CUgraphMem_attribute)a->attr,
                                                  &a->value);
}
