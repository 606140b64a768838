// SPDX-License-Identifier: Apache-2.0
/*
 * Programs on a GPU, as NVML tells them.
 *
 *   programs hold   has a context until its standard input ends; prints its number
 *   programs list   prints the numbers of those that NVML tells, after each line that it reads
 *   programs take   takes 3 MiB of device memory; prints what NVML tells of it, in MiB
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "nvml_calls.h"

static int hold(void) {
    CUcontext context;

    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS)
        return 1;
    printf("%d\n", getpid());
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}

static void list(nvmlDevice_t device) {
    nvmlProcessInfo_v1_t old[16];
    nvmlProcessInfo_t infos[16];
    unsigned int count = 0, old_count = 16;
    nvmlReturn_t few = nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL);
    unsigned int there = count;
    nvmlReturn_t r;

    count = 16;
    r = nvmlDeviceGetComputeRunningProcesses_v3(device, &count, infos);
    printf("%d, asked how many %d", r,
           few == (there ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS));
    r = nvmlDeviceGetComputeRunningProcesses(device, &old_count, old);
    printf(", agree %d:", r == NVML_SUCCESS && old_count == count && there == count);
    for (unsigned int i = 0; i < count; i++)
        printf(" %u", infos[i].pid);
    puts("");
    fflush(stdout);
}

static int take(nvmlDevice_t device) {
    nvmlMemory_v2_t m = {.version = NVML_VERSION_WORD(nvmlMemory_v2_t, 2)};
    CUcontext context;
    CUdeviceptr memory;

    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, 3 << 20) != CUDA_SUCCESS ||
        nvmlDeviceGetMemoryInfo_v2(device, &m) != NVML_SUCCESS)
        return 1;
    printf("total %llu free %llu used %llu\n", m.total >> 20, m.free >> 20, m.used >> 20);
    return 0;
}

int main(int argc, char **argv) {
    nvmlDevice_t device;
    char line[16];

    if (argc == 2 && !strcmp(argv[1], "hold"))
        return hold();
    if (nvmlInit_v2() != NVML_SUCCESS || nvmlDeviceGetHandleByIndex_v2(0, &device) != NVML_SUCCESS)
        return 1;
    if (argc == 2 && !strcmp(argv[1], "take"))
        return take(device);
    while (fgets(line, sizeof(line), stdin))
        list(device);
    return 0;
}
