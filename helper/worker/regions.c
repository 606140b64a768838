// SPDX-License-Identifier: Apache-2.0
/* The arena's regions: mapped where the program has them, registered with the driver. */
#include <string.h>
#include <sys/mman.h>

#include "log.h"
#include "told.h"
#include "worker.h"

/* Where the library puts regions; anything else is none of the guest's business. */
#define ARENA_BASE 0x200000000000ull
#define ARENA_END 0x210000000000ull
/* The program's own memory, registered, lies anywhere but there; not low, where NULL points. */
#define SHARED_MIN 0x100000ull
#define ADDRESS_END 0x7ffffffff000ull

bool regions_hold(struct worker *w, uint64_t address, uint64_t bytes) {
    bool found = false;

    pthread_mutex_lock(&w->regions_lock);
    for (uint32_t i = 1; i < VCUDA_REGIONS_MAX && !found; i++) {
        const struct region *r = &w->regions[i];

        found = r->bytes && !r->ending && address - r->address < r->bytes &&
                bytes <= r->bytes - (address - r->address);
    }
    pthread_mutex_unlock(&w->regions_lock);
    return found;
}

/* The context that holds the registrations: the first device's primary one. */
static bool have_base(struct worker *w) {
    CUresult r;

    if (!w->base) {
        r = w->driver.cuDevicePrimaryCtxRetain(&w->base, w->gpus[0]);
        if (r != CUDA_SUCCESS)
            w->base = NULL;
    }
    return w->base != NULL;
}

/* Makes it current for this thread. */
static CUresult enter_base(struct worker *w) {
    worker_forget_context();
    return w->base ? w->driver.cuCtxSetCurrent(w->base) : CUDA_ERROR_INVALID_CONTEXT;
}

void regions_register(struct worker *w) {
    pthread_mutex_lock(&w->regions_lock);
    if (have_base(w) && enter_base(w) == CUDA_SUCCESS) {
        told_register(w);
        for (uint32_t i = 1; i < VCUDA_REGIONS_MAX; i++) {
            struct region *r = &w->regions[i];

            if (!r->bytes || r->ending || r->registered)
                continue;
            r->registered =
                w->driver.cuMemHostRegister_v2((void *)r->address, r->bytes,
                                               CU_MEMHOSTREGISTER_PORTABLE |
                                                   CU_MEMHOSTREGISTER_DEVICEMAP) == CUDA_SUCCESS;
            /* Copies still work, by the driver's own staging. */
            if (!r->registered)
                vcuda_log(VCUDA_LOG_WARNING, "the driver does not register region %u: slower", i);
        }
    }
    pthread_mutex_unlock(&w->regions_lock);
}

void regions_unregistered(struct worker *w) {
    pthread_mutex_lock(&w->regions_lock);
    for (uint32_t i = 1; i < VCUDA_REGIONS_MAX; i++)
        w->regions[i].registered = false;
    told_unregistered();
    if (w->base)
        w->driver.cuDevicePrimaryCtxRelease_v2(w->gpus[0]);
    w->base = NULL;
    pthread_mutex_unlock(&w->regions_lock);
}

/*
 * Held over the taking of a region: the local transport hands them over in order. Not while the GPU
 * is waited for: what it does may wait for a later call.
 */
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

static bool is_free(struct worker *w, uint32_t region) {
    bool free;

    if (!region || region >= VCUDA_REGIONS_MAX)
        return false;
    pthread_mutex_lock(&w->regions_lock);
    free = !w->regions[region].bytes;
    pthread_mutex_unlock(&w->regions_lock);
    return free;
}

