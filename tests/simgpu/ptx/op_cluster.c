// SPDX-License-Identifier: Apache-2.0
/*
 * Clusters: blocks that run side by side, wait for each other and reach each other's shared memory.
 * An address of .shared::cluster is an offset into the own block's shared memory, as of .shared, or
 * one with a block's rank above it. A block that is in no cluster is one of its own.
 */
#include "exec.h"
#include "load.h"

/* --- addresses --- */

#define RANK_SHIFT 24 /* above any offset; rank 0 is 1 there, for 0 is the own block */

/* The rank that an address of .shared::cluster names; -1: there is no such block. */
static int rank_of(const struct warp *w, uint64_t addr) {
    uint64_t rank = addr >> RANK_SHIFT;
    if (!rank)
        return (int)w->block->rank;
    return rank <= w->block->cluster->count ? (int)rank - 1 : -1;
}

/* The rank of the block whose shared memory a generic address lies in; -1: none. */
static int rank_of_generic(const struct warp *w, uint64_t addr) {
    const struct cluster *c = w->block->cluster;
    for (unsigned k = 0; k < c->count; k++)
        if (addr - (uint64_t)(uintptr_t)c->blocks[k].shared < w->grid->shared_bytes)
            return (int)k;
    return -1;
}

char *cluster_pointer(struct warp *w, uint64_t addr, size_t len) {
    uint64_t offset = addr & ((1ull << RANK_SHIFT) - 1), size = w->grid->shared_bytes;
    int rank = rank_of(w, addr);
    if (rank < 0 || offset >= size || size - offset < len)
        return NULL;
    return w->block->cluster->blocks[rank].shared + offset;
}

bool in_cluster(const struct warp *w, uint64_t addr, size_t len) {
    int rank = rank_of_generic(w, addr);
    if (rank < 0)
        return false;
    const char *shared = w->block->cluster->blocks[rank].shared;
    return w->grid->shared_bytes - (addr - (uint64_t)(uintptr_t)shared) >= len;
}

uint64_t cluster_to_generic(const struct warp *w, uint64_t addr) {
    int rank = rank_of(w, addr);
    uint64_t offset = addr & ((1ull << RANK_SHIFT) - 1);
    return rank < 0 ? 0 : (uint64_t)(uintptr_t)w->block->cluster->blocks[rank].shared + offset;
}

uint64_t generic_to_cluster(const struct warp *w, uint64_t addr) {
    int rank = rank_of_generic(w, addr);
    if (rank < 0)
        return 0;
    return (addr - (uint64_t)(uintptr_t)w->block->cluster->blocks[rank].shared) |
           ((uint64_t)rank + 1) << RANK_SHIFT;
}

/* --- mapa, getctarank: i->space is SP_CLUSTER, or generic --- */

static uint64_t get(const struct warp *w, uint32_t ref, unsigned size, int l) {
    return size == 8 ? ((const uint64_t *)at(w, ref))[l] : ((const uint32_t *)at(w, ref))[l];
}

/* The same place in another block's shared memory; 0 for what is not in shared memory. */
static uint64_t map_to(const struct warp *w, const struct insn *i, uint64_t addr, uint32_t rank) {
    uint64_t offset;
    if (rank >= w->block->cluster->count)
        return 0;
    if (i->space == SP_CLUSTER)
        offset = addr & ((1ull << RANK_SHIFT) - 1);
    else if (rank_of_generic(w, addr) < 0)
        return 0;
    else
        offset = generic_to_cluster(w, addr) & ((1ull << RANK_SHIFT) - 1);
    uint64_t there = offset | ((uint64_t)rank + 1) << RANK_SHIFT;
    return i->space == SP_CLUSTER ? there : cluster_to_generic(w, there);
}

static enum step exec_mapa(struct warp *w, const struct insn *i, uint32_t mask) {
    const uint32_t *rank = at(w, i->b);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t v = map_to(w, i, get(w, i->a, i->size, l), rank[l]);
        if (i->size == 8)
            ((uint64_t *)at(w, i->d))[l] = v;
        else
            ((uint32_t *)at(w, i->d))[l] = (uint32_t)v;
    }
    return STEP_NEXT;
}

