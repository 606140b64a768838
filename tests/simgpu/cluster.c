// SPDX-License-Identifier: Apache-2.0
/* How blocks may be launched in clusters. */
#include "launch.h"

#define CLUSTER_PORTABLE 8 /* blocks that a cluster may have everywhere */
#define CLUSTER_MAX 16     /* and here, where a function says that it may be that many */

void sim_cluster_of(const struct sim_launch_settings *settings, const struct ptx_func_info *info,
                    unsigned cluster[3]) {
    for (int i = 0; i < 3; i++)
        cluster[i] = settings->cluster[0] ? settings->cluster[i] : (unsigned)info->cluster[i];
}

static unsigned largest(const struct sim_function *function) {
    return atomic_load(&function->settings.non_portable) ? CLUSTER_MAX : CLUSTER_PORTABLE;
}

CUresult sim_cluster_check(const struct sim_launch_settings *settings,
                           const struct sim_function *function, const unsigned grid[3]) {
    const struct ptx_func_info *info = &function->info;
    unsigned cluster[3];

    sim_cluster_of(settings, info, cluster);
    if (!cluster[0])
        return info->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    for (int i = 0; i < 3; i++)
        if (cluster[i] > CLUSTER_MAX || grid[i] % cluster[i] ||
            (info->cluster[0] && cluster[i] != (unsigned)info->cluster[i]))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return cluster[0] * cluster[1] * cluster[2] > largest(function)
               ? CUDA_ERROR_INVALID_CLUSTER_SIZE
               : CUDA_SUCCESS;
}

/* How many blocks of such a launch the context's multiprocessors hold. */
static CUresult room_for(CUfunction func, const CUlaunchConfig *config,
                         struct sim_launch_settings *settings, struct sim_function **function,
                         unsigned *blocks) {
    CUresult result = CUDA_SUCCESS;
    SIM_ENTER(context);

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            result = sim_launch_setting_set(settings, config->attrs[i].id, &config->attrs[i].value);
    if (result == CUDA_SUCCESS)
        result = sim_function_get(context, func, function);
    if (result != CUDA_SUCCESS)
        return result;
    *blocks = (unsigned)sim_occupancy(
                  *function, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
                  config->sharedMemBytes) *
              context->sm_count;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                            const CUlaunchConfig *config) {
    SIM_AUTO struct sim_function *function = NULL;
    struct sim_launch_settings settings = {0};
    unsigned blocks;
    CUresult result = room_for(func, config, &settings, &function, &blocks);

    if (result == CUDA_SUCCESS && !clusterSize)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *clusterSize = (int)(blocks < largest(function) ? blocks : largest(function));
    return result;
}

/* Any multiprocessors can make up a cluster here: they lie in no groups. */
CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                      const CUlaunchConfig *config) {
    SIM_AUTO struct sim_function *function = NULL;
    struct sim_launch_settings settings = {0};
    unsigned blocks, cluster[3], size;
    CUresult result = room_for(func, config, &settings, &function, &blocks);

    if (result == CUDA_SUCCESS && !numClusters)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    sim_cluster_of(&settings, &function->info, cluster);
    size = cluster[0] ? cluster[0] * cluster[1] * cluster[2] : 1;
    if (size > largest(function))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *numClusters = (int)(blocks / size);
    return CUDA_SUCCESS;
}
