// SPDX-License-Identifier: Apache-2.0
/* Tensor maps: the driver makes them from numbers alone. It reads no memory for them. */
#include "tensor.h"
#include "worker.h"

/* A list as the guest gave it, or none. */
#define LIST(w, flag, list) ((w)->missing & (flag) ? NULL : (w)->list)

static CUresult encode(struct worker *w, CUtensorMap *map, const struct vcuda_tensor_map *t) {
    void *address = (void *)t->address;
    const cuuint64_t *dim = (const cuuint64_t *)LIST(t, VCUDA_TENSOR_NO_DIM, dim);
    const cuuint64_t *strides = (const cuuint64_t *)LIST(t, VCUDA_TENSOR_NO_STRIDES, strides);
    const cuuint32_t *steps = LIST(t, VCUDA_TENSOR_NO_STEPS, steps);
    CUtensorMapDataType type = (CUtensorMapDataType)t->type;
    CUtensorMapInterleave interleave = (CUtensorMapInterleave)t->interleave;
    CUtensorMapSwizzle swizzle = (CUtensorMapSwizzle)t->swizzle;
    CUtensorMapL2promotion l2 = (CUtensorMapL2promotion)t->l2_promotion;
    CUtensorMapFloatOOBfill fill = (CUtensorMapFloatOOBfill)t->oob_fill;

    switch (t->form) {
    case VCUDA_TENSOR_TILED:
        return w->driver.cuTensorMapEncodeTiled(map, type, t->rank, address, dim, strides,
                                                LIST(t, VCUDA_TENSOR_NO_BOX, box), steps,
                                                interleave, swizzle, l2, fill);
    case VCUDA_TENSOR_IM2COL:
        /* Without them the driver falls. */
        if (t->missing & (VCUDA_TENSOR_NO_BOX | VCUDA_TENSOR_NO_UPPER))
            return CUDA_ERROR_INVALID_VALUE;
        return w->driver.cuTensorMapEncodeIm2col(map, type, t->rank, address, dim, strides,
                                                 LIST(t, VCUDA_TENSOR_NO_BOX, lower),
                                                 LIST(t, VCUDA_TENSOR_NO_UPPER, upper), t->channels,
                                                 t->pixels, steps, interleave, swizzle, l2, fill);
    case VCUDA_TENSOR_IM2COL_WIDE:
        return w->driver.cuTensorMapEncodeIm2colWide(
            map, type, t->rank, address, dim, strides, t->lower[0], t->upper[0], t->channels,
            t->pixels, steps, interleave, (CUtensorMapIm2ColWideMode)t->mode, swizzle, l2, fill);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult own_tensor_map_encode(struct worker *w, struct frame *f,
                               struct args_tensor_map_encode *a) {
    const struct vcuda_tensor_map *what = a->what;
    CUtensorMap map = {{0}};
    CUresult r;

    (void)f;
    /* The lists have room for so many dimensions; no driver takes more. */
    if (a->what_len != sizeof(*what) || a->map_cap < sizeof(map) ||
        what->rank > VCUDA_TENSOR_RANK_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    r = encode(w, &map, what);
    memcpy(a->map, &map, sizeof(map));
    a->map_len = sizeof(map);
    return r;
}

CUresult own_tensor_map_replace(struct worker *w, struct frame *f,
                                struct args_tensor_map_replace *a) {
    CUtensorMap map;
    CUresult r;

    (void)f;
    if (a->old_len != sizeof(map) || a->map_cap < sizeof(map))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, a->old, sizeof(map));
    r = w->driver.cuTensorMapReplaceAddress(&map, (void *)a->address);
    memcpy(a->map, &map, sizeof(map));
    a->map_len = sizeof(map);
    return r;
}
