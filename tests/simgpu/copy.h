/* SPDX-License-Identifier: Apache-2.0 */
/* What copies and fills of all shapes need to know of an address. */
#ifndef SIMGPU_COPY_H
#define SIMGPU_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

enum sim_place {
    SIM_DEVICE,
    SIM_PINNED,
    SIM_MANAGED,
    SIM_PAGEABLE,
    SIM_BAD, /* a known address, but not all of the range */
};

enum sim_place sim_place_of(uint64_t addr, size_t bytes);

/* Pinned memory is both, and so is managed: the device reaches it. */
static inline bool sim_is_device(enum sim_place place) {
    return place == SIM_DEVICE || place == SIM_PINNED || place == SIM_MANAGED;
}

static inline bool sim_is_host(enum sim_place place) {
    return place == SIM_PAGEABLE || place == SIM_PINNED || place == SIM_MANAGED;
}

/*
 * Whether the caller waits for a copy that was left to the stream: where pageable memory is in it,
 * and where neither side is the device's.
 */
static inline bool sim_copy_waits(enum sim_place to, enum sim_place from) {
    return to == SIM_PAGEABLE || from == SIM_PAGEABLE || (to == SIM_PINNED && from == SIM_PINNED);
}

struct sim_context;

/*
 * A copy between two contexts that takes no stream is made in the default stream of the current
 * one: after what those two's were given, and (behind) before what they are given next.
 */
CUresult sim_peer_order(const struct sim_context *from, const struct sim_context *to,
                        bool per_thread, bool behind);

#endif
