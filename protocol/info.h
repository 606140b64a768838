/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the worker tells once and the library then answers itself: blobs of answers. */
#ifndef VCUDA_PROTOCOL_INFO_H
#define VCUDA_PROTOCOL_INFO_H

#include <linux/types.h>

#define VCUDA_ATTRIBUTES 256
#define VCUDA_ATTRIBUTE_NONE (-0x7fffffff - 1) /* the driver does not know this attribute */
#define VCUDA_DEVICES_MAX 16

/* Answer of device_info. */
struct vcuda_device_info {
	char name[256]; /* NUL-terminated */
	char pci_bus_id[32];
	__u8 uuid[16];
	__u64 total_memory; /* bytes */
	__u32 peers;        /* bit i: can access device i */
	__u32 pad;
	__s32 attributes[VCUDA_ATTRIBUTES];
};

/* Attributes of a function or kernel, by number: function_attributes, kernel_attributes. */
#define VCUDA_FUNCTION_ATTRIBUTES 32

/* Answer of module_function and kernel_function. */
struct vcuda_param {
	__u32 offset;
	__u32 size;
};

struct vcuda_function_info {
	__u32 params;
	__u32 max_dynamic_shared; /* bytes */
	__u32 max_threads;        /* of a block */
	__u32 clusters;           /* 1: it runs in clusters only */
	struct vcuda_param param[];
};

#define VCUDA_PARAMS_MAX 1024u
/* Bytes of parameters that a launch carries at most (the driver's own limit is 32764). */
#define VCUDA_PARAM_BYTES_MAX 32768u

/* A launch attribute, as records carry it: an event in it by its name, no other pointer. */
struct vcuda_launch_attribute {
	__u32 id;
	__u32 pad;
	__u8 value[64];
};

#define VCUDA_LAUNCH_ATTRIBUTES_MAX 16u

/* What occupancy_clusters is asked for. */
enum vcuda_clusters {
	VCUDA_CLUSTERS_ACTIVE = 1,
	VCUDA_CLUSTERS_SIZE = 2,
};

/* A JIT option with a scalar value, as module_load carries it. */
struct vcuda_jit_option {
	__u32 option;
	__u32 pad;
	__u64 value;
};

#define VCUDA_JIT_OPTIONS_MAX 32u
#define VCUDA_JIT_LOG_MAX 16384u

/* Answer of module_load: both logs, one after the other. */
struct vcuda_module_log {
	__u32 info_bytes;
	__u32 error_bytes;
	float wall_ms;
	__u32 status; /* the driver's CUresult: the logs come back even when it failed */
};

/* Answer of nvml_open. */
struct vcuda_nvml_info {
	__u32 host_has_nvml; /* 0: the worker knows only what the CUDA driver tells */
	__u32 pad;
	char driver_version[80]; /* NUL-terminated; empty where nobody tells */
	char nvml_version[80];
};

/* Answer of nvml_processes: the domain's own programs. */
struct vcuda_nvml_process {
	__u32 pid; /* as the guest numbers it */
	__u32 pad;
	__u64 used; /* bytes of device memory; all ones: not known */
};

#define VCUDA_NVML_PROCESSES_MAX 128u

/* Fields that nvml_fields carries at most. */
#define VCUDA_NVML_FIELDS_MAX 256u

/* What names memory that programs pass to each other by descriptors: nobody looks into it. */
#define VCUDA_SHARE_TOKEN_BYTES 24u

/* Directions of copies. Host addresses lie in the arena. */
enum vcuda_direction {
	VCUDA_COPY_HTOD = 1,
	VCUDA_COPY_DTOH = 2,
	VCUDA_COPY_DTOD = 3,
};

#endif
