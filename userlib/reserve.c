// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "reserve.h"

#include <stddef.h>
#include <sys/mman.h>

/* Runs of addresses that are kept; those that come after them push out the oldest. */
#define KEPT_MAX 32u

static struct run { uint64_t from, to; /* from == to: none */ } kept[KEPT_MAX];
static uint32_t oldest;

static void unmap(uint64_t from, uint64_t to) {
    if (from < to)
        munmap((void *)from, to - from);
}

static bool map(uint64_t from, uint64_t to) {
    void *want = (void *)from;
    void *got = mmap(want, to - from, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (got == want)
        return true;
    if (got != MAP_FAILED)
        munmap(got, to - from);
    return false;
}

static void keep(uint64_t from, uint64_t to) {
    if (from >= to)
        return;
    unmap(kept[oldest].from, kept[oldest].to);
    kept[oldest] = (struct run){from, to};
    oldest = (oldest + 1) % KEPT_MAX;
}

bool reserve_take(uint64_t from, uint64_t to) {
    if (from >= to)
        return true;
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        struct run r = kept[i];

        if (r.to <= from || r.from >= to)
            continue;
        kept[i] = (struct run){0};
        if (r.from <= from && r.to >= to) {
            keep(r.from, from);
            keep(to, r.to);
            return true;
        }
        unmap(r.from, r.to); /* the rest of what is wanted is not ours */
    }
    return map(from, to);
}

/* Together with what touches it: so a large one can come where several small ones were. */
void reserve_give(uint64_t from, uint64_t to) {
    if (from >= to)
        return;
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        struct run r = kept[i];

        if (r.from == r.to || (r.to != from && r.from != to))
            continue;
        kept[i] = (struct run){0};
        from = r.to == from ? r.from : from;
        to = r.from == to ? r.to : to;
    }
    keep(from, to);
}

void reserve_forget(void) {
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        unmap(kept[i].from, kept[i].to);
        kept[i] = (struct run){0};
    }
}
