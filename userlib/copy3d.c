// SPDX-License-Identifier: Apache-2.0
/* The calls for copies of rows and slices, taken from the program's structures. */
#include "boxes.h"
#include "cuda_calls.h"

/* The address, or handle, that a place of this type means. */
static uint64_t base_of(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array) {
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        return (uint64_t)host;
    case CU_MEMORYTYPE_ARRAY:
        return (uint64_t)array;
    default:
        return device;
    }
}

#define BASE(c, side)                                                                              \
    base_of((c)->side##MemoryType, (c)->side##Host, (c)->side##Device, (c)->side##Array)

#define PLACE_2D(c, side)                                                                          \
    {                                                                                              \
        .base = BASE(c, side), .x = (c)->side##XInBytes, .y = (c)->side##Y,                        \
        .pitch = (c)->side##Pitch, .type = (c)->side##MemoryType                                   \
    }

#define PLACE_3D(c, side)                                                                          \
    {                                                                                              \
        .base = BASE(c, side), .x = (c)->side##XInBytes, .y = (c)->side##Y, .z = (c)->side##Z,     \
        .lod = (c)->side##LOD, .pitch = (c)->side##Pitch, .height = (c)->side##Height,             \
        .type = (c)->side##MemoryType                                                              \
    }

#define PLACE_PEER(c, side)                                                                        \
    {                                                                                              \
        .base = BASE(c, side), .context = (uint64_t)(c)->side##Context, .x = (c)->side##XInBytes,  \
        .y = (c)->side##Y, .z = (c)->side##Z, .lod = (c)->side##LOD, .pitch = (c)->side##Pitch,    \
        .height = (c)->side##Height, .type = (c)->side##MemoryType                                 \
    }

/* The structures of all versions have the same fields. */
#define COPY_2D(c)                                                                                 \
    (struct vcuda_copy3d) {                                                                        \
        .dst = PLACE_2D(c, dst), .src = PLACE_2D(c, src), .width = (c)->WidthInBytes,              \
        .rows = (c)->Height, .slices = 1, .form = VCUDA_FORM_2D                                    \
    }

#define COPY_3D(c)                                                                                 \
    (struct vcuda_copy3d) {                                                                        \
        .dst = PLACE_3D(c, dst), .src = PLACE_3D(c, src), .width = (c)->WidthInBytes,              \
        .rows = (c)->Height, .slices = (c)->Depth, .form = VCUDA_FORM_3D                           \
    }

#define COPY_PEER(c)                                                                               \
    (struct vcuda_copy3d) {                                                                        \
        .dst = PLACE_PEER(c, dst), .src = PLACE_PEER(c, src), .width = (c)->WidthInBytes,          \
        .rows = (c)->Height, .slices = (c)->Depth, .form = VCUDA_FORM_PEER                         \
    }

static CUresult no_copy(void) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    return r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r;
}

#define CALL(make, stream, wait) (pCopy ? copy3d_call(&make(pCopy), stream, wait) : no_copy())

#define SYNC(name, make, type)                                                                     \
    VCUDA_EXPORT CUresult name(const type *pCopy) {                                                \
        return CALL(make, NULL, true);                                                             \
    }

#define SYNC_AND_PTDS(name, make, type)                                                            \
    SYNC(name, make, type)                                                                         \
    VCUDA_EXPORT CUresult name##_ptds(const type *pCopy) {                                         \
        return CALL(make, CU_STREAM_PER_THREAD, true);                                             \
    }

#define ASYNC(name, make, type)                                                                    \
    VCUDA_EXPORT CUresult name(const type *pCopy, CUstream hStream) {                              \
        return CALL(make, hStream, false);                                                         \
    }

SYNC_AND_PTDS(cuMemcpy2D_v2, COPY_2D, CUDA_MEMCPY2D)
SYNC_AND_PTDS(cuMemcpy2DUnaligned_v2, COPY_2D, CUDA_MEMCPY2D)
SYNC_AND_PTDS(cuMemcpy3D_v2, COPY_3D, CUDA_MEMCPY3D)
ASYNC(cuMemcpy2DAsync_v2, COPY_2D, CUDA_MEMCPY2D)
ASYNC(cuMemcpy3DAsync_v2, COPY_3D, CUDA_MEMCPY3D)
ASYNC(cuMemcpy3DPeerAsync, COPY_PEER, CUDA_MEMCPY3D_PEER)

VCUDA_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    return pCopy ? copy3d_call_peer(&COPY_PEER(pCopy), NULL) : no_copy();
}

VCUDA_EXPORT CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *pCopy) {
    return pCopy ? copy3d_call_peer(&COPY_PEER(pCopy), CU_STREAM_PER_THREAD) : no_copy();
}

/* The first versions: lengths and device addresses of 32 bits. */
SYNC(cuMemcpy2D, COPY_2D, CUDA_MEMCPY2D_v1)
SYNC(cuMemcpy2DUnaligned, COPY_2D, CUDA_MEMCPY2D_v1)
SYNC(cuMemcpy3D, COPY_3D, CUDA_MEMCPY3D_v1)
ASYNC(cuMemcpy2DAsync, COPY_2D, CUDA_MEMCPY2D_v1)
ASYNC(cuMemcpy3DAsync, COPY_3D, CUDA_MEMCPY3D_v1)
