/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Copies of rows and slices, as copy3d_async and copy3d_done carry them: the 2D copies are those of
 * one slice. All fields are 8 bytes or two of 4, without holes.
 */
#ifndef VCUDA_PROTOCOL_COPY3D_H
#define VCUDA_PROTOCOL_COPY3D_H

#include <linux/types.h>

enum vcuda_place_type {
	VCUDA_PLACE_HOST = 1, /* in the arena */
	VCUDA_PLACE_DEVICE = 2,
	VCUDA_PLACE_ARRAY = 3,
};

/* One side of a copy. */
struct vcuda_place {
	__u64 base;    /* host, device: address of what x, y, z count from; array: its name */
	__u64 context; /* of peer copies: the name of the context; else 0 */
	__u64 x;       /* where it begins: bytes, */
	__u64 y;       /* rows, */
	__u64 z;       /* slices */
	__u64 lod;
	__u64 pitch;  /* bytes from one row to the next */
	__u64 height; /* rows from one slice to the next */
	__u32 type;   /* enum vcuda_place_type */
	__u32 pad;
};

/* By which of the driver's calls: each has checks of its own. */
enum vcuda_copy_form {
	VCUDA_FORM_2D = 1, /* one slice; z and height mean nothing */
	VCUDA_FORM_3D = 2,
	VCUDA_FORM_PEER = 3,
};

struct vcuda_copy3d {
	struct vcuda_place dst;
	struct vcuda_place src;
	__u64 width; /* bytes of a row */
	__u64 rows;
	__u64 slices;
	__u32 form; /* enum vcuda_copy_form */
	__u32 pad;
};

/*
 * Whether rows and slices of linear memory are apart, as the driver wants them. What it would make
 * of others is not known.
 */
static inline int vcuda_place_apart(const struct vcuda_copy3d *c,
				    const struct vcuda_place *p)
{
	__u64 right, top;

	if (__builtin_add_overflow(p->x, c->width, &right) ||
	    __builtin_add_overflow(p->y, c->rows, &top) || p->pitch < right)
		return 0;
	if (c->form == VCUDA_FORM_2D)
		return c->slices == 1 && !p->z;
	return p->height >= top;
}

/*
 * The bytes of linear memory that a copy touches on one side, from the first to the last: 0 if
 * there are none, or if they do not fit the address space.
 */
static inline __u64 vcuda_place_span(const struct vcuda_copy3d *c,
				     const struct vcuda_place *p, __u64 *first)
{
	__u64 slice, at, last, rows, end;

	if (!c->width || !c->rows || !c->slices)
		return 0;
	if (__builtin_mul_overflow(p->pitch, p->height, &slice) ||
	    __builtin_mul_overflow(slice, p->z, &at) ||
	    __builtin_mul_overflow(p->pitch, p->y, &rows) ||
	    __builtin_add_overflow(at, rows, &at) ||
	    __builtin_add_overflow(at, p->x, &at) ||
	    __builtin_add_overflow(at, p->base, first))
		return 0;
	if (__builtin_mul_overflow(slice, c->slices - 1, &last) ||
	    __builtin_mul_overflow(p->pitch, c->rows - 1, &rows) ||
	    __builtin_add_overflow(last, rows, &last) ||
	    __builtin_add_overflow(last, c->width, &last) ||
	    __builtin_add_overflow(last, *first, &end))
		return 0;
	return last;
}

#endif
