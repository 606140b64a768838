/* SPDX-License-Identifier: Apache-2.0 */
/* How large the elements of arrays and textures are. */
#ifndef VCUDA_WORKER_TEXEL_H
#define VCUDA_WORKER_TEXEL_H

#include <stdint.h>

#include "cuda_types.h"

/* Bytes of a texel at most. */
static inline uint64_t texel_bytes(CUarray_format format, unsigned int channels) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2ull * channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4ull * channels;
    default: /* packed, planes or blocks: none takes more */
        return 8;
    }
}

#endif
