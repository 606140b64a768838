// SPDX-License-Identifier: Apache-2.0
/*
 * Barriers of a block. Threads arrive one by one, as on GPUs since Volta; a warp whose last thread
 * arrives counts as 32, for the counts that a program gives are whole warps.
 */
#include "exec.h"
#include "load.h"

enum { RED_NONE, RED_POPC, RED_AND, RED_OR };

static uint32_t waiting(const struct warp *w, uint32_t id) {
    uint32_t lanes = 0;
    for (uint32_t m = w->at_bar; m; m &= m - 1)
        if (w->bar_id[__builtin_ctz(m)] == id)
            lanes |= m & -m;
    return lanes;
}

static uint32_t threads_of(const struct warp *w, uint32_t lanes) {
    return lanes == w->live && lanes ? WARP : (uint32_t)__builtin_popcount(lanes);
}

static bool complete(const struct block *b, uint32_t id) {
    const struct barrier *bar = &b->bars[id];
    uint32_t here = bar->arrived, lanes_here = 0, alive = 0;

    for (unsigned k = 0; k < b->grid->warps; k++) {
        uint32_t lanes = waiting(&b->warps[k], id);
        here += threads_of(&b->warps[k], lanes);
        lanes_here += (uint32_t)__builtin_popcount(lanes);
        alive += (uint32_t)__builtin_popcount(b->warps[k].live);
    }
    if (!lanes_here)
        return false;
    return bar->expected ? here >= bar->expected : lanes_here + bar->arrived >= alive;
}

/* What bar.red gives, into the registers of lanes that wait at their instruction. */
static void give_result(struct warp *w, int l, const struct barrier *bar) {
    const struct insn *i = &w->code[w->lane_pc[l]];
    char *frame = w->regs + (w->lane_frame[l] >> 32);

    if (i->op == RED_POPC) {
        ((uint32_t *)(void *)(frame + i->d))[l] = bar->votes;
    } else if (i->op != RED_NONE) {
        uint32_t *p = (uint32_t *)(void *)(frame + i->d);
        bool v = i->op == RED_AND ? bar->votes == bar->count : bar->votes != 0;
        *p = (*p & ~(1u << l)) | (uint32_t)v << l;
    }
}

bool release_barriers(struct block *b) {
    bool any = false;

    for (uint32_t id = 0; id < BARRIERS; id++) {
        struct barrier *bar = &b->bars[id];
        if (!bar->in_use || !complete(b, id))
            continue;
        for (unsigned k = 0; k < b->grid->warps; k++) {
            struct warp *w = &b->warps[k];
            uint32_t lanes = waiting(w, id);
            for (uint32_t m = lanes; m; m &= m - 1) {
                give_result(w, __builtin_ctz(m), bar);
                w->lane_pc[__builtin_ctz(m)]++;
            }
            w->at_bar &= ~lanes;
        }
        *bar = (struct barrier){0};
        any = true;
    }
    return any;
}

static enum step exec_bar(struct warp *w, const struct insn *i, uint32_t mask) {
    int lane = __builtin_ctz(mask);
    uint32_t id = ((const uint32_t *)at(w, i->a))[lane];
    uint32_t expected = i->flags & F_HASC ? ((const uint32_t *)at(w, i->b))[lane] : 0;
    uint32_t votes = (uint32_t)__builtin_popcount(pred(w, i->c) & mask);

    if (id >= BARRIERS || expected > 2048)
        return fault(w, i, lane, PTX_ERR_ILLEGAL_INSTRUCTION, "there is no barrier %u of %u", id,
                     expected);
    struct barrier *bar = &w->block->bars[id];
    bar->in_use = true;
    bar->expected = expected;
    if (i->flags & F_ALT) { /* arrive: and go on */
        bar->arrived += threads_of(w, mask);
        return STEP_NEXT;
    }
    bar->count += (uint32_t)__builtin_popcount(mask);
    bar->votes += votes;
    for (uint32_t m = mask; m; m &= m - 1)
        w->bar_id[__builtin_ctz(m)] = (uint8_t)id;
    park(w, mask, w->pc);
    park(w, w->active & ~mask, w->pc + 1);
    w->at_bar |= mask;
    return STEP_SELECT;
}

/* --- bar.warp.sync --- */

static enum step exec_warp_sync(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t ready;
    return gather(w, i, mask, at(w, i->a), &ready) ? STEP_NEXT : STEP_SELECT;
}

static void build_warp_sync(struct loader *ld, struct stmt *st) {
    if (!take(st, "sync"))
        st_syntax(ld, ".sync is missing");
    if (!need_ops(ld, 1))
        return;
    uint32_t a = src(ld, &st->op[0], T_B32);
    struct insn *i = emit(ld, exec_warp_sync);
    i->a = a;
    i->flags = F_ALT;
}

/* --- building --- */

/* [d,] a [, b] [, c]: b is there if the count of operands says so. */
static void build_bar_ops(struct loader *ld, bool arrive, int red, enum type t) {
    struct stmt *st = ld->st;
    unsigned first = red ? 1 : 0, fixed = red ? 3 : 1;
    bool with_count = st->op_count == fixed + 1;
    uint32_t d = 0, c = PRED_TRUE, b = 0;

    if ((!with_count && st->op_count != fixed) || (arrive && !with_count)) {
        st_syntax(ld, "wrong number of operands");
        return;
    }
    uint32_t a = src(ld, &st->op[first], T_B32);
    if (with_count)
        b = src(ld, &st->op[first + 1], T_B32);
    if (red) {
        c = src_pred(ld, &st->op[st->op_count - 1]);
        d = t == T_PRED ? dst_pred_operand(ld, &st->op[0]) : dst(ld, &st->op[0], t);
    }
    struct insn *i = emit(ld, exec_bar);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = c;
    i->op = (uint8_t)red;
    i->flags = (uint8_t)((with_count ? F_HASC : 0) | (arrive ? F_ALT : 0));
}

static void build_bar(struct loader *ld, struct stmt *st) {
    enum type t = T_NONE;
    int red = RED_NONE;

    if (take(st, "warp")) {
        build_warp_sync(ld, st);
        return;
    }
    take(st, "cta");
    if (take(st, "cluster")) {
        build_cluster_barrier(ld, st);
        return;
    }
    bool arrive = take(st, "arrive"), sync = !arrive && take(st, "sync");
    if (!arrive && !sync) {
        if (!take(st, "red")) {
            st_refuse(ld, "");
            return;
        }
        red = take(st, "popc")  ? RED_POPC
              : take(st, "and") ? RED_AND
              : take(st, "or")  ? RED_OR
                                : -1;
        t = need_type(ld);
        if (red < 0 || t != (red == RED_POPC ? T_U32 : T_PRED)) {
            st_syntax(ld, "impossible operation or type");
            return;
        }
    }
    take(st, "aligned");
    build_bar_ops(ld, arrive, red, t);
}

/* --- nanosleep: other warps go first --- */

static enum step exec_nanosleep(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)i, (void)mask;
    w->fuel = 0;
    w->slices = 0;
    return STEP_NEXT;
}

static void build_nanosleep(struct loader *ld, struct stmt *st) {
    if (need_type(ld) != T_U32)
        st_syntax(ld, "impossible type");
    if (!need_ops(ld, 1))
        return;
    src(ld, &st->op[0], T_U32);
    emit(ld, exec_nanosleep);
}

const struct opcode ops_bar[] = {
    {"bar", build_bar}, {"barrier", build_bar}, {"nanosleep", build_nanosleep}, {NULL, NULL}};