/* Under `taking`: maps a region that the guest has made. */
static CUresult take(struct worker *w, uint32_t region, uint64_t address, uint64_t bytes) {
    int err;

    if (!is_free(w, region) || !bytes || (address | bytes) % VCUDA_PAGE ||
        bytes > ADDRESS_END - address)
        return CUDA_ERROR_INVALID_VALUE;
    err = w->link.map(&w->link, region, (void *)address, bytes);
    if (err) {
        vcuda_log(VCUDA_LOG_WARNING, "region %u cannot be mapped: %s", region, strerror(-err));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* It may be used now. */
static void publish(struct worker *w, uint32_t region, const struct region *fresh) {
    pthread_mutex_lock(&w->regions_lock);
    w->regions[region] = *fresh;
    pthread_mutex_unlock(&w->regions_lock);
    vcuda_stats_add(&w->stats->pages, fresh->bytes / VCUDA_PAGE);
}

/* The program's own memory: without the driver's consent it is not taken. */
static CUresult share(struct worker *w, const struct args_share_region *a) {
    struct region fresh = {a->address, a->bytes, true, false};
    CUresult r;

    if (a->address < SHARED_MIN || a->address >= ADDRESS_END ||
        (a->address < ARENA_END &&
         (a->address >= ARENA_BASE || a->bytes > ARENA_BASE - a->address)))
        return CUDA_ERROR_INVALID_VALUE;
    r = take(w, a->region, a->address, a->bytes);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuMemHostRegister_v2((void *)a->address, a->bytes,
                                       CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (r == CUDA_SUCCESS)
        publish(w, a->region, &fresh);
    else
        munmap((void *)a->address, a->bytes);
    return r;
}

CUresult own_share_region(struct worker *w, struct frame *f, struct args_share_region *a) {
    CUresult r;

    (void)f;
    regions_register(w); /* there is a base context from here on */
    pthread_mutex_lock(&taking);
    r = enter_base(w) == CUDA_SUCCESS ? share(w, a) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS)
        w->link.drop(&w->link);
    pthread_mutex_unlock(&taking);
    return r;
}

/* No copy begins from here on; false: there is no such region. */
static bool begin_end(struct worker *w, uint32_t region, struct region *gone) {
    struct region *r = &w->regions[region];
    bool found;

    pthread_mutex_lock(&w->regions_lock);
    found = r->bytes && !r->ending;
    *gone = *r;
    if (found)
        r->ending = true;
    pthread_mutex_unlock(&w->regions_lock);
    return found;
}

/* The driver lets go of it, and may wait for the GPU. */
static CUresult unregister(struct worker *w, const struct region *gone) {
    CUresult r;

    if (!gone->registered || !w->base) /* registrations end with the base context */
        return CUDA_SUCCESS;
    r = enter_base(w);
    return r == CUDA_SUCCESS ? w->driver.cuMemHostUnregister((void *)gone->address) : r;
}

/* The region's number is free; or all is as it was, where the driver still has the memory. */
static void finish_end(struct worker *w, uint32_t region, bool ended) {
    pthread_mutex_lock(&w->regions_lock);
    if (ended)
        w->regions[region] = (struct region){0};
    w->regions[region].ending = false;
    pthread_mutex_unlock(&w->regions_lock);
}

/* One of the arena or of the program's own memory. */
CUresult own_unshare_region(struct worker *w, struct frame *f, struct args_unshare_region *a) {
    struct region gone;
    CUresult r;

    (void)f;
    if (!a->region || a->region >= VCUDA_REGIONS_MAX || !begin_end(w, a->region, &gone))
        return CUDA_ERROR_INVALID_VALUE;
    r = unregister(w, &gone);
    if (r == CUDA_SUCCESS) {
        munmap((void *)gone.address, gone.bytes);
        vcuda_stats_add(&w->stats->pages, -(gone.bytes / VCUDA_PAGE));
    }
    finish_end(w, a->region, r == CUDA_SUCCESS);
    return r;
}

CUresult own_map_region(struct worker *w, struct frame *f, struct args_map_region *a) {
    const struct region fresh = {a->address, a->bytes, false, false};
    CUresult r = CUDA_ERROR_INVALID_VALUE;

    (void)f;
    pthread_mutex_lock(&taking);
    if (a->address >= ARENA_BASE && a->address < ARENA_END && a->bytes <= ARENA_END - a->address)
        r = take(w, a->region, a->address, a->bytes);
    if (r == CUDA_SUCCESS)
        publish(w, a->region, &fresh);
    else
        w->link.drop(&w->link);
    pthread_mutex_unlock(&taking);
    if (r != CUDA_SUCCESS)
        return r;
    if (w->base)
        regions_register(w);
    a->registered = w->regions[a->region].registered;
    return CUDA_SUCCESS;
}
