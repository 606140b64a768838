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

enum range_kind {
    RANGE_PLAIN,  /* cuMemAlloc and its like */
    RANGE_POOL,   /* of a memory pool */
    RANGE_GRAPH,  /* that a graph allocates, at one address with each launch */
    RANGE_MAPPED, /* cuMemMap, inside a reservation that holds the addresses (vmm.h) */
    RANGE_IPC,    /* another process' memory */
};

struct range {
    uint64_t start;
    uint64_t size;
    uint64_t context; /* that it ends with; 0: none */
    uint64_t id;      /* never the same for two */
    enum range_kind kind;
    bool usable; /* the device may use it */
};

/*
 * Notes memory and, unless it is RANGE_MAPPED, reserves its addresses in this process. False: the
 * program has a mapping there already, or no memory; nothing is noted then. What was noted of these
 * addresses before is over: the driver gives none twice.
 */
bool ranges_add(enum range_kind kind, uint64_t start, uint64_t size, uint64_t context);

/* Ends the allocation that starts there: false if none does. Its addresses are kept for a while. */
bool ranges_remove(uint64_t start);

/*
 * The same, if it still has that id: what another thread was given at its address meanwhile stays.
 * For who hears of the driver that it has ended. 0 is no id.
 */
bool ranges_end(uint64_t start, uint64_t id);

/*
 * Ends the allocation that starts there, if it is of a kind that cuMemFree takes, and tells what it
 * was. Before the driver is asked: another thread may be given the same address right after. A
 * graph's stays: whether it is allocated now, or will be again, the driver knows.
 */
bool ranges_take(uint64_t start, struct range *range);
/* The driver did not free what was taken: it is there again. */
void ranges_put_back(const struct range *range);

/* The allocation that holds all of [address, address + bytes). */
bool ranges_find(uint64_t address, uint64_t bytes, struct range *range);

/* Says whether the device may use the mapped memory in [start, start + size): not, at first. */
void ranges_set_usable(uint64_t start, uint64_t size, bool usable);

/*
 * Whether all of [address, address + bytes) is usable memory, in one range or in several mapped
 * ones that touch: the driver lets no call go from one allocation into the next.
 */
bool ranges_cover(uint64_t address, uint64_t bytes);

/* Ends all of a context's. */
void ranges_forget(uint64_t context);

#endif
