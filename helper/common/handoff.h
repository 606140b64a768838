/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of one owner pass to each other: memory, by handles of 64 bytes. The driver's
 * own handle is good for any process of the host, so a program never sees it. It is given a random
 * name, and the handle lies under that name in the memory that the owner's workers share: another
 * owner's workers do not have it there.
 */
#ifndef VCUDA_HELPER_HANDOFF_H
#define VCUDA_HELPER_HANDOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "share.h"

#define VCUDA_HANDOFF_BYTES 64u
#define VCUDA_HANDOFFS 1024u

/* What a name stands for. */
struct vcuda_handed {
    uint8_t handle[VCUDA_HANDOFF_BYTES]; /* the driver's */
    struct vcuda_share_token token;      /* memory's, by which it is counted (share.h); else 0 */
};

struct vcuda_handoff {
    uint32_t place; /* 1 + the worker's that has it; 0: free */
    uint32_t ready; /* 0: not to be read; changes each time it is filled in */
    uint64_t key;   /* what it is of: an address */
    uint8_t name[VCUDA_HANDOFF_BYTES];
    struct vcuda_handed what;
};

struct vcuda_handoffs {
    uint32_t fills; /* how often one was filled in */
    uint32_t pad;
    struct vcuda_handoff entry[VCUDA_HANDOFFS];
};

/*
 * Of a place, one thread of its worker at a time calls the next three.
 *
 * The name that a handle has; false: it has none yet.
 */
bool vcuda_handoff_again(const struct vcuda_handoffs *h, uint32_t place, uint64_t key,
                         const uint8_t handle[VCUDA_HANDOFF_BYTES],
                         uint8_t name[VCUDA_HANDOFF_BYTES]);
/* A new name. False: there is no room, or no randomness. */
bool vcuda_handoff_give(struct vcuda_handoffs *h, uint32_t place, uint64_t key,
                        const struct vcuda_handed *what, uint8_t name[VCUDA_HANDOFF_BYTES]);
/* What it is of has ended. */
void vcuda_handoff_end(struct vcuda_handoffs *h, uint32_t place, uint64_t key);

/* What a name stands for; false: it is none of this owner's. */
bool vcuda_handoff_find(const struct vcuda_handoffs *h, const uint8_t name[VCUDA_HANDOFF_BYTES],
                        struct vcuda_handed *what);
/* vcudad: the place's worker is gone. */
void vcuda_handoff_clear(struct vcuda_handoffs *h, uint32_t place);

#endif
