// SPDX-License-Identifier: Apache-2.0
/* needs: gpu: what is in such a map the simulated one does not know */
/* A tensor map of the wide kind. */
#include "common.h"

static CUtensorMap map;

int main(void) {
    cuuint64_t dim[4] = {64, 32, 32, 4}, strides[3] = {128, 4096, 131072};
    cuuint32_t steps[4] = {1, 1, 1, 1};
    CUdeviceptr d;

    start();
    CK(cuMemAlloc(&d, 1 << 20));
    SAY("im2col wide", cuTensorMapEncodeIm2colWide(
                           &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)d, dim, strides, -1,
                           -1, 64, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_128B,
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return 0;
}
