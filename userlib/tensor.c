// SPDX-License-Identifier: Apache-2.0
/*
 * Tensor maps: opaque to the program, made by the driver from their description alone. They name
 * device memory by its address, which is the same here and there.
 */
#include "tensor.h"

#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* Copies as many elements as the record has of a list of `count`; notes a list that is not there.
 */
#define TAKE(w, field, list, count, flag)                                                          \
    take((w)->field, list, sizeof((w)->field[0]), count, &(w)->missing, flag)

static void take(void *to, const void *list, size_t size, uint32_t count, uint32_t *missing,
                 uint32_t flag) {
    if (!list)
        *missing |= flag;
    else
        memcpy(to, list, size * (count < VCUDA_TENSOR_RANK_MAX ? count : VCUDA_TENSOR_RANK_MAX));
}

static uint32_t fewer(uint32_t rank, uint32_t by) {
    return rank > by ? rank - by : 0;
}

static CUresult answer(CUtensorMap *map, const uint8_t *bytes, uint32_t len) {
    if (len != sizeof(*map))
        return CUDA_ERROR_UNKNOWN;
    memcpy(map, bytes, sizeof(*map));
    return CUDA_SUCCESS;
}

/*
 * Adds what every form has a list of. Seen natively: it needs a context, although it says nothing
 * of one.
 */
static CUresult encode(CUtensorMap *map, struct vcuda_tensor_map *what, const cuuint64_t *dim,
                       const cuuint64_t *strides, const cuuint32_t *steps) {
    uint8_t bytes[VCUDA_TENSOR_MAP_BYTES];
    uint32_t len = 0;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!map)
        return CUDA_ERROR_INVALID_VALUE;
    TAKE(what, dim, dim, what->rank, VCUDA_TENSOR_NO_DIM);
    TAKE(what, strides, strides, fewer(what->rank, 1), VCUDA_TENSOR_NO_STRIDES);
    TAKE(what, steps, steps, what->rank, VCUDA_TENSOR_NO_STEPS);
    r = wire_tensor_map_encode(t, what, sizeof(*what), bytes, sizeof(bytes), &len);
    return r == CUDA_SUCCESS ? answer(map, bytes, len) : r;
}

VCUDA_EXPORT CUresult cuTensorMapEncodeTiled(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const cuuint32_t *boxDim, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill) {
    struct vcuda_tensor_map w = {
        .form = VCUDA_TENSOR_TILED,
        .address = (uint64_t)globalAddress,
        .type = tensorDataType,
        .rank = tensorRank,
        .interleave = interleave,
        .swizzle = swizzle,
        .l2_promotion = l2Promotion,
        .oob_fill = oobFill,
    };

    TAKE(&w, box, boxDim, tensorRank, VCUDA_TENSOR_NO_BOX);
    return encode(tensorMap, &w, globalDim, globalStrides, elementStrides);
}

VCUDA_EXPORT CUresult cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill) {
    struct vcuda_tensor_map w = {
        .form = VCUDA_TENSOR_IM2COL,
        .address = (uint64_t)globalAddress,
        .type = tensorDataType,
        .rank = tensorRank,
        .channels = channelsPerPixel,
        .pixels = pixelsPerColumn,
        .interleave = interleave,
        .swizzle = swizzle,
        .l2_promotion = l2Promotion,
        .oob_fill = oobFill,
    };

    TAKE(&w, lower, pixelBoxLowerCorner, fewer(tensorRank, 2), VCUDA_TENSOR_NO_BOX);
    TAKE(&w, upper, pixelBoxUpperCorner, fewer(tensorRank, 2), VCUDA_TENSOR_NO_UPPER);
    return encode(tensorMap, &w, globalDim, globalStrides, elementStrides);
}

VCUDA_EXPORT CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill) {
    struct vcuda_tensor_map w = {
        .form = VCUDA_TENSOR_IM2COL_WIDE,
        .address = (uint64_t)globalAddress,
        .type = tensorDataType,
        .rank = tensorRank,
        .lower = {pixelBoxLowerCornerWidth},
        .upper = {pixelBoxUpperCornerWidth},
        .channels = channelsPerPixel,
        .pixels = pixelsPerColumn,
        .interleave = interleave,
        .swizzle = swizzle,
        .l2_promotion = l2Promotion,
        .oob_fill = oobFill,
        .mode = mode,
    };

    return encode(tensorMap, &w, globalDim, globalStrides, elementStrides);
}

VCUDA_EXPORT CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
    uint8_t bytes[VCUDA_TENSOR_MAP_BYTES];
    uint32_t len = 0;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!tensorMap)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_tensor_map_replace(t, (uint64_t)globalAddress, tensorMap, sizeof(*tensorMap), bytes,
                                sizeof(bytes), &len);
    return r == CUDA_SUCCESS ? answer(tensorMap, bytes, len) : r;
}
