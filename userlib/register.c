// SPDX-License-Identifier: Apache-2.0
/*
 * Registered host memory: a region that lies at the address of the program's own memory, and takes
 * the place of its pages. Program, worker and GPU then share it as they share the arena. Bytes of
 * others on the first and the last page go along, and remain what they are.
 *
 * Memory that cannot change its pages (files, memory shared with other processes) is only noted:
 * copies work as from memory that is not registered; the device does not reach it.
 */
#define _GNU_SOURCE
#include "register.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "capture.h"
#include "cuda_calls.h"
#include "guest.h"
#include "layout.h"
#include "session.h"
#include "swap.h"
#include "wire.h"

#define REGISTER_FLAGS                                                                             \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |    \
     CU_MEMHOSTREGISTER_READ_ONLY)

struct registration {
    char *start; /* as the program said */
    size_t bytes;
    unsigned int flags;
    char *pages; /* whole ones */
    size_t page_bytes;
    uint32_t region; /* 0: not reached by the device */
    void *snapshot;  /* for a child of fork */
};

static struct {
    pthread_mutex_t change;   /* held over a change of both sides */
    pthread_rwlock_t lock;    /* of the list */
    struct registration *all; /* by address; they share no bytes */
    size_t count, room;
} registered = {.change = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_RWLOCK_INITIALIZER};

/* How many start at p or before. */
static size_t starting_by(const char *p) {
    size_t low = 0, high = registered.count;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (registered.all[mid].start <= p)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The registration that holds p, and how many bytes of it lie from there on; NULL: none. */
static struct registration *holder(const char *p, size_t *left) {
    size_t at = starting_by(p);
    struct registration *r = at ? &registered.all[at - 1] : NULL;

    if (!r || p >= r->start + r->bytes)
        return NULL;
    *left = (size_t)(r->start + r->bytes - p);
    return r;
}

bool register_find(const void *p, size_t bytes, struct arena_block *block) {
    const struct registration *r;
    bool found;
    size_t left;

    if (!__atomic_load_n(&registered.count, __ATOMIC_RELAXED))
        return false;
    pthread_rwlock_rdlock(&registered.lock);
    r = holder(p, &left);
    found = r && r->region && bytes <= left;
    if (found)
        *block = (struct arena_block){r->start, r->bytes, r->flags, ARENA_REGISTERED, 0};
    pthread_rwlock_unlock(&registered.lock);
    return found;
}

bool register_only_noted(const void *p) {
    const struct registration *r;
    bool found;
    size_t left;

    pthread_rwlock_rdlock(&registered.lock);
    r = holder(p, &left);
    found = r && !r->region;
    pthread_rwlock_unlock(&registered.lock);
    return found;
}

/* Allocated by us: it cannot be registered, or end by being so no more. */
static bool allocated(const void *p) {
    struct arena_block block;

    return arena_find(p, 1, &block) && block.kind != ARENA_REGISTERED;
}

/*
 * Under `change`: whether any of these bytes belongs to a registration already; *pages: any of the
 * pages. The nearest on both sides tell for all, as no two share bytes.
 */
static bool overlaps(const struct registration *fresh, bool *pages) {
    size_t at = starting_by(fresh->start);
    bool bytes = false;

    *pages = false;
    if (at) {
        const struct registration *before = &registered.all[at - 1];

        bytes = before->start + before->bytes > fresh->start;
        *pages = before->pages + before->page_bytes > fresh->pages;
    }
    if (at < registered.count) {
        const struct registration *behind = &registered.all[at];

        bytes = bytes || behind->start < fresh->start + fresh->bytes;
        *pages = *pages || behind->pages < fresh->pages + fresh->page_bytes;
    }
    return bytes;
}

static int map_over(void *arg) {
    const struct registration *r = arg;

    return session.transport.region_map(&session.transport, r->region, r->pages, r->page_bytes,
                                        TRANSPORT_OVER);
}

/* Under `change`: the pages become a region's, on both sides. */
static CUresult share(struct thread *t, struct registration *r) {
    struct transport *transport = &session.transport;
    CUresult result;
    void *alias;

    result = arena_share(t, r->pages, r->page_bytes, &r->region);
    if (result != CUDA_SUCCESS)
        return result;
    alias = transport->region_alias(transport, r->region, r->page_bytes);
    if (!alias || swap_in(r->pages, r->page_bytes, alias, map_over, r))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (alias)
        munmap(alias, r->page_bytes);
    if (result != CUDA_SUCCESS) {
        arena_unshare(t, r->region, r->page_bytes);
        r->region = 0;
    }
    return result;
}

/*
 * Under `change`: there is a place for one more. Not on the heap: in a child of fork pages of the
 * heap that are registered are only put right with the help of this.
 */
static bool make_room(void) {
    size_t old = registered.room * sizeof(*registered.all), size = old ? 2 * old : 16 * VCUDA_PAGE;
    void *all;

    if (registered.count < registered.room)
        return true;
    pthread_rwlock_wrlock(&registered.lock);
    all = old ? mremap(registered.all, old, size, MREMAP_MAYMOVE)
              : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all != MAP_FAILED) {
        registered.all = all;
        registered.room = size / sizeof(*registered.all);
    }
    pthread_rwlock_unlock(&registered.lock);
    return all != MAP_FAILED;
}

