/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the arena's addresses are taken: what was given back is taken again, from the lowest on.
 * One thread at a time.
 */
#ifndef VCUDA_USERLIB_SPACE_H
#define VCUDA_USERLIB_SPACE_H

#include <stdint.h>

/* Far from where Linux puts mappings and from where the driver puts device memory. */
#define SPACE_BASE 0x200000000000ull
#define SPACE_END 0x210000000000ull

/* `bytes` of whole pages, in a row; 0: there are not so many. */
uint64_t space_take(uint64_t bytes);
/* Gives back what was taken, all of it at once. */
void space_give(uint64_t address, uint64_t bytes);

#endif
