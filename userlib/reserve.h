/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of this process that nothing else is mapped at, in whole pages. What was given back is
 * kept for a while: the driver hands the same addresses out again, and a mapping made and undone
 * costs more than the memory it is for. The caller lets one thread at a time in.
 */
#ifndef VCUDA_USERLIB_RESERVE_H
#define VCUDA_USERLIB_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

/* False: there is something of the program's, or no memory. */
bool reserve_take(uint64_t from, uint64_t to);

/* What was taken, or a part of it. */
void reserve_give(uint64_t from, uint64_t to);

/* Nothing is kept any more. */
void reserve_forget(void);

#endif
