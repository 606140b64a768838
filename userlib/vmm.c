// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual memory management.
 *
 * Addresses must be free in the program and in the worker. So they are reserved here first, far
 * from where either side puts mappings, and the driver is asked for just these. It need not obey.
 */
#define _GNU_SOURCE
#include "vmm.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cuda_calls.h"
#include "descriptor.h"
#include "guest.h"
#include "ranges.h"
#include "wire.h"

#define VMM_BASE 0x400000000000ull
#define VMM_END 0x600000000000ull
/* What the driver aligns reservations to at least. */
#define ALIGNMENT_MIN (2ull << 20)
/* How often other addresses are tried where one side has something already. */
#define TRIES_MAX 16

struct reservation {
    struct reservation *next;
    uint64_t start;
    uint64_t size;
};

static struct {
    pthread_mutex_t change; /* held over a change of both sides, so that they agree */
    pthread_rwlock_t lock;  /* of the list */
    struct reservation *all;
    uint64_t next; /* where the next one is tried; under `change` */
} vmm = {
    .change = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_RWLOCK_INITIALIZER,
    .next = VMM_BASE,
};

bool vmm_reserved(uint64_t address) {
    bool found = false;

    pthread_rwlock_rdlock(&vmm.lock);
    for (const struct reservation *r = vmm.all; r && !found; r = r->next)
        found = address - r->start < r->size;
    pthread_rwlock_unlock(&vmm.lock);
    return found;
}

/* Takes addresses in this process: false if any is taken already. */
static bool hold(uint64_t start, uint64_t size) {
    void *want = (void *)start;
    void *got = mmap(want, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (got != MAP_FAILED && got != want)
        munmap(got, size);
    return got == want;
}

/* The same at an address of our choice; 0: none is free. */
static uint64_t hold_anywhere(uint64_t size, uint64_t alignment) {
    if (size > VMM_END - VMM_BASE || alignment > VMM_END - VMM_BASE)
        return 0;
    for (int i = 0; i < TRIES_MAX; i++) {
        uint64_t at = (vmm.next + alignment - 1) & ~(alignment - 1);

        if (at > VMM_END - size) {
            vmm.next = VMM_BASE;
            continue;
        }
        vmm.next = at + size;
        if (hold(at, size))
            return at;
    }
    return 0;
}

static uint64_t alignment_of(uint64_t asked) {
    bool usable = asked > ALIGNMENT_MIN && !(asked & (asked - 1));

    return usable ? asked : ALIGNMENT_MIN; /* the driver says whether it is good */
}

/*
 * One try: the driver is asked for addresses that are held here, and free to choose others, which
 * do if they can be held too. *refused: what it chose in vain, or 0.
 */
static CUresult try_reserve(struct thread *t, struct reservation *fresh, uint64_t alignment,
                            uint64_t at, uint64_t flags, uint64_t *refused) {
    uint64_t got, size = fresh->size;
    CUresult r = wire_cuMemAddressReserve(t, &got, size, alignment, at, flags);

    *refused = 0;
    fresh->start = at;
    if (r == CUDA_SUCCESS && got == at)
        return r;
    munmap((void *)at, size);
    if (r != CUDA_SUCCESS)
        return r;
    fresh->start = got;
    if (!hold(got, size))
        *refused = got;
    return r;
}

/* Under `change`: addresses that both sides hold. `wish` may be 0. */
static CUresult reserve(struct thread *t, struct reservation *fresh, uint64_t alignment,
                        uint64_t wish, uint64_t flags) {
    uint64_t size = fresh->size, refused[TRIES_MAX] = {0};
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    bool done = false;

    for (int i = 0; i < TRIES_MAX && !done; i++) {
        uint64_t at = i == 0 && wish && hold(wish, size)
                          ? wish
                          : hold_anywhere(size, alignment_of(alignment));

        if (!at)
            break;
        r = try_reserve(t, fresh, alignment, at, flags, &refused[i]);
        done = !refused[i];
    }
    /* Given back only now, or the driver would choose the same again. */
    for (int i = 0; i < TRIES_MAX; i++) {
        if (refused[i])
            wire_cuMemAddressFree(t, refused[i], size);
    }
    return done ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

VCUDA_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
                                          CUdeviceptr addr, unsigned long long flags) {
    struct reservation *fresh;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ptr || !size)
        return CUDA_ERROR_INVALID_VALUE;
    fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fresh->size = size;
    pthread_mutex_lock(&vmm.change);
    r = reserve(t, fresh, alignment, addr, flags);
    if (r == CUDA_SUCCESS) {
        *ptr = fresh->start;
        pthread_rwlock_wrlock(&vmm.lock);
        fresh->next = vmm.all;
        vmm.all = fresh;
        pthread_rwlock_unlock(&vmm.lock);
    } else {
        free(fresh);
    }
    pthread_mutex_unlock(&vmm.change);
    return r;
}