/* Under `change`, where there is a place. */
static void insert(const struct registration *fresh) {
    struct registration *at = &registered.all[starting_by(fresh->start)];

    pthread_rwlock_wrlock(&registered.lock);
    memmove(at + 1, at, (size_t)(registered.all + registered.count - at) * sizeof(*at));
    *at = *fresh;
    __atomic_store_n(&registered.count, registered.count + 1, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&registered.lock);
}

/* Every page of it is there. */
static bool is_mapped(const struct registration *r) {
    return !msync(r->pages, r->page_bytes, MS_ASYNC);
}

/*
 * Every page of it is there, and can be written by who may write: the kernel brings them in, as for
 * a driver that pins them.
 */
static bool can_be_pinned(const struct registration *r) {
    int how = r->flags & CU_MEMHOSTREGISTER_READ_ONLY ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;

    if (madvise(NULL, 0, how)) /* kernels before 5.14 do not know it */
        return is_mapped(r);
    return !madvise(r->pages, r->page_bytes, how);
}

/* Under `change`. */
static CUresult add(struct thread *t, struct registration *fresh) {
    CUresult r = CUDA_SUCCESS;
    bool shared;

    if (overlaps(fresh, &shared))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (allocated(fresh->start) || allocated(fresh->start + fresh->bytes - 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (!can_be_pinned(fresh))
        return CUDA_ERROR_INVALID_VALUE;
    if (!make_room())
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Pages are shared once: what touches another registration's is only noted. */
    if (!shared && arena_can_share() && swap_possible(fresh->pages, fresh->page_bytes))
        r = share(t, fresh);
    /* Where the worker has something at that address itself, copies still work. */
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_OUT_OF_MEMORY)
        return r;
    if (!fresh->region && fresh->flags & CU_MEMHOSTREGISTER_DEVICEMAP)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!fresh->region)
        guest_log("%p is registered, but the device does not reach it", (void *)fresh->start);
    insert(fresh);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
    struct registration fresh;
    uint64_t first = (uint64_t)p & ~(uint64_t)(VCUDA_PAGE - 1), end;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!p || !bytesize || Flags & ~REGISTER_FLAGS ||
        __builtin_add_overflow((uint64_t)p, bytesize, &end) || end > UINT64_MAX - VCUDA_PAGE)
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags & CU_MEMHOSTREGISTER_IOMEMORY) /* of a device in the guest: dom0 has none */
        return CUDA_ERROR_NOT_SUPPORTED;
    r = capture_forbids(t);
    if (r == CUDA_SUCCESS)
        r = guest_fault(t);
    if (r != CUDA_SUCCESS)
        return r;
    end = (end + VCUDA_PAGE - 1) & ~(uint64_t)(VCUDA_PAGE - 1);
    fresh = (struct registration){p, bytesize, Flags, (char *)first, end - first, 0, NULL};
    pthread_mutex_lock(&registered.change);
    r = add(t, &fresh);
    pthread_mutex_unlock(&registered.change);
    return r;
}

VCUDA_EXPORT CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags) {
    return cuMemHostRegister_v2(p, bytesize, Flags);
}

/* Under `change`: takes the registration that starts at p out of the list; false: there is none. */
static bool take(const char *p, struct registration *gone) {
    size_t left;
    struct registration *r = holder(p, &left);

    if (!r || r->start != p)
        return false;
    *gone = *r;
    pthread_rwlock_wrlock(&registered.lock);
    __atomic_store_n(&registered.count, registered.count - 1, __ATOMIC_RELAXED);
    memmove(r, r + 1, (size_t)(registered.all + registered.count - r) * sizeof(*r));
    pthread_rwlock_unlock(&registered.lock);
    return true;
}

/* Under `change`: what native says of a place where no registration starts. */
static CUresult none_here(const char *p) {
    size_t left;

    return holder(p, &left) || allocated(p) ? CUDA_ERROR_INVALID_VALUE
                                            : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

VCUDA_EXPORT CUresult cuMemHostUnregister(void *p) {
    struct registration gone;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    r = memory_settle(t);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&registered.change);
    if (!take(p, &gone)) {
        r = none_here(p);
    } else if (gone.region) {
        /* What the program has unmapped meanwhile stays so. */
        if (is_mapped(&gone) && swap_out(gone.pages, gone.page_bytes))
            guest_log("%p stays on shared pages: no memory", p);
        r = arena_unshare(t, gone.region, gone.page_bytes);
    }
    pthread_mutex_unlock(&registered.change);
    return r;
}

void register_before_fork(void) {
    pthread_mutex_lock(&registered.change);
    for (struct registration *r = registered.all; r < registered.all + registered.count; r++) {
        if (!r->region || !is_mapped(r))
            continue;
        r->snapshot =
            mmap(NULL, r->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (r->snapshot == MAP_FAILED)
            r->snapshot = NULL;
        else
            memcpy(r->snapshot, r->pages, r->page_bytes);
    }
}

void register_after_fork(bool in_child) {
    for (struct registration *r = registered.all; r < registered.all + registered.count; r++) {
        if (r->snapshot && in_child)
            mremap(r->snapshot, r->page_bytes, r->page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   r->pages);
        else if (r->snapshot)
            munmap(r->snapshot, r->page_bytes);
        r->snapshot = NULL;
    }
    pthread_mutex_unlock(&registered.change);
}
