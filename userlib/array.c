// SPDX-License-Identifier: Apache-2.0
/* The first versions of the calls for arrays: sides of 32 bits. */
#include "cuda_calls.h"
#include "guest.h"

/* CUDA_SUCCESS if a call may start; a NULL structure is told as the driver tells it. */
static CUresult enter_with(const void *structure) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    return r == CUDA_SUCCESS && !structure ? CUDA_ERROR_INVALID_VALUE : r;
}

VCUDA_EXPORT CUresult cuArrayCreate(CUarray *pHandle,
                                    const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray) {
    CUDA_ARRAY_DESCRIPTOR d;
    CUresult r = enter_with(pAllocateArray);

    if (r != CUDA_SUCCESS)
        return r;
    d = (CUDA_ARRAY_DESCRIPTOR){
        .Width = pAllocateArray->Width,
        .Height = pAllocateArray->Height,
        .Format = pAllocateArray->Format,
        .NumChannels = pAllocateArray->NumChannels,
    };
    return cuArrayCreate_v2(pHandle, &d);
}

VCUDA_EXPORT CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor,
                                           CUarray hArray) {
    CUDA_ARRAY_DESCRIPTOR d;
    CUresult r = enter_with(pArrayDescriptor);

    if (r == CUDA_SUCCESS)
        r = cuArrayGetDescriptor_v2(&d, hArray);
    if (r == CUDA_SUCCESS)
        *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR_v1){
            .Width = (unsigned int)d.Width,
            .Height = (unsigned int)d.Height,
            .Format = d.Format,
            .NumChannels = d.NumChannels,
        };
    return r;
}

VCUDA_EXPORT CUresult cuArray3DCreate(CUarray *pHandle,
                                      const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = enter_with(pAllocateArray);

    if (r != CUDA_SUCCESS)
        return r;
    d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = pAllocateArray->Width,
        .Height = pAllocateArray->Height,
        .Depth = pAllocateArray->Depth,
        .Format = pAllocateArray->Format,
        .NumChannels = pAllocateArray->NumChannels,
        .Flags = pAllocateArray->Flags,
    };
    return cuArray3DCreate_v2(pHandle, &d);
}

VCUDA_EXPORT CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor,
                                             CUarray hArray) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = enter_with(pArrayDescriptor);

    if (r == CUDA_SUCCESS)
        r = cuArray3DGetDescriptor_v2(&d, hArray);
    if (r == CUDA_SUCCESS)
        *pArrayDescriptor = (CUDA_ARRAY3D_DESCRIPTOR_v1){
            .Width = (unsigned int)d.Width,
            .Height = (unsigned int)d.Height,
            .Depth = (unsigned int)d.Depth,
            .Format = d.Format,
            .NumChannels = d.NumChannels,
            .Flags = d.Flags,
        };
    return r;
}
