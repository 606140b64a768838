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

#define REGISTRATIONS_MAX 1024

struct registration {
    struct registration *next;
    char *start;  /* as the program said */
    size_t bytes; /* 0: a free place */
    unsigned int flags;
    char *pages; /* whole ones */
    size_t page_bytes;
    uint32_t region; /* 0: not reached by the device */
    void *snapshot;  /* for a child of fork */
};

/*
 * Not from the heap: in a child of fork pages of the heap that are registered are only put right
 * with the help of this.
 */
static struct registration places[REGISTRATIONS_MAX];

static struct {
    pthread_mutex_t change; /* held over a change of both sides */
    pthread_rwlock_t lock;  /* of the list */
    struct registration *all;
} registered = {.change = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_RWLOCK_INITIALIZER};

bool register_find(const void *p, size_t bytes, struct arena_block *block) {
    const char *a = p;
    bool found = false;

    if (!__atomic_load_n(&registered.all, __ATOMIC_RELAXED))
        return false;
    pthread_rwlock_rdlock(&registered.lock);
    for (const struct registration *r = registered.all; r && !found; r = r->next) {
        found = r->region && a >= r->start && a < r->start + r->bytes &&
                bytes <= (size_t)(r->start + r->bytes - a);
        if (found)
            *block = (struct arena_block){r->start, r->bytes, r->flags, ARENA_REGISTERED, 0};
    }
    pthread_rwlock_unlock(&registered.lock);
    return found;
}

bool register_only_noted(const void *p) {
    const char *a = p;
    bool found = false;

    pthread_rwlock_rdlock(&registered.lock);
    for (const struct registration *r = registered.all; r && !found; r = r->next)
        found = !r->region && a >= r->start && a < r->start + r->bytes;
    pthread_rwlock_unlock(&registered.lock);
    return found;
}

/* Under `change`: whether any of these pages belongs to a registration already. */
static bool overlaps(const struct registration *fresh) {
    for (const struct registration *r = registered.all; r; r = r->next) {
        if (fresh->pages < r->pages + r->page_bytes && r->pages < fresh->pages + fresh->page_bytes)
            return true;
    }
    return false;
}

/* Allocated by us: it cannot be registered, or end by being so no more. */
static bool allocated(const void *p) {
    struct arena_block block;

    return arena_find(p, 1, &block) && block.kind != ARENA_REGISTERED;
}

/* Under `change`: whether any of these bytes does. */
static bool registered_twice(const struct registration *fresh) {
    for (const struct registration *r = registered.all; r; r = r->next) {
        if (fresh->start < r->start + r->bytes && r->start < fresh->start + fresh->bytes)
            return true;
    }
    return false;
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

/* Under `change`. */
static CUresult add(struct thread *t, struct registration *fresh) {
    CUresult r = CUDA_SUCCESS;

    if (registered_twice(fresh))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (allocated(fresh->start) || allocated(fresh->start + fresh->bytes - 1))
        return CUDA_ERROR_INVALID_VALUE;
    /* Pages are shared once: what touches another registration's is only noted. */
    if (!overlaps(fresh) && swap_possible(fresh->pages, fresh->page_bytes))
        r = share(t, fresh);
    /* Where the worker has something at that address itself, copies still work. */
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_OUT_OF_MEMORY)
        return r;
    if (!fresh->region && fresh->flags & CU_MEMHOSTREGISTER_DEVICEMAP)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!fresh->region)
        guest_log("%p is registered, but the device does not reach it", (void *)fresh->start);
    pthread_rwlock_wrlock(&registered.lock);
    fresh->next = registered.all;
    __atomic_store_n(&registered.all, fresh, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&registered.lock);
    return CUDA_SUCCESS;
}

/* Under `change`. */
static struct registration *free_place(void) {
    for (size_t i = 0; i < REGISTRATIONS_MAX; i++) {
        if (!places[i].bytes)
            return &places[i];
    }
    return NULL;
}

/* Every page of it is there. */
static bool is_mapped(const struct registration *r) {
    return !msync(r->pages, r->page_bytes, MS_ASYNC);
}

VCUDA_EXPORT CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
    struct registration *fresh;
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
    pthread_mutex_lock(&registered.change);
    fresh = free_place();
    if (fresh) {
        *fresh =
            (struct registration){NULL, p, bytesize, Flags, (char *)first, end - first, 0, NULL};
        r = is_mapped(fresh) ? add(t, fresh) : CUDA_ERROR_INVALID_VALUE;
        if (r != CUDA_SUCCESS)
            fresh->bytes = 0;
    } else {
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&registered.change);
    return r;
}

VCUDA_EXPORT CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags) {
    return cuMemHostRegister_v2(p, bytesize, Flags);
}

/* Under `change`: takes the registration that starts at p out of the list. */
static struct registration *take(const void *p) {
    struct registration **at = &registered.all, *found;

    pthread_rwlock_wrlock(&registered.lock);
    while (*at && (*at)->start != p)
        at = &(*at)->next;
    found = *at;
    if (found)
        __atomic_store_n(at, found->next, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&registered.lock);
    return found;
}

/* Under `change`: what native says of a place where no registration starts. */
static CUresult none_here(const char *p) {
    for (const struct registration *r = registered.all; r; r = r->next) {
        if (p >= r->start && p < r->start + r->bytes)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return allocated(p) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

VCUDA_EXPORT CUresult cuMemHostUnregister(void *p) {
    struct registration *gone;
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
    gone = take(p);
    if (!gone) {
        r = none_here(p);
    } else if (gone->region) {
        /* What the program has unmapped meanwhile stays so. */
        if (is_mapped(gone) && swap_out(gone->pages, gone->page_bytes))
            guest_log("%p stays on shared pages: no memory", p);
        r = arena_unshare(t, gone->region, gone->page_bytes);
    }
    if (gone)
        gone->bytes = 0;
    pthread_mutex_unlock(&registered.change);
    return r;
}

void register_before_fork(void) {
    pthread_mutex_lock(&registered.change);
    for (struct registration *r = registered.all; r; r = r->next) {
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
    for (struct registration *r = registered.all; r; r = r->next) {
        if (r->snapshot && in_child)
            mremap(r->snapshot, r->page_bytes, r->page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   r->pages);
        else if (r->snapshot)
            munmap(r->snapshot, r->page_bytes);
        r->snapshot = NULL;
    }
    pthread_mutex_unlock(&registered.change);
}
