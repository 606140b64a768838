// SPDX-License-Identifier: Apache-2.0
/* Texture references: the calls whose arguments are not simply sent, and the first versions. */
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* What a call on a reference starts with. */
static CUresult enter_texref(struct thread **t, CUtexref ref, const void *needed) {
    CUresult r = guest_enter(t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_TEXREF, ref);
    return r == CUDA_SUCCESS && !needed ? CUDA_ERROR_INVALID_VALUE : r;
}

VCUDA_EXPORT CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor) {
    const float *c = pBorderColor;
    struct thread *t;
    CUresult r = enter_texref(&t, hTexRef, c);

    return r == CUDA_SUCCESS
               ? wire_cuTexRefSetBorderColor(t, (uint64_t)hTexRef, c[0], c[1], c[2], c[3])
               : r;
}

VCUDA_EXPORT CUresult cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef) {
    float c[4];
    struct thread *t;
    CUresult r = enter_texref(&t, hTexRef, pBorderColor);

    if (r == CUDA_SUCCESS)
        r = wire_cuTexRefGetBorderColor(t, &c[0], &c[1], &c[2], &c[3], (uint64_t)hTexRef);
    if (r == CUDA_SUCCESS)
        memcpy(pBorderColor, c, sizeof(c));
    return r;
}

VCUDA_EXPORT CUresult cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                                              CUdeviceptr dptr, size_t Pitch) {
    return cuTexRefSetAddress2D_v3(hTexRef, desc, dptr, Pitch);
}

VCUDA_EXPORT CUresult cuTexRefSetAddress(unsigned int *ByteOffset, CUtexref hTexRef,
                                         CUdeviceptr_v1 dptr, unsigned int bytes) {
    size_t offset;
    CUresult r = cuTexRefSetAddress_v2(ByteOffset ? &offset : NULL, hTexRef, dptr, bytes);

    if (r == CUDA_SUCCESS && ByteOffset)
        *ByteOffset = (unsigned int)offset;
    return r;
}

VCUDA_EXPORT CUresult cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc,
                                           CUdeviceptr_v1 dptr, unsigned int Pitch) {
    CUDA_ARRAY_DESCRIPTOR d;
    struct thread *t;
    CUresult r = enter_texref(&t, hTexRef, desc);

    if (r != CUDA_SUCCESS)
        return r;
    d = (CUDA_ARRAY_DESCRIPTOR){
        .Width = desc->Width,
        .Height = desc->Height,
        .Format = desc->Format,
        .NumChannels = desc->NumChannels,
    };
    return cuTexRefSetAddress2D_v3(hTexRef, &d, dptr, Pitch);
}

VCUDA_EXPORT CUresult cuTexRefGetAddress(CUdeviceptr_v1 *pdptr, CUtexref hTexRef) {
    CUdeviceptr address;
    CUresult r = cuTexRefGetAddress_v2(pdptr ? &address : NULL, hTexRef);

    if (r == CUDA_SUCCESS)
        *pdptr = (CUdeviceptr_v1)address;
    return r;
}