static enum step exec_getctarank(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t addr = get(w, i->a, i->size, l);
        d[l] = (uint32_t)(i->space == SP_CLUSTER ? rank_of(w, addr) : rank_of_generic(w, addr));
    }
    return STEP_NEXT;
}

static void build_mapa_or_rank(struct loader *ld, struct stmt *st, bool mapa) {
    enum space space = take_space(ld);
    enum type t = need_type(ld);
    uint32_t b = 0;

    if (!need_ops(ld, mapa ? 3 : 2))
        return;
    if ((t != T_U32 && t != T_U64) || (space != SP_CLUSTER && space != SP_GENERIC) ||
        (space == SP_GENERIC && t != T_U64)) {
        st_refuse(ld, "this type or state space");
        return;
    }
    uint32_t a = src(ld, &st->op[1], t);
    if (mapa)
        b = src(ld, &st->op[2], T_U32);
    uint32_t d = dst(ld, &st->op[0], mapa ? t : T_U32);
    struct insn *i = emit(ld, mapa ? exec_mapa : exec_getctarank);
    i->d = d;
    i->a = a;
    i->b = b;
    i->size = (uint8_t)type_size(t);
    i->space = (uint8_t)space;
}

static void build_mapa(struct loader *ld, struct stmt *st) {
    build_mapa_or_rank(ld, st, true);
}

static void build_getctarank(struct loader *ld, struct stmt *st) {
    build_mapa_or_rank(ld, st, false);
}

/* --- barrier.cluster: every thread arrives, and waits until all others that are left have --- */

static enum step exec_arrive(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)i;
    w->cluster_arrived |= mask;
    return STEP_NEXT;
}

/* A lane whose arrival was counted already goes on. */
static enum step exec_wait(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t blocked = mask & w->cluster_arrived;
    (void)i;
    if (!blocked)
        return STEP_NEXT;
    for (uint32_t m = blocked; m; m &= m - 1)
        w->bar_id[__builtin_ctz(m)] = CLUSTER_BARRIER;
    park(w, blocked, w->pc);
    park(w, w->active & ~blocked, w->pc + 1);
    w->at_bar |= blocked;
    return STEP_SELECT;
}

static bool all_arrived(const struct cluster *c) {
    uint32_t any = 0;
    for (unsigned k = 0; k < c->count; k++)
        for (unsigned n = 0; n < c->blocks[k].grid->warps; n++) {
            const struct warp *w = &c->blocks[k].warps[n];
            if (w->live & ~w->cluster_arrived)
                return false;
            any |= w->live;
        }
    return any != 0;
}

bool release_cluster(struct cluster *c) {
    if (!all_arrived(c))
        return false;
    for (unsigned k = 0; k < c->count; k++)
        for (unsigned n = 0; n < c->blocks[k].grid->warps; n++) {
            struct warp *w = &c->blocks[k].warps[n];
            w->cluster_arrived = 0;
            for (uint32_t m = w->at_bar; m; m &= m - 1) {
                int l = __builtin_ctz(m);
                if (w->bar_id[l] != CLUSTER_BARRIER)
                    continue;
                w->lane_pc[l]++;
                w->at_bar &= ~(1u << l);
            }
        }
    return true;
}

void build_cluster_barrier(struct loader *ld, struct stmt *st) {
    bool arrive = take(st, "arrive");
    if (!arrive && !take(st, "wait")) {
        st_syntax(ld, ".arrive or .wait is missing");
        return;
    }
    if (arrive && !take(st, "release"))
        take(st, "relaxed");
    else if (!arrive)
        take(st, "acquire");
    take(st, "aligned");
    if (need_ops(ld, 0))
        emit(ld, arrive ? exec_arrive : exec_wait);
}

/* --- mov p, %is_explicit_cluster --- */

static enum step exec_explicit(struct warp *w, const struct insn *i, uint32_t mask) {
    set_pred(w, i->d, mask, w->grid->explicit_cluster ? FULL : 0);
    return STEP_NEXT;
}

void build_explicit_cluster(struct loader *ld, struct stmt *st) {
    uint32_t d = dst_pred_operand(ld, &st->op[0]);
    emit(ld, exec_explicit)->d = d;
}

const struct opcode ops_cluster[] = {
    {"mapa", build_mapa}, {"getctarank", build_getctarank}, {NULL, NULL}};
