// SPDX-License-Identifier: Apache-2.0
/*
 * Programs on a GPU, as NVML tells them.
 *
 *   programs hold   has a context until its standard input ends; prints its number
 *   programs list   prints the numbers of those that NVML tells, after each line that it reads
 *   programs take   takes 3 MiB of device memory; prints what NVML tells of it, in MiB
 *   programs table  what nvidia-smi does: the private table, its device and its programs
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

struct named {
    unsigned int pid;
    unsigned long long used;
    unsigned int instances[2];
    unsigned long long protected_used;
    char name[4096];
};

static int table(nvmlDevice_t device) {
    static const unsigned char id[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                         0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
    static const unsigned char other[16] = {1};
    static struct named named[16];
    nvmlReturn_t (*const *call)(unsigned long, void *, void *);
    nvmlDevice_t found = NULL;
    unsigned int count = 16, none = 16;
    const void *t = NULL;
    nvmlReturn_t r;

    printf("other %d, ", nvmlInternalGetExportTable(&t, other));
    r = nvmlInternalGetExportTable(&t, id);
    printf("table %d of %lu", r, t ? *(const unsigned long *)t : 0);
    if (r != NVML_SUCCESS)
        return 1;
    call = t;
    r = call[81](0, &found, (void *)0x22);
    printf(", device %d the same %d", r, found == device);
    printf(", none %d", call[81](99, &found, NULL));
    r = call[214]((unsigned long)device, &none, named);
    printf(", draw %d %u", r, none);
    r = call[213]((unsigned long)device, &count, named);
    printf(", compute %d:", r);
    for (unsigned int i = 0; i < count; i++)
        printf(" %s", strrchr(named[i].name, '/') ? strrchr(named[i].name, '/') + 1 : "?");
    printf(", unknown %d\n", call[200]((unsigned long)device, NULL, NULL));
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
    if (argc == 2 && !strcmp(argv[1], "table"))
        return table(device);
    while (fgets(line, sizeof(line), stdin))
        list(device);
    return 0;
}
