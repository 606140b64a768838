// SPDX-License-Identifier: Apache-2.0
/*
 * Running a warp: which of its lanes go on together, and for how long.
 *
 * Lanes that branch apart run in groups. The group with the deepest call, then the lowest pc, goes
 * first and waits at the next label for nobody above it: so groups meet again where the control
 * flow joins. Lanes can only meet at labels and where a function returns. A group that keeps others
 * waiting for a whole slice lets one of them run for the next, so that a lane that holds a lock
 * gets to release it.
 */
#include "exec.h"

#include <stdarg.h>
#include <stdio.h>

#define SLICE 1024 /* labels until the launch's state is looked at */
#define TURN 64    /* slices until other warps go on */

enum step fault(struct warp *w, const struct insn *i, int lane, enum ptx_status status,
                const char *fmt, ...) {
    struct grid *g = w->grid;
    int none = PTX_OK;

    if (atomic_compare_exchange_strong(&g->status, &none, (int)status)) {
        if (g->msg && g->msg_size) {
            char what[160];
            va_list ap;
            va_start(ap, fmt);
            vsnprintf(what, sizeof(what), fmt, ap);
            va_end(ap);
            snprintf(g->msg, g->msg_size, "%s: line %u, block (%u,%u,%u), thread (%u,%u,%u): %s",
                     g->f->name, i->line, w->block->ctaid[0], w->block->ctaid[1],
                     w->block->ctaid[2], w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], what);
        }
    }
    atomic_store(&g->stop, true);
    return STEP_FAULT;
}

/* The lanes of `among` that stand where `lane` stands. */
static uint32_t group_of(const struct warp *w, uint32_t among, int lane) {
    uint32_t group = 0;
    for (; among; among &= among - 1) {
        int l = __builtin_ctz(among);
        if (w->lane_pc[l] == w->lane_pc[lane] && w->lane_frame[l] == w->lane_frame[lane])
            group |= 1u << l;
    }
    return group;
}

static int deepest_first(const struct warp *w, uint32_t among) {
    int best = __builtin_ctz(among);
    for (; among; among &= among - 1) {
        int l = __builtin_ctz(among);
        if (w->lane_frame[l] > w->lane_frame[best] ||
            (w->lane_frame[l] == w->lane_frame[best] && w->lane_pc[l] < w->lane_pc[best]))
            best = l;
    }
    return best;
}

/* The next lane in turn that was not running just now. */
static int next_in_turn(struct warp *w, uint32_t among) {
    uint32_t others = among & ~w->active;
    if (!others)
        others = among;
    uint32_t above = w->rotor < 31 ? others & (FULL << (w->rotor + 1)) : 0;
    w->rotor = (uint32_t)__builtin_ctz(above ? above : others);
    return (int)w->rotor;
}

static void run_group(struct warp *w, uint32_t runnable, int lane) {
    w->active = group_of(w, runnable, lane);
    w->pc = w->lane_pc[lane];
    w->frame = w->lane_frame[lane];
    w->base[0] = w->regs + (w->frame >> 32);
    w->stop_pc = UINT32_MAX;
    if (w->forced)
        return;
    for (uint32_t m = runnable & ~w->active; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (w->lane_frame[l] == w->frame && w->lane_pc[l] < w->stop_pc)
            w->stop_pc = w->lane_pc[l];
    }
}

/* Chooses who goes on; every pc is stored. False: nobody can. */
static bool select_group(struct warp *w) {
    uint32_t runnable = w->live & ~w->at_bar & ~w->at_sync;
    if (!runnable) {
        w->active = 0;
        return false;
    }
    run_group(w, runnable, w->forced ? next_in_turn(w, runnable) : deepest_first(w, runnable));
    return true;
}

static enum step end_slice(struct warp *w, const struct insn *i) {
    const struct ptx_launch *launch = w->grid->launch;
    bool apart = w->active != (w->live & ~w->at_bar & ~w->at_sync);

    w->fuel = SLICE;
    if (launch->cancel && *launch->cancel)
        return fault(w, i, __builtin_ctz(w->active), PTX_ERR_LAUNCH_TIMEOUT, "ended from outside");
    if (atomic_load_explicit(&w->grid->stop, memory_order_relaxed))
        return STEP_FAULT;
    bool turn_over = --w->slices <= 0;
    if (!apart && !turn_over) {
        w->forced = false;
        return STEP_NEXT;
    }
    park(w, w->active, w->pc);
    w->forced = apart && !w->forced;
    return turn_over ? STEP_YIELD : STEP_SELECT;
}

enum step exec_label(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)mask;
    if (--w->fuel <= 0)
        return end_slice(w, i);
    if (w->pc < w->stop_pc)
        return STEP_NEXT;
    park(w, w->active, w->pc);
    return STEP_SELECT;
}

void retire(struct warp *w, uint32_t lanes) {
    w->live &= ~lanes;
    w->active &= ~lanes;
    w->at_sync = 0; /* those who waited for these look again */
}

/* Waits of lanes for lanes that will never come. */
static enum run stuck(struct warp *w) {
    int lane = __builtin_ctz(w->at_sync);
    fault(w, &w->code[w->lane_pc[lane]], lane, PTX_ERR_LAUNCH_TIMEOUT,
          "waits for lanes that never come");
    return RUN_FAULT;
}

/* Lanes that stand at this instruction, or at any bar.warp.sync if this is one. */
static uint32_t arrived(const struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t pc = (uint32_t)(i - w->code);

    for (uint32_t m = w->at_sync; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        bool same = w->lane_pc[l] == pc && w->lane_frame[l] == w->frame;
        if (same || (i->flags & F_ALT && w->code[w->lane_pc[l]].exec == i->exec))
            mask |= 1u << l;
    }
    return mask;
}

bool gather(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members,
            uint32_t *ready) {
    uint32_t here = arrived(w, i, mask), met = 0, pc = (uint32_t)(i - w->code);

    *ready = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (members[l] & w->live & ~here)
            continue;
        *ready |= 1u << l;
        met |= (members[l] & here) | 1u << l;
    }
    if (*ready == mask && here == mask)
        return true;
    park(w, w->active & ~mask, pc + 1);
    park(w, mask, pc);
    w->at_sync = (w->at_sync | mask) & ~met;
    if (i->flags & F_ALT) {
        for (uint32_t m = met; m; m &= m - 1)
            w->lane_pc[__builtin_ctz(m)]++;
    } else if (met & ~mask) {
        *ready = 0; /* those who waited and those who came run it again as one group */
    } else {
        park(w, *ready, pc + 1);
    }
    return false;
}

enum run run_warp(struct warp *w) {
    w->fuel = SLICE;
    w->slices = TURN;
    w->forced = false;
    if (!select_group(w))
        return w->live ? RUN_BLOCKED : RUN_DONE;
    for (;;) {
        const struct insn *i = &w->code[w->pc];
        uint32_t mask = w->active & pred(w, i->guard);
        if (!mask) {
            w->pc++;
            continue;
        }
        switch (i->exec(w, i, mask)) {
        case STEP_NEXT:
            w->pc++;
            continue;
        case STEP_JUMP:
            continue;
        case STEP_SELECT:
            if (select_group(w))
                continue;
            if (!w->live)
                return RUN_DONE;
            if (w->at_sync && !w->at_bar)
                return stuck(w);
            return RUN_BLOCKED;
        case STEP_YIELD:
            return RUN_YIELD;
        case STEP_FAULT:
            return RUN_FAULT;
        }
    }
}
