// SPDX-License-Identifier: Apache-2.0
/* Primary contexts: retained, released, and reset meanwhile. */
#include <limits.h>
#include <pthread.h>

#include "barrier.h"
#include "cuda_calls.h"
#include "export/locals.h"
#include "guest.h"
#include "names.h"
#include "session.h"
#include "wire.h"

/*
 * The primary context of each device. Its name is the device's for as long as the process lives,
 * also while it is not active: as native. A reset ends it, and not who retained it: it becomes
 * active with the next who does. Written under the lock, which is the device's own: its context's
 * end waits for what may wait for another device's.
 */
static struct {
    pthread_mutex_t lock;
    uint64_t name;
    unsigned int retained;
    unsigned int flags;
} primaries[VCUDA_DEVICES_MAX];

__attribute__((constructor)) static void init_locks(void) {
    for (int i = 0; i < VCUDA_DEVICES_MAX; i++)
        pthread_mutex_init(&primaries[i].lock, NULL);
}

/* Under the lock: a device's primary context, active or not; NULL: out of memory. */
static struct context *primary_of(CUdevice dev) {
    if (!primaries[dev].name)
        vcuda_store_release(&primaries[dev].name, context_new(dev, primaries[dev].flags, true));
    return names_get(VCUDA_KIND_CONTEXT, primaries[dev].name);
}

CUresult context_primary(CUcontext *context, CUdevice dev) {
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

    pthread_mutex_lock(&primaries[dev].lock);
    if (primary_of(dev)) {
        *context = (CUcontext)primaries[dev].name;
        r = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&primaries[dev].lock);
    return r;
}

/* Without the lock, too: the context itself stays for good. */
static bool is_active(CUdevice dev) {
    uint64_t name = vcuda_load_acquire(&primaries[dev].name);

    return name && context_live(name);
}

/* Under the lock: the driver has it anew, under the name that it had. */
static CUresult activate(struct thread *t, CUdevice dev) {
    struct context *c = primary_of(dev);
    CUresult r = c ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    if (r == CUDA_SUCCESS)
        r = wire_cuDevicePrimaryCtxRetain(t, primaries[dev].name, dev, primaries[dev].flags);
    if (r != CUDA_SUCCESS)
        return r;
    c->flags = primaries[dev].flags;
    vcuda_store_once(&c->id, 0);
    vcuda_store_once(&c->sticky, 0);
    vcuda_store_release(&c->inactive, 0);
    return CUDA_SUCCESS;
}

/* Under the lock: nothing can be called in it any more, and what was made in it is gone. */
static void deactivate(CUdevice dev) {
    vcuda_store_release(&primary_of(dev)->inactive, 1);
    guest_changed();
    context_forget(primaries[dev].name);
}

/* What programs and their libraries keep with a primary context goes before it does. */
static void end_locals_of_primary(CUdevice dev, unsigned int last) {
    uint64_t name;
    bool ends;

    pthread_mutex_lock(&primaries[dev].lock);
    name = primaries[dev].name;
    ends = is_active(dev) && primaries[dev].retained <= last;
    pthread_mutex_unlock(&primaries[dev].lock);
    if (ends)
        context_locals_end((CUcontext)name, name);
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    struct thread *t;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primaries[dev].lock);
    if (!is_active(dev))
        r = activate(t, dev);
    if (r == CUDA_SUCCESS) {
        primaries[dev].retained++;
        *pctx = (CUcontext)primaries[dev].name;
    }
    pthread_mutex_unlock(&primaries[dev].lock);
    return r;
}

/*
 * Makes `end` of a device's primary context, under the lock. What is kept with the context goes
 * before, if it ends when `last` have retained it.
 */
static CUresult end_primary(CUdevice dev, unsigned int last,
                            CUresult (*end)(struct thread *t, CUdevice dev)) {
    struct thread *t;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    end_locals_of_primary(dev, last);
    pthread_mutex_lock(&primaries[dev].lock);
    r = end(t, dev);
    pthread_mutex_unlock(&primaries[dev].lock);
    return r;
}

static CUresult release(struct thread *t, CUdevice dev) {
    CUresult r = CUDA_SUCCESS;

    if (!primaries[dev].retained)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--primaries[dev].retained == 0 && is_active(dev)) {
        r = wire_cuDevicePrimaryCtxRelease_v2(t, primaries[dev].name, dev);
        deactivate(dev);
    }
    return r;
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    return end_primary(dev, 1, release);
}

static CUresult reset(struct thread *t, CUdevice dev) {
    CUresult r = wire_cuDevicePrimaryCtxReset_v2(t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    vcuda_store_once(&primaries[dev].flags, 0);
    if (is_active(dev))
        deactivate(dev);
    return CUDA_SUCCESS;
}

/*
 * The context's name stays valid, and it current where it was; calls in it fail until somebody
 * retains it. After a fault nobody can: the driver makes none. All as native, its flags too.
 */
VCUDA_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return end_primary(dev, UINT_MAX, reset);
}

/* Of a context that is there, although it may not be the current one. */
static CUresult set_flags(struct thread *t, uint64_t name, unsigned int flags) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, name);
    uint64_t current = t->context;
    CUresult r;

    guest_set_context(t, name);
    r = wire_cuCtxSetFlags(t, flags);
    guest_set_context(t, current);
    if (r == CUDA_SUCCESS && c)
        c->flags = flags;
    return r;
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
    struct thread *t;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    if (!context_flags_ok(flags))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&primaries[dev].lock);
    vcuda_store_once(&primaries[dev].flags, flags);
    if (is_active(dev))
        r = set_flags(t, primaries[dev].name, flags);
    pthread_mutex_unlock(&primaries[dev].lock);
    return r;
}

/* Does not wait for a context's end that is under way. */
VCUDA_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    struct thread *t;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = vcuda_load_once(&primaries[dev].flags);
    *active = is_active(dev);
    return CUDA_SUCCESS;
}
