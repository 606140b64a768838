// SPDX-License-Identifier: Apache-2.0
/* Launches by a configuration with attributes, and those that mean one. */
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "launch.h"
#include "launch_attributes.h"

/*
 * Events of a launch travel as their names, in the place of the handle. A node that the device may
 * update is made by captured launches, whose answer would have to be waited for.
 */
static CUresult check_attribute(const CUlaunchAttribute *a) {
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return guest_check(VCUDA_KIND_EVENT, a->value.programmaticEvent.event);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return guest_check(VCUDA_KIND_EVENT, a->value.launchCompletionEvent.event);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return a->value.deviceUpdatableKernelNode.deviceUpdatable ? CUDA_ERROR_NOT_SUPPORTED
                                                                  : CUDA_SUCCESS;
    default:
        return cuda_launch_attribute_travels(a->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult add_attribute(struct launch *l, const CUlaunchAttribute *a) {
    struct vcuda_launch_attribute *to = &l->attributes[l->attribute_count];
    CUresult r;

    if (a->id == CU_LAUNCH_ATTRIBUTE_IGNORE)
        return CUDA_SUCCESS;
    r = check_attribute(a);
    if (r != CUDA_SUCCESS)
        return r;
    if (l->attribute_count == VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *to = (struct vcuda_launch_attribute){.id = a->id};
    memcpy(to->value, &a->value, sizeof(to->value));
    l->attribute_count++;
    return CUDA_SUCCESS;
}

CUresult launch_read_config(struct launch *l, struct vcuda_launch_attribute *room,
                            const CUlaunchConfig *config) {
    CUresult r = CUDA_SUCCESS;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    l->grid[0] = config->gridDimX, l->grid[1] = config->gridDimY, l->grid[2] = config->gridDimZ;
    l->block[0] = config->blockDimX, l->block[1] = config->blockDimY;
    l->block[2] = config->blockDimZ;
    l->shared = config->sharedMemBytes;
    l->stream = config->hStream;
    l->attributes = room;
    l->attribute_count = 0;
    for (unsigned int i = 0; i < config->numAttrs && r == CUDA_SUCCESS; i++)
        r = add_attribute(l, &config->attrs[i]);
    return r;
}

static CUresult launch_ex(const CUlaunchConfig *config, bool per_thread, CUfunction f,
                          void **kernelParams, void **extra) {
    struct vcuda_launch_attribute room[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    struct launch l;
    CUresult r = launch_read_config(&l, room, config);

    if (r != CUDA_SUCCESS)
        return r;
    if (per_thread)
        l.stream = guest_per_thread(l.stream);
    return launch_make(&l, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                                       void **kernelParams, void **extra) {
    return launch_ex(config, false, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
                                            void **kernelParams, void **extra) {
    return launch_ex(config, true, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                                unsigned int gridDimY, unsigned int gridDimZ,
                                                unsigned int blockDimX, unsigned int blockDimY,
                                                unsigned int blockDimZ, unsigned int sharedMemBytes,
                                                CUstream hStream, void **kernelParams) {
    const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                           .value.cooperative = 1};
    struct vcuda_launch_attribute room;
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
    l.attributes = &room;
    l.attribute_count = 0;
    add_attribute(&l, &cooperative);
    return launch_make(&l, f, kernelParams, NULL);
}

/* No waiting for the other devices before, or after, a launch. */
#define MULTI_DEVICE_FLAGS 3u

/* From before cooperative groups over several devices were given up: one device remains. */
VCUDA_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
                                                           unsigned int numDevices,
                                                           unsigned int flags) {
    const CUDA_LAUNCH_PARAMS *p = launchParamsList;
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!p || !numDevices || flags & ~MULTI_DEVICE_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (numDevices > 1)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuLaunchCooperativeKernel(p->function, p->gridDimX, p->gridDimY, p->gridDimZ,
                                     p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes,
                                     p->hStream, p->kernelParams);
}
