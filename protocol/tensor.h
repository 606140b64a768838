/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What a tensor map is made of, as tensor_map_encode carries it. */
#ifndef VCUDA_PROTOCOL_TENSOR_H
#define VCUDA_PROTOCOL_TENSOR_H

#include <linux/types.h>

#define VCUDA_TENSOR_RANK_MAX 5u
#define VCUDA_TENSOR_MAP_BYTES 128u

/* By which of the driver's calls. */
enum vcuda_tensor_form {
	VCUDA_TENSOR_TILED = 1,
	VCUDA_TENSOR_IM2COL = 2,
	VCUDA_TENSOR_IM2COL_WIDE = 3,
};

/* Lists that the program left out (NULL): the driver judges that. */
#define VCUDA_TENSOR_NO_DIM 1u
#define VCUDA_TENSOR_NO_STRIDES 2u
#define VCUDA_TENSOR_NO_BOX 4u /* tiled: box; im2col: lower corner */
#define VCUDA_TENSOR_NO_UPPER 8u
#define VCUDA_TENSOR_NO_STEPS 16u

struct vcuda_tensor_map {
	__u32 form;    /* enum vcuda_tensor_form */
	__u32 missing; /* VCUDA_TENSOR_NO_* */
	__u64 address; /* of the tensor in device memory */
	__u64 dim[VCUDA_TENSOR_RANK_MAX];
	__u64 strides[VCUDA_TENSOR_RANK_MAX]; /* one fewer than dimensions */
	__u32 box[VCUDA_TENSOR_RANK_MAX];     /* tiled */
	__s32 lower[VCUDA_TENSOR_RANK_MAX];   /* im2col: two fewer than dimensions; wide: one */
	__s32 upper[VCUDA_TENSOR_RANK_MAX];
	__u32 steps[VCUDA_TENSOR_RANK_MAX]; /* element strides */
	__u32 type, rank;
	__u32 channels, pixels; /* im2col: channels a pixel, pixels a column */
	__u32 interleave, swizzle, l2_promotion, oob_fill;
	__u32 mode; /* im2col wide */
	__u32 pad;
};

#endif
