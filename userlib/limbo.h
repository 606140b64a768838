/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ended with its context. A call that another thread makes in that context finds what it is
 * about without a lock, and may look at it until it returns: with an error, but it must return. So
 * nothing of this is freed at once.
 */
#ifndef VCUDA_USERLIB_LIMBO_H
#define VCUDA_USERLIB_LIMBO_H

#include <stdint.h>

/* Longer than a call goes on that was answered when its context ended, at the latest. */
#define LIMBO_NS 5000000000u

/* Nobody can look the object up any more: `release` gets it some time later. Any thread. */
void limbo_put(void *object, void (*release)(void *object));

/* Releases what has been there for so long. Any thread, holding no lock. */
void limbo_empty(uint64_t ns);

#endif
