// SPDX-License-Identifier: Apache-2.0
/* Start and end, versions, processes of the guest, and what a guest has none of. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "nvml_link.h"
#include "nvml_calls.h"

VCUDA_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    if (flags & ~(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH))
        return NVML_ERROR_INVALID_ARGUMENT;
    return link_init();
}

VCUDA_EXPORT nvmlReturn_t nvmlInit_v2(void) {
    return link_init();
}

VCUDA_EXPORT nvmlReturn_t nvmlInit(void) {
    return link_init();
}

VCUDA_EXPORT nvmlReturn_t nvmlShutdown(void) {
    return link_shutdown();
}

/* A text that the host told when the session began, or that nobody told. */
static nvmlReturn_t told(char *out, unsigned int length, const char *text, size_t size) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    return *text ? ask_text(out, length, text, size) : NVML_ERROR_NOT_SUPPORTED;
}

VCUDA_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    const struct vcuda_nvml_info *info = link_info();

    return told(version, length, info->driver_version, sizeof(info->driver_version));
}

VCUDA_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    const struct vcuda_nvml_info *info = link_info();

    return told(version, length, info->nvml_version, sizeof(info->nvml_version));
}

VCUDA_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion) {
    if (!cudaDriverVersion)
        return NVML_ERROR_INVALID_ARGUMENT;
    /* Asked before nvmlInit too, and then of this library. */
    *cudaDriverVersion = link_cuda_version() ? link_cuda_version() : CUDA_VERSION;
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion) {
    return nvmlSystemGetCudaDriverVersion(cudaDriverVersion);
}

/* The process is this kernel's: its numbers are the guest's in all that is told of programs. */
VCUDA_EXPORT nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name,
                                                   unsigned int length) {
    char path[64], text[1024] = "";
    ssize_t n;
    int fd;

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!name || !length)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? NVML_ERROR_NOT_FOUND : NVML_ERROR_NO_PERMISSION;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n < 0)
        return NVML_ERROR_UNKNOWN;
    snprintf(name, length, "%s", text);
    return NVML_SUCCESS;
}

/* Counts of what a guest does not have. */
static nvmlReturn_t none(unsigned int *count) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *hwbcCount,
                                                  nvmlHwbcEntry_t *hwbcEntries) {
    (void)hwbcEntries;
    return none(hwbcCount);
}

VCUDA_EXPORT nvmlReturn_t nvmlUnitGetCount(unsigned int *unitCount) {
    return none(unitCount);
}

VCUDA_EXPORT nvmlReturn_t nvmlUnitGetHandleByIndex(unsigned int index, nvmlUnit_t *unit) {
    (void)index;
    (void)unit;
    return link_ready() ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED;
}

VCUDA_EXPORT nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *deviceCount) {
    return none(deviceCount);
}

VCUDA_EXPORT nvmlReturn_t nvmlGetBlacklistDeviceCount(unsigned int *deviceCount) {
    return none(deviceCount);
}
