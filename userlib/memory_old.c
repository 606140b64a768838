// SPDX-License-Identifier: Apache-2.0
/*
 * Calls as they were when device addresses had 32 bits. An address that does not fit cannot be
 * given: the memory goes back.
 */
#include <stdint.h>

#include "cuda_calls.h"
#include "guest.h"

static unsigned int fit(size_t bytes) {
    return bytes > UINT32_MAX ? UINT32_MAX : (unsigned int)bytes;
}

static CUresult give(CUdeviceptr_v1 *out, CUdeviceptr address) {
    if (address > UINT32_MAX) {
        cuMemFree_v2(address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemGetInfo(unsigned int *free, unsigned int *total) {
    size_t free_bytes, total_bytes;
    CUresult r = cuMemGetInfo_v2(&free_bytes, &total_bytes);

    if (r == CUDA_SUCCESS && free)
        *free = fit(free_bytes);
    if (r == CUDA_SUCCESS && total)
        *total = fit(total_bytes);
    return r;
}

VCUDA_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *dptr, unsigned int bytesize) {
    CUdeviceptr address;
    CUresult r = cuMemAlloc_v2(dptr ? &address : NULL, bytesize);

    return r == CUDA_SUCCESS ? give(dptr, address) : r;
}

VCUDA_EXPORT CUresult cuMemAllocPitch(CUdeviceptr_v1 *dptr, unsigned int *pPitch,
                                      unsigned int WidthInBytes, unsigned int Height,
                                      unsigned int ElementSizeBytes) {
    CUdeviceptr address;
    size_t pitch;
    CUresult r = cuMemAllocPitch_v2(dptr ? &address : NULL, pPitch ? &pitch : NULL, WidthInBytes,
                                    Height, ElementSizeBytes);

    if (r == CUDA_SUCCESS)
        r = give(dptr, address);
    if (r == CUDA_SUCCESS)
        *pPitch = (unsigned int)pitch;
    return r;
}

VCUDA_EXPORT CUresult cuMemFree(CUdeviceptr_v1 dptr) {
    return cuMemFree_v2(dptr);
}

VCUDA_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr_v1 *pbase, unsigned int *psize,
                                           CUdeviceptr_v1 dptr) {
    CUdeviceptr base;
    size_t size;
    CUresult r = cuMemGetAddressRange_v2(&base, &size, dptr);

    if (r == CUDA_SUCCESS && pbase)
        *pbase = (CUdeviceptr_v1)base;
    if (r == CUDA_SUCCESS && psize)
        *psize = fit(size);
    return r;
}

VCUDA_EXPORT CUresult cuMemAllocHost(void **pp, unsigned int bytesize) {
    return cuMemAllocHost_v2(pp, bytesize);
}

VCUDA_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *pdptr, void *p,
                                                unsigned int Flags) {
    CUdeviceptr address;
    CUresult r = cuMemHostGetDevicePointer_v2(pdptr ? &address : NULL, p, Flags);

    if (r != CUDA_SUCCESS)
        return r;
    if (address > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}
