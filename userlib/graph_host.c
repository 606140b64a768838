// SPDX-License-Identifier: Apache-2.0
/* Whose buffers they are. */
#include "graph_host.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "capture.h"
#include "graph_uses.h"
#include "notes.h"
#include "wire.h"

pthread_mutex_t graph_uses_lock = PTHREAD_MUTEX_INITIALIZER;

static void release(void *data) {
    struct graph_uses *u = data;

    pthread_mutex_lock(&graph_uses_lock);
    graph_launch_forget(u);
    for (size_t i = 0; i < u->count; i++)
        graph_buffer_put(u->use[i].buffer);
    pthread_mutex_unlock(&graph_uses_lock);
    free(u->use);
    free(u);
}

/* The note of a name, made if there is none; NULL: out of memory. */
static struct graph_uses *uses_of(uint64_t owner) {
    struct graph_uses *u = notes_get(owner);

    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    if (notes_set(owner, notes_owner(owner), u, release))
        return u;
    free(u);
    return NULL;
}

bool graph_uses_add(struct graph_uses *u, const struct graph_use *use) {
    struct graph_use *more = realloc(u->use, (u->count + 1) * sizeof(*more));

    if (!more)
        return false;
    u->use = more;
    u->use[u->count++] = *use;
    use->buffer->refs++;
    return true;
}

/* Under the lock. */
static void take_out(struct graph_uses *u, size_t i) {
    graph_buffer_put(u->use[i].buffer);
    u->use[i] = u->use[--u->count];
}

/* What is in a graph that is in another one, the other has as well: the next such, or 0. */
static uint64_t next_outer(uint64_t *within, uint64_t graph) {
    *within = notes_owner(graph);
    return *within ? notes_owner(*within) : 0;
}

