/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much device memory the programs of one owner hold: a domain, or a local user. One memory file
 * for each owner, vcudad's, mapped by all of the owner's workers.
 *
 * Each worker has a place of its own and writes no other. To take memory it first says what it asks
 * for, then looks at everybody's places: two that ask at one time see each other, so that together
 * they never hold more than the limit. A worker that dies, at any instruction, leaves nothing but
 * its place, which vcudad clears.
 *
 * Nothing is believed but to the owner's own disadvantage: a worker that was taken over can deceive
 * the other programs of its owner about what is left, and could call the driver without asking.
 */
#ifndef VCUDA_HELPER_ACCOUNT_H
#define VCUDA_HELPER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Sessions of one owner at most. */
#define VCUDA_ACCOUNT_SHARES 4096u

struct vcuda_share {
    uint64_t asked; /* bytes that are being asked for now */
    uint64_t held;
};

struct vcuda_account {
    uint64_t shares; /* places that have been in use; vcudad's to write */
    uint64_t shared; /* bytes that sessions share whose exporter has left (share.h); vcudad's too */
    struct vcuda_share share[VCUDA_ACCOUNT_SHARES];
};

/*
 * Adds `bytes` to a place unless all places together would then hold more than `limit` (0: none).
 * One thread of the place's worker at a time. May sleep for a millisecond where others ask at the
 * same time.
 */
bool vcuda_account_take(struct vcuda_account *a, uint32_t place, uint64_t limit, uint64_t bytes);

/* Adds them whatever the limit: what was taken turned out to be larger. Any thread. */
void vcuda_account_add(struct vcuda_account *a, uint32_t place, uint64_t bytes);
void vcuda_account_give_back(struct vcuda_account *a, uint32_t place, uint64_t bytes);

/* What all places hold. Any process. */
uint64_t vcuda_account_held(const struct vcuda_account *a);
/* vcudad: the place's worker is gone, or not yet there. */
void vcuda_account_clear(struct vcuda_account *a, uint32_t place);

#endif
