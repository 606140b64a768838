// SPDX-License-Identifier: Apache-2.0
#include "pools.h"

#include <stdlib.h>

#include "barrier.h"
#include "memory.h"
#include "shared.h"
#include "worker.h"

struct pool {
    CUmemoryPool native;
    uint64_t taken; /* bytes that were taken for it */
    uint64_t told;  /* of a shared one, what vcudad knows of them */
    uint32_t hold;  /* of a shared one (shared.h); else 0 */
    bool imported;  /* another session counts it */
    struct pool *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools;
static uint64_t graphs_taken[VCUDA_DEVICES_MAX];
static uint32_t graphs_hold;
static uint32_t any_freed;

/* Under the lock. NULL: out of memory. */
static struct pool *find(CUmemoryPool native) {
    struct pool *p = pools;

    while (p && p->native != native)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->native = native;
    p->next = pools;
    pools = p;
    return p;
}

/* Makes what was taken what is held. False: it is more than the limit leaves; taken it is even so.
 */
static bool settle(uint64_t *taken, uint64_t held) {
    bool ok = true;

    if (held < *taken) {
        memory_give_back(*taken - held);
    } else if (held > *taken) {
        ok = memory_take(held - *taken);
        if (!ok)
            memory_take_over(held - *taken);
    }
    *taken = held;
    return ok;
}

/* Under the lock. */
static bool look(struct worker *w, struct pool *p) {
    cuuint64_t held = p->taken;
    bool ok;

    if (p->imported)
        return true;
    w->driver.cuMemPoolGetAttribute(p->native, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held);
    ok = settle(&p->taken, held);
    if (p->hold && p->told != p->taken && shared_resize(p->hold, p->taken))
        p->told = p->taken;
    return ok;
}

/* Under the lock. */
static void look_at_all(struct worker *w) {
    for (struct pool *p = pools; p; p = p->next)
        look(w, p);
    for (int i = 0; vcuda_load_once(&graphs_hold) && i < w->gpu_count; i++) {
        cuuint64_t held = graphs_taken[i];
        CUdevice device;

        if (worker_device(w, i, &device) == CUDA_SUCCESS &&
            w->driver.cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                                   &held) == CUDA_SUCCESS)
            settle(&graphs_taken[i], held);
    }
}

void pools_look_at_all(struct worker *w) {
    pthread_mutex_lock(&lock);
    look_at_all(w);
    pthread_mutex_unlock(&lock);
}

bool pools_take_any(struct worker *w, uint64_t bytes) {
    if (memory_take(bytes))
        return true;
    pools_look_at_all(w);
    return memory_take(bytes);
}

bool pools_take(struct worker *w, CUmemoryPool native, uint64_t bytes) {
    cuuint64_t used = 0;
    uint64_t idle, need;
    struct pool *p;
    bool ok = false;

    pthread_mutex_lock(&lock);
    p = find(native);
    if (p && p->imported) {
        ok = true; /* for the driver to refuse */
    } else if (p) {
        look(w, p);
        w->driver.cuMemPoolGetAttribute(native, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
        idle = p->taken > used ? p->taken - used : 0;
        need = bytes > idle ? bytes - idle : 0;
        ok = memory_take(need);
        if (!ok) {
            look_at_all(w);
            ok = memory_take(need);
        }
        if (ok)
            p->taken += need;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

bool pools_look(struct worker *w, CUmemoryPool native) {
    struct pool *p;
    bool ok;

    pthread_mutex_lock(&lock);
    p = find(native);
    ok = !p || look(w, p);
    pthread_mutex_unlock(&lock);
    return ok;
}

void pools_end(CUmemoryPool native) {
    struct pool **at = &pools, *p;

    pthread_mutex_lock(&lock);
    while (*at && (*at)->native != native)
        at = &(*at)->next;
    p = *at;
    if (p)
        *at = p->next;
    pthread_mutex_unlock(&lock);
    if (!p)
        return;
    shared_leave(p->hold);
    settle(&p->taken, memory_leave_pool(native));
    free(p);
}

uint32_t pools_hold(CUmemoryPool native, uint64_t *bytes) {
    struct pool *p;
    uint32_t hold;

    pthread_mutex_lock(&lock);
    p = find(native);
    hold = p ? p->hold : 0;
    *bytes = p ? p->taken : 0;
    pthread_mutex_unlock(&lock);
    return hold;
}

void pools_set_hold(struct worker *w, CUmemoryPool native, uint32_t hold) {
    struct pool *p;

    pthread_mutex_lock(&lock);
    p = find(native);
    if (p) {
        p->hold = hold;
        look(w, p);
    }
    pthread_mutex_unlock(&lock);
}

void pools_imported(CUmemoryPool native, uint32_t hold) {
    struct pool *p;

    pthread_mutex_lock(&lock);
    p = find(native);
    if (p) {
        p->hold = hold;
        p->imported = true;
    }
    pthread_mutex_unlock(&lock);
}

void pools_graph_launched(struct worker *w) {
    if (vcuda_load_once(&graphs_hold))
        pools_look_at_all(w);
}

void pools_graphs_hold(void) {
    vcuda_store_once(&graphs_hold, 1);
}

void pools_free(void) {
    vcuda_store_once(&any_freed, 1);
}

bool pools_freed(void) {
    return vcuda_load_once(&any_freed);
}