/* Of this owner, and of all that it is in. */
static CUresult add_to_all(uint64_t owner, struct graph_buffer *b, uint64_t node) {
    struct graph_use use = {b, node, 0, false};

    for (; owner; owner = next_outer(&use.within, owner)) {
        struct graph_uses *u = uses_of(owner);
        bool ok;

        if (!u)
            return CUDA_ERROR_OUT_OF_MEMORY;
        pthread_mutex_lock(&graph_uses_lock);
        ok = graph_uses_add(u, &use);
        pthread_mutex_unlock(&graph_uses_lock);
        if (!ok)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* A block of the owner's that stands for all of this memory, with a reference; or NULL. */
static struct graph_block *holder(uint64_t owner, uint64_t begin, uint64_t end) {
    const struct graph_uses *u = notes_get(owner);
    struct graph_block *found = NULL;

    pthread_mutex_lock(&graph_uses_lock);
    for (size_t i = 0; u && i < u->count && !found; i++) {
        struct graph_block *k = u->use[i].buffer->block;

        if (k->end && k->begin <= begin && end <= k->end)
            found = k;
    }
    if (found)
        found->refs++;
    pthread_mutex_unlock(&graph_uses_lock);
    return found;
}

static void put_block(struct graph_block *k) {
    pthread_mutex_lock(&graph_uses_lock);
    graph_block_put(k);
    pthread_mutex_unlock(&graph_uses_lock);
}

/* One side of a copy, if the GPU does not reach its memory. */
static CUresult replace(struct thread *t, uint64_t owner, uint64_t node, bool up,
                        struct vcuda_copy3d *c, struct graph_held *held) {
    struct vcuda_place *p = up ? &c->src : &c->dst;
    __u64 first = 0, bytes = vcuda_place_span(c, p, &first);
    struct graph_block *block;
    struct graph_buffer *b;
    CUresult r;

    if (p->type != VCUDA_PLACE_HOST || (bytes && arena_holds((const void *)first, bytes)))
        return CUDA_SUCCESS;
    block = holder(owner, first, first + bytes);
    r = graph_buffer_new(t, c, up, block, &b);
    if (r != CUDA_SUCCESS) {
        if (block)
            put_block(block);
        return r;
    }
    r = add_to_all(owner, b, node);
    held->buffer[up] = b;
    *p = b->image;
    pthread_mutex_lock(&graph_uses_lock);
    graph_buffer_put(b); /* those that use it have it now */
    pthread_mutex_unlock(&graph_uses_lock);
    return r;
}

CUresult graph_host_buffer(struct thread *t, uint64_t owner, uint64_t node, struct vcuda_copy3d *c,
                           struct graph_held *held) {
    CUresult r;

    *held = (struct graph_held){{NULL, NULL}};
    r = replace(t, owner, node, true, c, held);
    if (r == CUDA_SUCCESS)
        r = replace(t, owner, node, false, c, held);
    if (r != CUDA_SUCCESS)
        graph_host_undo(owner, held);
    return r;
}

static bool is_held(const struct graph_held *held, const struct graph_buffer *b) {
    return held && (b == held->buffer[0] || b == held->buffer[1]);
}

void graph_host_undo(uint64_t owner, const struct graph_held *held) {
    uint64_t within;

    for (; owner; owner = next_outer(&within, owner)) {
        struct graph_uses *u = notes_get(owner);

        pthread_mutex_lock(&graph_uses_lock);
        for (size_t i = u ? u->count : 0; i-- > 0;) {
            if (is_held(held, u->use[i].buffer))
                take_out(u, i);
        }
        pthread_mutex_unlock(&graph_uses_lock);
    }
}

void graph_host_settled(uint64_t owner, uint64_t node, const struct graph_held *held) {
    uint64_t within;

    for (; owner; owner = next_outer(&within, owner)) {
        struct graph_uses *u = notes_get(owner);

        pthread_mutex_lock(&graph_uses_lock);
        for (size_t i = 0; u && i < u->count; i++) {
            if (is_held(held, u->use[i].buffer))
                u->use[i].node = node;
        }
        pthread_mutex_unlock(&graph_uses_lock);
    }
}

CUresult graph_host_capture(struct thread *t, uint64_t graph, struct vcuda_copy3d *c,
                            struct graph_held *held) {
    CUresult r = capture_remember(graph);

    return r == CUDA_SUCCESS ? graph_host_buffer(t, graph, 0, c, held) : r;
}

CUresult graph_host_captured(struct thread *t, uint64_t graph, uint64_t stream,
                             const struct graph_held *held, CUresult r) {
    if (r == CUDA_SUCCESS)
        graph_host_settled(graph, capture_last_node(t, stream), held);
    else
        graph_host_undo(graph, held);
    return r;
}

bool graph_host_has(uint64_t owner) {
    const struct graph_uses *u = notes_get(owner);

    return u && u->count;
}

/* Under the lock. Its type is what the driver says of that memory. */
static void original_place(struct vcuda_copy3d *c, bool up) {
    struct vcuda_place *p = up ? &c->src : &c->dst;
    const struct graph_buffer *b = graph_buffer_find(c, up);
    uint32_t type = p->type;

    if (!b)
        return;
    *p = *graph_side(&b->copy, up);
    p->type = type;
}

void graph_host_original(struct vcuda_copy3d *c) {
    pthread_mutex_lock(&graph_uses_lock);
    original_place(c, true);
    original_place(c, false);
    pthread_mutex_unlock(&graph_uses_lock);
}

/* Under the lock. */
static bool add_those_of(struct graph_uses *u, const struct graph_uses *from, uint64_t within) {
    for (size_t i = 0; i < from->count; i++) {
        struct graph_use use = from->use[i];

        if (within)
            use.within = within;
        use.off = false;
        if (!graph_uses_add(u, &use))
            return false;
    }
    return true;
}

/* Under the lock: those that a child's node has, or (0) all. */
static void drop_within(struct graph_uses *u, uint64_t node) {
    for (size_t i = u->count; i-- > 0;) {
        if (!node || u->use[i].within == node)
            take_out(u, i);
    }
}

static CUresult inherit(uint64_t to, uint64_t from, uint64_t within, bool only) {
    struct graph_uses *f = notes_get(from), *u;
    bool ok = true;

    if (!f || !f->count)
        f = NULL;
    u = f || (only && notes_get(to)) ? uses_of(to) : NULL;
    if (!u)
        return f ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    pthread_mutex_lock(&graph_uses_lock);
    if (only)
        drop_within(u, within);
    if (f)
        ok = add_those_of(u, f, within);
    pthread_mutex_unlock(&graph_uses_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult graph_host_inherit(uint64_t to, uint64_t from, uint64_t within) {
    CUresult r = CUDA_SUCCESS;

    for (; to && r == CUDA_SUCCESS; to = next_outer(&within, to))
        r = inherit(to, from, within, false);
    return r;
}

CUresult graph_host_become(uint64_t to, uint64_t from) {
    return inherit(to, from, 0, true);
}

CUresult graph_host_child(uint64_t to, uint64_t node, uint64_t from) {
    return inherit(to, from, node, true);
}

/* The name in a copy of a node; of what is not in it, its own. */
static uint64_t copy_of(struct thread *t, uint64_t node, uint64_t clone) {
    uint64_t copy;

    return node && wire_cuGraphNodeFindInClone(t, &copy, node, clone) == CUDA_SUCCESS ? copy : node;
}

void graph_host_renumber(struct thread *t, uint64_t clone) {
    struct graph_uses *u = notes_get(clone);

    /* A graph is one thread's. */
    for (size_t i = 0; u && i < u->count; i++) {
        uint64_t node = u->use[i].node, within = u->use[i].within;

        if (within)
            within = copy_of(t, within, clone);
        else
            node = copy_of(t, node, clone);
        pthread_mutex_lock(&graph_uses_lock);
        u->use[i].node = node;
        u->use[i].within = within;
        pthread_mutex_unlock(&graph_uses_lock);
    }
}

/* Under the lock: a node's, else one that looks the same; NULL: none. */
static struct graph_use *use_of(const struct graph_uses *u, uint64_t node,
                                const struct vcuda_copy3d *c, bool up,
                                const struct graph_held *but) {
    struct graph_use *found = NULL;

    for (size_t i = 0; i < u->count; i++) {
        struct graph_use *use = &u->use[i];

        if (use->buffer->up != up || is_held(but, use->buffer))
            continue;
        if (use->node == node)
            return use;
        if (graph_buffer_is_in(use->buffer, c))
            found = use;
    }
    return found;
}

/* Under the lock. What the node has now does nothing either, if it did nothing. */
static void drop_one(struct graph_uses *u, uint64_t node, const struct vcuda_copy3d *c, bool up,
                     const struct graph_held *held) {
    struct graph_use *use = use_of(u, node, c, up, held);

    if (!use)
        return;
    for (size_t i = 0; i < u->count; i++)
        u->use[i].off |= use->off && is_held(held, u->use[i].buffer);
    take_out(u, (size_t)(use - u->use));
}

void graph_host_drop(uint64_t owner, uint64_t node, const struct vcuda_copy3d *c,
                     const struct graph_held *held) {
    uint64_t within;

    for (; owner; owner = next_outer(&within, owner)) {
        struct graph_uses *u = notes_get(owner);

        pthread_mutex_lock(&graph_uses_lock);
        for (int up = 0; u && up < 2; up++)
            drop_one(u, node, c, up, held);
        pthread_mutex_unlock(&graph_uses_lock);
    }
}

void graph_host_enable(uint64_t exec, uint64_t node, const struct vcuda_copy3d *c, bool on) {
    struct graph_uses *u = notes_get(exec);

    pthread_mutex_lock(&graph_uses_lock);
    for (int up = 0; u && up < 2; up++) {
        struct graph_use *use = use_of(u, node, c, up, NULL);

        if (use)
            use->off = !on;
    }
    pthread_mutex_unlock(&graph_uses_lock);
}
