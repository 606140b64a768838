/* SPDX-License-Identifier: Apache-2.0 */
/* What copies and fills of all shapes need to know of an address. */
#ifndef SIMGPU_COPY_H
#define SIMGPU_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_place {
    SIM_DEVICE,
    SIM_PINNED,
    SIM_PAGEABLE,
    SIM_BAD, /* a known address, but not all of the range */
};

enum sim_place sim_place_of(uint64_t addr, size_t bytes);

/* Pinned memory is both: the device reaches it. */
static inline bool sim_is_device(enum sim_place place) {
    return place == SIM_DEVICE || place == SIM_PINNED;
}

static inline bool sim_is_host(enum sim_place place) {
    return place == SIM_PAGEABLE || place == SIM_PINNED;
}

#endif
