// SPDX-License-Identifier: Apache-2.0
/* The attributes of launches. */
#include "launch.h"

#include <string.h>

static CUresult set_cluster(unsigned cluster[3], const CUlaunchAttributeValue *v) {
    if (v->clusterDim.x == 0 || v->clusterDim.y == 0 || v->clusterDim.z == 0)
        return CUDA_ERROR_INVALID_VALUE;
    cluster[0] = v->clusterDim.x;
    cluster[1] = v->clusterDim.y;
    cluster[2] = v->clusterDim.z;
    return CUDA_SUCCESS;
}

CUresult sim_launch_setting_set(struct sim_launch_settings *s, CUlaunchAttributeID id,
                                const CUlaunchAttributeValue *v) {
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!sim_good_window(&v->accessPolicyWindow))
            return CUDA_ERROR_INVALID_VALUE;
        s->window = v->accessPolicyWindow;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        s->cooperative = v->cooperative;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return set_cluster(s->cluster, v);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if ((unsigned)v->clusterSchedulingPolicyPreference >
            CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return CUDA_ERROR_INVALID_VALUE;
        s->cluster_policy = v->clusterSchedulingPolicyPreference;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        s->priority = sim_clamp_priority(v->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        s->domain_map = v->memSyncDomainMap;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        s->domain = v->memSyncDomain;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        s->carveout = v->sharedMemCarveout;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_launch_setting_get(const struct sim_launch_settings *s, CUlaunchAttributeID id,
                                CUlaunchAttributeValue *v) {
    memset(v, 0, sizeof(*v));
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        v->accessPolicyWindow = s->window;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        v->cooperative = s->cooperative;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        v->clusterDim.x = s->cluster[0];
        v->clusterDim.y = s->cluster[1];
        v->clusterDim.z = s->cluster[2];
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        v->clusterSchedulingPolicyPreference = s->cluster_policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        v->priority = s->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        v->memSyncDomainMap = s->domain_map;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        v->memSyncDomain = s->domain;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        v->sharedMemCarveout = s->carveout;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
