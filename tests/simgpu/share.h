/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that programs pass to each other: files, at whose end stands what they are of.
 */
#ifndef SIMGPU_SHARE_H
#define SIMGPU_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_share_kind { SIM_SHARE_MEMORY = 1, SIM_SHARE_POOL };

/* What a file is of. */
struct sim_shared {
    char magic[8];
    uint32_t kind;
    int32_t device;
    uint64_t size; /* bytes before this */
    uint64_t id;   /* of a pool: its pointers have it too */
};

/* Makes a file of `size` zeroed bytes, whole pages: a descriptor, or -1. */
int sim_share_file(enum sim_share_kind kind, int device, size_t size, uint64_t id);
/* What a descriptor is of, if it is one of ours: false for any other. */
bool sim_share_look(int fd, enum sim_share_kind kind, struct sim_shared *out);
/* Another descriptor of the same file, or -1. */
int sim_share_again(int fd);

#endif
