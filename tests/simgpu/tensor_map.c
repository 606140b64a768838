// SPDX-License-Identifier: Apache-2.0
/*
 * Tensor maps: a tensor in memory and how boxes of it are fetched, in the 128 bytes that Hopper's
 * driver makes of them. They come from numbers alone. No kernel here can use one.
 *
 *   word 0     address
 *   word 1     below: `head`; above: the first stride, in units of 16 bytes, as the others are
 *   words 2-3  strides 2 to 4, 32 bits each
 *   words 4-6  dimensions less 1, 32 bits each
 *   word 6     bits 56-63: elements of the box's first dimension, or channels of a pixel, less 1
 *   word 7     the box's other dimensions less 1, 8 bits each; or below: corners, above: pixels
 * less 1 word 8     bytes of a box word 9     alignment of a box in shared memory
 */
#include <string.h>

#include "sim.h"

#define RANK_MAX 5
#define DIM_MAX ((uint64_t)1 << 32)
#define STRIDE_MAX ((uint64_t)1 << 40) /* bytes */
/* What lies above has a place in the map that is not known here. */
#define STRIDE_KNOWN ((uint64_t)1 << 36)
#define BOX_MAX 256
#define PIXELS_MAX 1024
#define STEP_MAX 8

/* Word 1, below. */
enum head {
    HEAD_IM2COL = 1,
    HEAD_RANK_SHIFT = 4,
    HEAD_TYPE_SHIFT = 7,
    HEAD_INTERLEAVE_SHIFT = 11,
    HEAD_SWIZZLE_SHIFT = 13,
    HEAD_NAN = 1 << 15,
    HEAD_TF32 = 1 << 16,
    HEAD_PROMOTION_SHIFT = 17,
};

