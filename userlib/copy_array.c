// SPDX-License-Identifier: Apache-2.0
/* Copies between linear memory and arrays of one row: copies of one row, which has no pitch. */
#include "boxes.h"
#include "cuda_calls.h"

static struct vcuda_place in_array(CUarray array, size_t offset) {
    return (struct vcuda_place){
        .base = (uint64_t)array,
        .x = offset,
        .type = CU_MEMORYTYPE_ARRAY,
    };
}

static struct vcuda_place in_memory(CUmemorytype type, uint64_t address) {
    return (struct vcuda_place){.base = address, .type = type};
}

static CUresult copy_row(struct vcuda_place dst, struct vcuda_place src, size_t bytes,
                         CUstream stream, bool wait) {
    struct vcuda_copy3d c = {
        .dst = dst,
        .src = src,
        .width = bytes,
        .rows = 1,
        .slices = 1,
        .form = VCUDA_FORM_2D,
    };

    return copy3d_call(&c, stream, wait);
}

#define IN_HOST(p) in_memory(CU_MEMORYTYPE_HOST, (uint64_t)(p))
#define IN_DEVICE(p) in_memory(CU_MEMORYTYPE_DEVICE, p)

/* A synchronous call: its first version has offsets, addresses and lengths of 32 bits. */
#define SYNC(name, params_v1, params_v2, dst, src)                                                 \
    VCUDA_EXPORT CUresult name params_v1 {                                                         \
        return copy_row(dst, src, ByteCount, NULL, true);                                          \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_v2 params_v2 {                                                    \
        return copy_row(dst, src, ByteCount, NULL, true);                                          \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_v2_ptds params_v2 {                                               \
        return copy_row(dst, src, ByteCount, CU_STREAM_PER_THREAD, true);                          \
    }

#define ASYNC(name, params_v1, params_v2, dst, src)                                                \
    VCUDA_EXPORT CUresult name params_v1 {                                                         \
        return copy_row(dst, src, ByteCount, hStream, false);                                      \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_v2 params_v2 {                                                    \
        return copy_row(dst, src, ByteCount, hStream, false);                                      \
    }

SYNC(cuMemcpyDtoA,
     (CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
     (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
     in_array(dstArray, dstOffset), IN_DEVICE(srcDevice))
SYNC(cuMemcpyAtoD,
     (CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
     (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     IN_DEVICE(dstDevice), in_array(srcArray, srcOffset))
SYNC(cuMemcpyHtoA,
     (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount),
     (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
     in_array(dstArray, dstOffset), IN_HOST(srcHost))
SYNC(cuMemcpyAtoH,
     (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
     (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount), IN_HOST(dstHost),
     in_array(srcArray, srcOffset))
SYNC(cuMemcpyAtoA,
     (CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset,
      unsigned int ByteCount),
     (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     in_array(dstArray, dstOffset), in_array(srcArray, srcOffset))
ASYNC(cuMemcpyHtoAAsync,
      (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount,
       CUstream hStream),
      (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),
      in_array(dstArray, dstOffset), IN_HOST(srcHost))
ASYNC(cuMemcpyAtoHAsync,
      (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount,
       CUstream hStream),
      (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),
      IN_HOST(dstHost), in_array(srcArray, srcOffset))
