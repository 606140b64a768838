/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts that have ended. The driver still tells a few things of them: so does the library, of
 * the latest ones.
 */
#ifndef VCUDA_USERLIB_ENDED_H
#define VCUDA_USERLIB_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"

#define ENDED_MAX 64

struct ended {
    uint64_t name;
    CUdevice device;
    unsigned int flags;
};

/* The oldest one is forgotten for it where there are many. Any thread. */
void ended_note(const struct ended *what);

/* False: it is none of those that are known. Any thread. */
bool ended_find(uint64_t name, struct ended *what);

#endif
