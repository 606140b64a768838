/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What textures and surfaces read, and what lies under a sparse array, as records carry them. */
#ifndef VCUDA_PROTOCOL_TEXTURE_H
#define VCUDA_PROTOCOL_TEXTURE_H

#include <linux/types.h>

/* CUDA_RESOURCE_DESC. Fields that its type does not have are 0. */
struct vcuda_resource {
	__u32 type;     /* CUresourcetype */
	__u32 flags;
	__u64 place;    /* the array's or mipmapped array's name, or an address of the device's */
	__u32 format;   /* linear memory: CUarray_format */
	__u32 channels;
	__u64 width;    /* 2D: elements; else bytes */
	__u64 height;   /* 2D: rows */
	__u64 pitch;    /* 2D: bytes */
};

/* CUarrayMapInfo */
struct vcuda_array_map {
	__u32 resource_type; /* CUresourcetype: an array or a mipmapped one */
	__u32 subresource_type;
	__u64 resource;      /* its name */
	__u32 level;         /* of a sparse level */
	__u32 layer;
	__u32 offset[3];
	__u32 extent[3];
	__u64 tail_offset;   /* of a mip tail: bytes */
	__u64 tail_bytes;
	__u32 operation;     /* CUmemOperationType */
	__u32 handle_type;   /* CUmemHandleType */
	__u64 memory;        /* the name of the memory; 0 to unmap */
	__u64 memory_offset; /* bytes */
	__u32 device_mask;
	__u32 flags;
};

#define VCUDA_ARRAY_MAPS_MAX 256u

#endif
