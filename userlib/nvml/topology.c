// SPDX-License-Identifier: Apache-2.0
/* How devices and processors lie to each other. */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "nvml_link.h"
#include "nvml_answers.h"
#include "nvml_calls.h"

/* Two devices of a call: their indexes. */
static nvmlReturn_t both(nvmlDevice_t one, nvmlDevice_t other, int index[2]) {
    nvmlReturn_t r = ask_device(one, &index[0]);

    return r == NVML_SUCCESS ? ask_device(other, &index[1]) : r;
}

/*
 * By what CUDA says of the pair: that is what programs of this domain can do. Seen natively: a
 * device is no peer of its own, and nothing stands against a way that there is not.
 */
VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
                                                 unsigned int p2pIndex, unsigned int *p2pStatus) {
    int index[2];
    nvmlReturn_t r = both(device1, device2, index);

    if (r != NVML_SUCCESS)
        return r;
    if (!p2pStatus)
        return NVML_ERROR_INVALID_ARGUMENT;
    *p2pStatus = p2pIndex >= NVML_P2P_CAPS_INDEX_UNKNOWN ||
                         (index[0] != index[1] && device1->info.peers >> index[1] & 1)
                     ? NVML_P2P_STATUS_OK
                     : NVML_P2P_STATUS_NOT_SUPPORTED;
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, unsigned int level,
                                                           unsigned int *count,
                                                           nvmlDevice_t *deviceArray) {
    unsigned int room, found = 0, common;
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!count || (*count && !deviceArray))
        return NVML_ERROR_INVALID_ARGUMENT;
    room = *count;
    for (unsigned int i = 0; i < link_devices(); i++) {
        if ((int)i == index)
            continue;
        r = nvmlDeviceGetTopologyCommonAncestor(device, link_device(i), &common);
        if (r != NVML_SUCCESS)
            return r;
        if (common > level)
            continue;
        if (found < room)
            deviceArray[found] = link_device(i);
        found++;
    }
    *count = found;
    return NVML_SUCCESS;
}

/* All devices: none is nearer to one of the guest's processors than to another. */
VCUDA_EXPORT nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpuNumber, unsigned int *count,
                                                      nvmlDevice_t *deviceArray) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!count || cpuNumber >= (unsigned int)sysconf(_SC_NPROCESSORS_CONF) ||
        (*count && !deviceArray))
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned int i = 0; i < link_devices() && i < *count; i++)
        deviceArray[i] = link_device(i);
    *count = link_devices();
    return NVML_SUCCESS;
}

/* Sets the first `bits` of a set of `words` words. */
static void fill(unsigned long *set, unsigned int words, unsigned int bits) {
    const unsigned int width = 8 * sizeof(*set);

    memset(set, 0, words * sizeof(*set));
    for (unsigned int i = 0; i < bits && i / width < words; i++)
        set[i / width] |= 1ul << i % width;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device,
                                                              unsigned int cpuSetSize,
                                                              unsigned long *cpuSet,
                                                              unsigned int scope) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!cpuSet || !cpuSetSize || scope > 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    fill(cpuSet, cpuSetSize, (unsigned int)sysconf(_SC_NPROCESSORS_CONF));
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int cpuSetSize,
                                                   unsigned long *cpuSet) {
    return nvmlDeviceGetCpuAffinityWithinScope(device, cpuSetSize, cpuSet, 0);
}

/* The host's nodes are not the guest's, which sees one near node. */
VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize,
                                                      unsigned long *nodeSet, unsigned int scope) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!nodeSet || !nodeSetSize || scope > 1)
        return NVML_ERROR_INVALID_ARGUMENT;
    fill(nodeSet, nodeSetSize, 1);
    return NVML_SUCCESS;
}

static nvmlReturn_t use_all_processors(nvmlDevice_t device) {
    cpu_set_t all;
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    CPU_ZERO(&all);
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF) && i < CPU_SETSIZE; i++)
        CPU_SET((size_t)i, &all);
    return sched_setaffinity(0, sizeof(all), &all) ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device) {
    return use_all_processors(device);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device) {
    return use_all_processors(device);
}
