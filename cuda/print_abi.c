// SPDX-License-Identifier: Apache-2.0
/*
 * Prints sizes, offsets, constants and names of whichever header it is built with: ours or
 * NVIDIA's. `make check` compares what the two builds print.
 */
#include CUDA_ABI_HEADER

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof " #type " %zu\n", sizeof(type))
#define OFFSET(type, member) printf(#type "." #member " %zu\n", offsetof(type, member))
#define CONSTANT(name) printf(#name " %lld\n", (long long)(size_t)(name));
#define STRING(name) #name
#define NAME(name) printf("%s %s\n", "" #name, STRING(name));

static void print_layouts(void) {
    SIZE(CUdevice);
    SIZE(CUdeviceptr);
    SIZE(CUcontext);
    SIZE(CUuuid);
    SIZE(CUresult);
    SIZE(CUdevice_attribute);
    SIZE(CUdevprop);
    OFFSET(CUdevprop, maxGridSize);
    OFFSET(CUdevprop, textureAlign);
    SIZE(CUctxCreateParams);
    OFFSET(CUctxCreateParams, numExecAffinityParams);
    OFFSET(CUctxCreateParams, cigParams);
    SIZE(CUlaunchConfig);
    OFFSET(CUlaunchConfig, blockDimX);
    OFFSET(CUlaunchConfig, sharedMemBytes);
    OFFSET(CUlaunchConfig, hStream);
    OFFSET(CUlaunchConfig, attrs);
    OFFSET(CUlaunchConfig, numAttrs);
    SIZE(CUlaunchAttribute);
    OFFSET(CUlaunchAttribute, value);
    OFFSET(CUlaunchAttribute, value.programmaticEvent.triggerAtBlockStart);
    OFFSET(CUlaunchAttribute, value.launchCompletionEvent.flags);
    OFFSET(CUlaunchAttribute, value.deviceUpdatableKernelNode.devNode);
    OFFSET(CUlaunchAttribute, value.clusterDim.z);
}

int main(void) {
    print_layouts();
#include "constants.inc"
    return 0;
}
