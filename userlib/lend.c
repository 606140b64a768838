// SPDX-License-Identifier: Apache-2.0
/*
 * Calls about an object by a thread that has no context current. The driver makes them where the
 * object belongs (seen; a default stream belongs nowhere): here the thread is lent that context,
 * until it enters its next call.
 */
#include "arena.h"
#include "code.h"
#include "cuda_calls.h"
#include "guest.h"
#include "ranges.h"

static CUresult lend(struct thread *t, uint64_t name) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, name);

    if (!c || vcuda_load_acquire(&c->inactive))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    guest_set_context(t, name);
    t->now = c;
    t->lent = true;
    return CUDA_SUCCESS;
}

/* Where an object that is named here belongs; 0: nowhere, or it does not exist. */
static uint64_t context_of(enum vcuda_kind kind, const void *object) {
    switch (kind) {
    case VCUDA_KIND_STREAM:
        return ((const struct stream *)object)->context;
    case VCUDA_KIND_EVENT:
        return ((const struct event *)object)->context;
    case VCUDA_KIND_MODULE:
        return ((const struct module *)object)->context;
    case VCUDA_KIND_FUNCTION:
        return ((const struct function *)object)->context;
    default:
        return 0;
    }
}

CUresult guest_lend_of(struct thread *t, enum vcuda_kind kind, const void *handle) {
    const void *object;

    if (kind >= VCUDA_KIND_OF_WORKER) /* the worker knows where that is */
        return guest_check(kind, handle);
    object = names_get(kind, (uint64_t)handle);
    if (object)
        return lend(t, context_of(kind, object));
    return kind == VCUDA_KIND_STREAM ? CUDA_ERROR_INVALID_CONTEXT : guest_check(kind, handle);
}

CUresult guest_enter_memory(struct thread **t, uint64_t address) {
    struct arena_block block;
    struct range range;
    CUresult r = guest_enter(t);

    if (r != CUDA_ERROR_INVALID_CONTEXT)
        return r;
    if (arena_find((const void *)address, 1, &block))
        return lend(*t, block.context);
    /* What a pool gave belongs to no context. */
    return ranges_find(address, 1, &range) && range.context ? lend(*t, range.context) : r;
}
