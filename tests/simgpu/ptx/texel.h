/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of textures and surfaces, as the CUDA C++ Programming Guide says they are fetched. */
#ifndef PTX_TEXEL_H
#define PTX_TEXEL_H

#include "../ptx.h"

/* Where: numbers of elements, or places between them. */
struct place {
    float at[3];
    int32_t whole[3];
    bool is_whole; /* `whole` holds */
    uint32_t layer;
};

/*
 * The four channels of a texture there: bits of floats, or integers. A channel that there is not is
 * 0, the fourth 1.
 */
void texel_read(const struct ptx_image *im, const struct place *p, bool as_floats, uint32_t out[4]);

/* The same at a level of a mipmapped array, or between two; of others there is one level. */
void texel_read_level(const struct ptx_image *im, const struct place *p, float level,
                      bool as_floats, uint32_t out[4]);

/*
 * The bytes of a surface's element at byte x of a row, `bytes` of them: NULL if it does not lie
 * inside. With `clamp` the nearest that does.
 */
char *texel_bytes(const struct ptx_image *im, const struct place *p, size_t bytes, bool clamp);

#endif
