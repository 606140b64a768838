/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory of the virtual memory management: it is free when the program has neither a
 * handle of it nor a mapping. Any thread.
 */
#ifndef VCUDA_WORKER_PHYSICAL_H
#define VCUDA_WORKER_PHYSICAL_H

#include <stdint.h>

struct physical;

/* The program's first handle of memory that was taken (memory.h). */
void physical_made(uint64_t handle, uint64_t bytes);
/* What a handle or a mapped address is of, with one use more of it; NULL: none that is known. */
struct physical *physical_use_handle(uint64_t handle);
struct physical *physical_use_address(uint64_t address);
/*
 * A use less; with the last one the memory is given back, for which vcudad is waited for if it is
 * shared. NULL does nothing.
 */
void physical_drop(struct physical *p);

/* Another handle of the program's, which becomes a use; it may be one that is known. */
void physical_handle(uint64_t handle, struct physical *p);
/* One handle less: what it was of, with its use. */
struct physical *physical_release(uint64_t handle);

/* A handle of memory that another session counts, with the hold on it (shared.h). */
void physical_imported(uint64_t handle, uint32_t hold);
/* The session's hold on memory that is shared, or 0; and what it takes in the account, in bytes. */
uint32_t physical_hold(const struct physical *p);
void physical_set_hold(struct physical *p, uint32_t hold);
uint64_t physical_bytes(const struct physical *p);

/* Mapped: `p`'s use becomes the mapping's. */
void physical_map(uint64_t address, uint64_t bytes, struct physical *p);

/* A mapping that was taken out. */
struct physical_mapping {
    uint64_t address, bytes;
    struct physical *memory;
    struct physical_mapping *next;
};

/*
 * Takes out all mappings within a range, before the driver is told: the range may be mapped again
 * right after. To be put back, or ended.
 */
struct physical_mapping *physical_unmap(uint64_t address, uint64_t bytes);
void physical_put_back(struct physical_mapping *list);
void physical_end(struct physical_mapping *list);

#endif
