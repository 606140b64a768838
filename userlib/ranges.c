// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "reserve.h"

#define PAGE_MASK 4095ull

/* Sorted by start; allocations do not overlap. */
static struct {
    pthread_rwlock_t lock;
    struct range *all;
    size_t count;
    size_t room;
    uint64_t last_id;
    uint64_t version; /* changes with any of them */
} ranges = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The range that this thread found last, as it was in that version: the next is mostly the same. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
    uint64_t version, start, size;
} last;

/* Whoever takes ranges for what they were must look again. */
static void lock_to_change(void) {
    pthread_rwlock_wrlock(&ranges.lock);
    vcuda_store_release(&ranges.version, ranges.version + 1);
}

/* Index of the first range that starts after `address`. */
static size_t after(uint64_t address) {
    size_t low = 0, high = ranges.count;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (ranges.all[mid].start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/*
 * Small allocations share pages (the driver hands out 512-byte pieces), so a page is reserved by
 * the first that touches it and given back by the last.
 */
static bool page_shared(uint64_t page, size_t except) {
    size_t i = after(page + PAGE_MASK);

    for (size_t back = 0; i-- > 0 && back < 32; back++) {
        const struct range *r = &ranges.all[i];

        if (i != except && r->kind != RANGE_MAPPED && r->start <= page + PAGE_MASK &&
            r->start + r->size > page)
            return true;
    }
    return false;
}

/* The whole pages of a range that no other range lies in. */
static void own_pages(const struct range *r, size_t except, uint64_t *from, uint64_t *to) {
    *from = r->start & ~PAGE_MASK;
    *to = (r->start + r->size + PAGE_MASK) & ~PAGE_MASK;
    if (page_shared(*from, except))
        *from += PAGE_MASK + 1;
    if (*to > *from && page_shared(*to - 1 - PAGE_MASK, except))
        *to -= PAGE_MASK + 1;
}

static void drop(size_t at) {
    uint64_t from, to;

    own_pages(&ranges.all[at], at, &from, &to);
    if (ranges.all[at].kind != RANGE_MAPPED)
        reserve_give(from, to);
    ranges.count--;
    memmove(&ranges.all[at], &ranges.all[at + 1], (ranges.count - at) * sizeof(ranges.all[0]));
}

/* Ends those that the driver must have ended, since it hands their addresses out again. */
static void drop_overlapped(uint64_t from, uint64_t to) {
    for (size_t at = after(to - 1); at && ranges.all[at - 1].start + ranges.all[at - 1].size > from;
         at--)
        drop(at - 1);
}

bool ranges_add(enum range_kind kind, uint64_t start, uint64_t size, uint64_t context) {
    struct range fresh = {start, size, context, 0, kind, kind != RANGE_MAPPED};
    uint64_t from, to;
    bool ok = false;
    size_t at;

    lock_to_change();
    if (!size || size > UINT64_MAX - start)
        goto out;
    drop_overlapped(start, start + size);
    if (ranges.count == ranges.room) {
        size_t room = ranges.room ? 2 * ranges.room : 64;
        struct range *all = realloc(ranges.all, room * sizeof(*all));

        if (!all)
            goto out;
        ranges.all = all;
        ranges.room = room;
    }
    own_pages(&fresh, SIZE_MAX, &from, &to);
    if (kind != RANGE_MAPPED && !reserve_take(from, to))
        goto out;
    at = after(start);
    memmove(&ranges.all[at + 1], &ranges.all[at], (ranges.count - at) * sizeof(fresh));
    fresh.id = ++ranges.last_id;
    ranges.all[at] = fresh;
    ranges.count++;
    ok = true;
out:
    pthread_rwlock_unlock(&ranges.lock);
    return ok;
}

/* id: 0 for any. */
static bool remove_range(uint64_t start, uint64_t id) {
    bool found;
    size_t at;

    lock_to_change();
    at = after(start);
    found = at && ranges.all[at - 1].start == start && (!id || ranges.all[at - 1].id == id);
    if (found)
        drop(at - 1);
    pthread_rwlock_unlock(&ranges.lock);
    return found;
}

bool ranges_remove(uint64_t start) {
    return remove_range(start, 0);
}

bool ranges_end(uint64_t start, uint64_t id) {
    return id && remove_range(start, id);
}

bool ranges_take(uint64_t start, struct range *range) {
    return ranges_find(start, 1, range) && range->start == start && range->kind <= RANGE_GRAPH &&
           (range->kind == RANGE_GRAPH || ranges_remove(start));
}

void ranges_put_back(const struct range *range) {
    if (range->kind != RANGE_GRAPH)
        ranges_add(range->kind, range->start, range->size, range->context);
}

bool ranges_find(uint64_t address, uint64_t bytes, struct range *range) {
    bool found = false;
    size_t at;

    pthread_rwlock_rdlock(&ranges.lock);
    at = after(address);
    if (at) {
        const struct range *r = &ranges.all[at - 1];
        uint64_t offset = address - r->start;

        found = offset < r->size && bytes <= r->size - offset;
        if (found)
            *range = *r;
    }
    pthread_rwlock_unlock(&ranges.lock);
    return found;
}

void ranges_set_usable(uint64_t start, uint64_t size, bool usable) {
    lock_to_change();
    for (size_t i = start ? after(start - 1) : 0;
         i < ranges.count && ranges.all[i].start - start < size; i++)
        ranges.all[i].usable = usable;
    pthread_rwlock_unlock(&ranges.lock);
}

static __attribute__((noinline)) bool cover(uint64_t address, uint64_t bytes) {
    uint64_t done = 0;
    size_t at;

    pthread_rwlock_rdlock(&ranges.lock);
    at = after(address);
    for (size_t i = at ? at - 1 : 0; i < ranges.count && done < bytes; i++) {
        const struct range *r = &ranges.all[i];
        uint64_t offset = address + done - r->start; /* 0 but in the first */

        if (offset >= r->size || r->start > address + done || !r->usable ||
            (done && r->kind != RANGE_MAPPED))
            break;
        last.version = ranges.version;
        last.start = r->start;
        last.size = r->size;
        done += r->size - offset;
        if (r->kind != RANGE_MAPPED)
            break;
    }
    pthread_rwlock_unlock(&ranges.lock);
    return done >= bytes;
}

bool ranges_cover(uint64_t address, uint64_t bytes) {
    uint64_t offset = address - last.start;

    return (last.version == vcuda_load_acquire(&ranges.version) && offset < last.size &&
            bytes <= last.size - offset) ||
           cover(address, bytes);
}

void ranges_forget(uint64_t context) {
    lock_to_change();
    for (size_t i = ranges.count; i-- > 0;) {
        if (ranges.all[i].context == context)
            drop(i);
    }
    reserve_forget();
    pthread_rwlock_unlock(&ranges.lock);
}