/* Under `change`: takes a reservation out of the list. */
static void forget(uint64_t start) {
    struct reservation **at = &vmm.all, *gone;

    pthread_rwlock_wrlock(&vmm.lock);
    while (*at && (*at)->start != start)
        at = &(*at)->next;
    gone = *at;
    if (gone)
        *at = gone->next;
    pthread_rwlock_unlock(&vmm.lock);
    if (gone)
        munmap((void *)gone->start, gone->size);
    free(gone);
}

VCUDA_EXPORT CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ptr || !size)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&vmm.change);
    r = wire_cuMemAddressFree(t, ptr, size);
    if (r == CUDA_SUCCESS)
        forget(ptr);
    pthread_mutex_unlock(&vmm.change);
    return r;
}

VCUDA_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                                  const CUmemAllocationProp *prop, unsigned long long flags) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!handle || !prop)
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuMemCreate(t, (uint64_t *)handle, size, prop, flags);
    if (r == CUDA_ERROR_OUT_OF_MEMORY && descriptor_sweep(t))
        r = wire_cuMemCreate(t, (uint64_t *)handle, size, prop, flags);
    return r;
}

VCUDA_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_MEMORY, (const void *)handle);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&vmm.change);
    r = wire_cuMemMap(t, ptr, size, offset, handle, flags);
    if (r == CUDA_SUCCESS)
        ranges_add(RANGE_MAPPED, ptr, size, 0);
    pthread_mutex_unlock(&vmm.change);
    return r;
}

/* Whole mappings only, and room between them: the driver has checked that. */
static void forget_mapped(uint64_t start, uint64_t size) {
    struct range range;

    for (uint64_t at = start; at - start < size;) {
        if (ranges_find(at, 1, &range)) {
            ranges_remove(range.start);
            at = range.start + range.size;
        } else {
            at += ALIGNMENT_MIN;
        }
    }
}

VCUDA_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&vmm.change);
    r = wire_cuMemUnmap(t, ptr, size);
    if (r == CUDA_SUCCESS)
        forget_mapped(ptr, size);
    pthread_mutex_unlock(&vmm.change);
    descriptor_sweep(t);
    return r;
}

VCUDA_EXPORT CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                                     size_t count) {
    bool usable = false;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!desc || !count || count > VCUDA_INLINE_MAX / sizeof(*desc))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        usable |= desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    pthread_mutex_lock(&vmm.change);
    r = wire_cuMemSetAccess(t, ptr, size, desc, (uint32_t)(count * sizeof(*desc)));
    if (r == CUDA_SUCCESS)
        ranges_set_usable(ptr, size, usable);
    pthread_mutex_unlock(&vmm.change);
    return r;
}

VCUDA_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
                                                  void *addr) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    return wire_cuMemRetainAllocationHandle(t, (uint64_t *)handle, (uint64_t)addr);
}
