// SPDX-License-Identifier: Apache-2.0
/* The arena's regions: mapped where the program has them, registered with the driver. */
#include <errno.h>
#include <string.h>

#include "log.h"
#include "worker.h"

/* Where the library puts regions; anything else is none of the guest's business. */
#define ARENA_BASE 0x200000000000ull
#define ARENA_END 0x210000000000ull

bool regions_hold(struct worker *w, uint64_t address, uint64_t bytes) {
    bool found = false;

    pthread_mutex_lock(&w->regions_lock);
    for (uint32_t i = 1; i < VCUDA_REGIONS_MAX && !found; i++) {
        const struct region *r = &w->regions[i];

        found = r->bytes && address - r->address < r->bytes &&
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

void regions_register(struct worker *w) {
    pthread_mutex_lock(&w->regions_lock);
    if (have_base(w) && w->driver.cuCtxSetCurrent(w->base) == CUDA_SUCCESS) {
        worker_forget_context();
        for (uint32_t i = 1; i < VCUDA_REGIONS_MAX; i++) {
            struct region *r = &w->regions[i];

            if (!r->bytes || r->registered)
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
    if (w->base)
        w->driver.cuDevicePrimaryCtxRelease_v2(w->gpus[0]);
    w->base = NULL;
    pthread_mutex_unlock(&w->regions_lock);
}

CUresult own_map_region(struct worker *w, struct frame *f, struct args_map_region *a) {
    struct region *r;
    int err;

    (void)f;
    if (!a->region || a->region >= VCUDA_REGIONS_MAX || w->regions[a->region].bytes || !a->bytes ||
        (a->address | a->bytes) % VCUDA_PAGE || a->address < ARENA_BASE ||
        a->address >= ARENA_END || a->bytes > ARENA_END - a->address)
        return CUDA_ERROR_INVALID_VALUE;
    err = w->link.map(&w->link, a->region, (void *)a->address, a->bytes);
    if (err) {
        vcuda_log(VCUDA_LOG_WARNING, "region %u cannot be mapped: %s", a->region, strerror(-err));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&w->regions_lock);
    r = &w->regions[a->region];
    r->address = a->address;
    r->bytes = a->bytes;
    pthread_mutex_unlock(&w->regions_lock);
    vcuda_stats_add(&w->stats->pages, a->bytes / VCUDA_PAGE);
    if (w->base)
        regions_register(w);
    a->registered = r->registered;
    return CUDA_SUCCESS;
}
