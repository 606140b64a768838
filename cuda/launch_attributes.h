/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes of a launch can go to another process as they are, and which make clusters. */
#ifndef VCUDA_CUDA_LAUNCH_ATTRIBUTES_H
#define VCUDA_CUDA_LAUNCH_ATTRIBUTES_H

#include <stdbool.h>

#include "cuda_types.h"

/*
 * Whether the value of `id` holds neither a host pointer nor a handle. Asked by the library, which
 * tells the program, and by the worker, which does not believe the library.
 */
static inline bool cuda_launch_attribute_travels(CUlaunchAttributeID id) {
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: /* a device address, which is real */
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return true;
    default:
        return false;
    }
}

/* Whether a function that has this attribute set is launched in clusters. */
static inline bool cuda_function_attribute_clusters(CUfunction_attribute id) {
    return id == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ||
           id == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT ||
           id == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
}

#endif
