/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device memory that this process holds, by address: answers pointer
 * questions here, and keeps the program's own mappings out of it.
 */
#ifndef VCUDA_USERLIB_RANGES_H
#define VCUDA_USERLIB_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t start;
    uint64_t size;
    uint64_t context;
    uint64_t id;
};

/*
 * Notes an allocation and reserves its addresses in this process. False: the program has a mapping
 * there already, or no memory; nothing is noted then.
 */
bool ranges_add(uint64_t start, uint64_t size, uint64_t context);

/* Ends the allocation that starts there: false if none does. */
bool ranges_remove(uint64_t start);

/* The allocation that holds all of [address, address + bytes). */
bool ranges_find(uint64_t address, uint64_t bytes, struct range *range);

/* Ends all of a context's. */
void ranges_forget(uint64_t context);

#endif