static const struct type {
    unsigned char code, bytes;
    bool real, tf32;
} types[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = {0, 1, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = {1, 2, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = {2, 4, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT32] = {3, 4, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = {4, 8, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT64] = {5, 8, false, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = {6, 2, true, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = {7, 4, true, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = {8, 4, true, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = {9, 8, true, false},
    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = {10, 2, true, false},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = {7, 4, true, true},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = {8, 4, true, true},
};

/* What both kinds of maps say. */
struct tensor {
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t address;
    const cuuint64_t *dim, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

static unsigned alignment(CUtensorMapInterleave interleave) {
    return interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
}

static bool good_kinds(const struct tensor *t) {
    if ((unsigned)t->type >= sizeof(types) / sizeof(types[0]) ||
        (unsigned)t->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)t->swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        (unsigned)t->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)t->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return false;
    if (t->fill && !types[t->type].real)
        return false;
    if (t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B && t->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return false;
    return !t->interleave || t->rank >= 3;
}

static CUresult check(const struct tensor *t, uint32_t least_rank) {
    bool known = true;

    if (t->rank < least_rank || t->rank > RANK_MAX || !t->dim || !t->strides || !t->steps ||
        !good_kinds(t) || t->address % alignment(t->interleave))
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (!t->dim[i] || t->dim[i] > DIM_MAX || !t->steps[i] || t->steps[i] > STEP_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        known = known && t->steps[i] == 1;
    }
    for (uint32_t i = 0; i + 1 < t->rank; i++) {
        if (t->strides[i] % alignment(t->interleave) || t->strides[i] >= STRIDE_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        known = known && t->strides[i] < STRIDE_KNOWN;
    }
    return known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* One row of a box is whole units of 16 bytes, and fits into the swizzle's pattern. */
static bool good_row(const struct tensor *t, uint64_t elements) {
    uint64_t bytes = elements * types[t->type].bytes;

    if (t->interleave)
        return true;
    return bytes % 16 == 0 && (!t->swizzle || bytes <= (16u << t->swizzle));
}

/* All but words 6 (above) and 7. */
static void encode(CUtensorMap *map, const struct tensor *t, unsigned head, uint64_t bytes) {
    const struct type *type = &types[t->type];
    uint32_t words[32] = {0};

    head |= (t->rank - 1) << HEAD_RANK_SHIFT | (unsigned)type->code << HEAD_TYPE_SHIFT |
            (unsigned)t->interleave << HEAD_INTERLEAVE_SHIFT |
            (unsigned)t->swizzle << HEAD_SWIZZLE_SHIFT | (t->fill ? HEAD_NAN : 0) |
            (type->tf32 ? HEAD_TF32 : 0) | (unsigned)t->promotion << HEAD_PROMOTION_SHIFT;
    words[2] = head;
    for (uint32_t i = 0; i + 1 < t->rank; i++)
        words[3 + i] = (uint32_t)(t->strides[i] / 16);
    for (uint32_t i = 0; i < t->rank; i++)
        words[8 + i] = (uint32_t)(t->dim[i] - 1);
    memcpy(map->opaque, words, sizeof(map->opaque));
    map->opaque[0] = t->address;
    map->opaque[8] = bytes;
    /* The pattern of a swizzle is eight rows high. */
    map->opaque[9] = t->swizzle ? 8 * (16u << t->swizzle) : 16;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void *globalAddress,
                                const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
    struct tensor t = {tensorDataType, tensorRank,    (uintptr_t)globalAddress,
                       globalDim,      globalStrides, elementStrides,
                       interleave,     swizzle,       l2Promotion,
                       oobFill};
    uint64_t bytes;
    SIM_ENTER(context);
    CUresult result = tensorMap && boxDim ? check(&t, 1) : CUDA_ERROR_INVALID_VALUE;

    (void)context;
    for (uint32_t i = 0; i < tensorRank && result != CUDA_ERROR_INVALID_VALUE; i++)
        if (!boxDim[i] || boxDim[i] > BOX_MAX)
            result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_ERROR_INVALID_VALUE && !good_row(&t, boxDim[0]))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    bytes = types[tensorDataType].bytes;
    for (uint32_t i = 0; i < tensorRank; i++)
        bytes *= boxDim[i];
    encode(tensorMap, &t, 0, bytes);
    tensorMap->opaque[6] |= (uint64_t)(boxDim[0] - 1) << 56;
    for (uint32_t i = 1; i < tensorRank; i++)
        tensorMap->opaque[7] |= (uint64_t)(boxDim[i] - 1) << (8 * (i - 1));
    return CUDA_SUCCESS;
}

/*
 * A corner has as many dimensions as an image, which share 16 bits. false: too far out. The lower
 * one is taken to lie below: what was seen of a GPU had both corners alike.
 */
static bool pack_corner(const int *corner, uint32_t dimensions, uint32_t *packed) {
    unsigned bits = 16 / dimensions;
    int limit = 1 << (bits - 1);

    *packed = 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        if (corner[i] < -limit || corner[i] >= limit)
            return false;
        *packed |= ((uint32_t)corner[i] & ((1u << bits) - 1)) << (i * bits);
    }
    return true;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                 cuuint32_t tensorRank, void *globalAddress,
                                 const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                 const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) {
    struct tensor t = {tensorDataType, tensorRank,    (uintptr_t)globalAddress,
                       globalDim,      globalStrides, elementStrides,
                       interleave,     swizzle,       l2Promotion,
                       oobFill};
    uint32_t lower, upper;
    SIM_ENTER(context);
    CUresult result;

    (void)context;
    if (!tensorMap || !pixelBoxLowerCorner || !pixelBoxUpperCorner)
        return CUDA_ERROR_INVALID_VALUE;
    result = check(&t, 3);
    if (result == CUDA_ERROR_INVALID_VALUE)
        return result;
    if (!pack_corner(pixelBoxLowerCorner, tensorRank - 2, &lower) ||
        !pack_corner(pixelBoxUpperCorner, tensorRank - 2, &upper) || !channelsPerPixel ||
        channelsPerPixel > BOX_MAX || !pixelsPerColumn || pixelsPerColumn > PIXELS_MAX ||
        !good_row(&t, channelsPerPixel))
        return CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    encode(tensorMap, &t, HEAD_IM2COL,
           (uint64_t)channelsPerPixel * pixelsPerColumn * types[tensorDataType].bytes);
    tensorMap->opaque[6] |= (uint64_t)(channelsPerPixel - 1) << 56;
    tensorMap->opaque[7] = (uint64_t)(pixelsPerColumn - 1) << 32 | upper << 16 | lower;
    return CUDA_SUCCESS;
}

/* A map that is not aligned as it should be is taken as well. */
CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
    void *map = tensorMap;
    uint64_t words[2];
    SIM_ENTER(context);

    (void)context;
    if (!tensorMap || !globalAddress)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(words, map, sizeof(words));
    if ((uintptr_t)globalAddress %
        alignment((CUtensorMapInterleave)(words[1] >> HEAD_INTERLEAVE_SHIFT & 3)))
        return CUDA_ERROR_INVALID_VALUE;
    words[0] = (uintptr_t)globalAddress;
    memcpy(map, words, sizeof(words));
    return CUDA_SUCCESS;
}
