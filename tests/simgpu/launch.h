/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch says beside its shape: its attributes, which a kernel's node keeps. */
#ifndef SIMGPU_LAUNCH_H
#define SIMGPU_LAUNCH_H

#include "sim.h"

/* What of it is a hint is kept and told, but changes nothing. */
struct sim_launch_settings {
    CUaccessPolicyWindow window;
    bool cooperative;
    unsigned cluster[3]; /* blocks; 0: none were asked for */
    CUclusterSchedulingPolicy cluster_policy;
    int priority;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
    unsigned carveout;
};

/*
 * An attribute that kernels' nodes have as well. CUDA_ERROR_INVALID_VALUE: they have no such one,
 * or not with such a value.
 */
CUresult sim_launch_setting_set(struct sim_launch_settings *s, CUlaunchAttributeID id,
                                const CUlaunchAttributeValue *value);
CUresult sim_launch_setting_get(const struct sim_launch_settings *s, CUlaunchAttributeID id,
                                CUlaunchAttributeValue *value);

/* cluster.c: the blocks of a cluster; all 0: there are none. */
void sim_cluster_of(const struct sim_launch_settings *settings, const struct ptx_func_info *info,
                    unsigned cluster[3]);
/* CUDA_ERROR_INVALID_CLUSTER_SIZE: the function is not launched in such clusters, or the grid is
 * not made of whole ones. */
CUresult sim_cluster_check(const struct sim_launch_settings *settings,
                           const struct sim_function *function, const unsigned grid[3]);

/* launch.c: of an operation that is a kernel's. */
const struct sim_launch_settings *sim_launch_settings_of(const struct sim_op *op);
/* The same operation once more, with other settings, or the error to return. */
CUresult sim_launch_with(const struct sim_op *op, const struct sim_launch_settings *settings,
                         struct sim_op **out);

#endif
