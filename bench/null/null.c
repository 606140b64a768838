// SPDX-License-Identifier: Apache-2.0
/*
 * A driver whose commonest calls do nothing, for figures of the transport alone: what is left of a
 * call's time is what it takes to bring it here and its answer back. All other calls are those of
 * the simulated GPU, which is this library's only dependency and is asked where a name is missing.
 */
#include "cuda_calls.h"

#define NOTHING __attribute__((visibility("default"))) CUresult

NOTHING cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
    (void)limit;
    *pvalue = 0;
    return CUDA_SUCCESS;
}

NOTHING cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                         void **extra) {
    (void)config, (void)f, (void)kernelParams, (void)extra;
    return CUDA_SUCCESS;
}

NOTHING cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    (void)dstDevice, (void)uc, (void)N, (void)hStream;
    return CUDA_SUCCESS;
}

/* A GPU moves the bytes itself: no processor does. */
NOTHING cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                             CUstream hStream) {
    (void)dstDevice, (void)srcHost, (void)ByteCount, (void)hStream;
    return CUDA_SUCCESS;
}

NOTHING cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                             CUstream hStream) {
    (void)dstHost, (void)srcDevice, (void)ByteCount, (void)hStream;
    return CUDA_SUCCESS;
}

NOTHING cuEventRecord(CUevent hEvent, CUstream hStream) {
    (void)hEvent, (void)hStream;
    return CUDA_SUCCESS;
}

NOTHING cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    (void)hEvent, (void)hStream, (void)flags;
    return CUDA_SUCCESS;
}

NOTHING cuEventQuery(CUevent hEvent) {
    (void)hEvent;
    return CUDA_SUCCESS;
}

/* What is said to have come before it has. */
NOTHING cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                unsigned int flags) {
    (void)stream, (void)flags;
    *(volatile cuuint32_t *)addr = value;
    return CUDA_SUCCESS;
}

NOTHING cuStreamQuery(CUstream hStream) {
    (void)hStream;
    return CUDA_SUCCESS;
}
