/* SPDX-License-Identifier: Apache-2.0 */
/* Our own libraries, opened by path: what the loader would find is not asked. */
#ifndef VCUDA_COMMAND_CUDA_H
#define VCUDA_COMMAND_CUDA_H

#include <stdbool.h>

#include "cuda_calls.h"
#include "nvml_calls.h"

/* The functions that are used of each. */
#define CUDA_USED(X)                                                                               \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetPCIBusId)                                                                         \
    X(cuDeviceTotalMem_v2)                                                                         \
    X(cuDeviceComputeCapability)                                                                   \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuMemGetInfo_v2)                                                                             \
    X(cuMemAlloc_v2)                                                                               \
    X(cuMemFree_v2)                                                                                \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemHostGetDevicePointer_v2)                                                                \
    X(cuMemFreeHost)                                                                               \
    X(cuMemsetD32_v2)                                                                              \
    X(cuMemcpyDtoH_v2)                                                                             \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleGetFunction)                                                                         \
    X(cuLaunchKernel)

#define NVML_USED(X)                                                                               \
    X(nvmlInit_v2)                                                                                 \
    X(nvmlShutdown)                                                                                \
    X(nvmlErrorString)                                                                             \
    X(nvmlSystemGetDriverVersion)                                                                  \
    X(nvmlDeviceGetHandleByIndex_v2)                                                               \
    X(nvmlDeviceGetUUID)                                                                           \
    X(nvmlDeviceGetMemoryInfo_v2)                                                                  \
    X(nvmlDeviceGetUtilizationRates)                                                               \
    X(nvmlDeviceGetTemperature)                                                                    \
    X(nvmlDeviceGetPowerUsage)

struct cuda {
#define X(name) __typeof__(&name) name;
    CUDA_USED(X)
#undef X
};

struct nvml {
#define X(name) __typeof__(&name) name;
    NVML_USED(X)
#undef X
};

/* Opens one: NULL, or why it cannot be (valid until the next call). */
const char *cuda_open(struct cuda *c);
const char *nvml_open(struct nvml *n);

/* The name of a result, for messages. */
const char *cuda_name(const struct cuda *c, CUresult r);

#endif
