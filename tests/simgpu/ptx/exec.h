/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions see while they run: the warp, its block, its grid. */
#ifndef PTX_EXEC_H
#define PTX_EXEC_H

#include <stdatomic.h>
#include <string.h>

#include "ir.h"

#define BARRIERS 16
#define CLUSTER_BARRIER BARRIERS /* in bar_id: the one of the cluster */
#define RANGES 8

/* Ranges of device memory that this host thread has been told it may touch. */
struct ranges {
    struct {
        uint64_t base, size; /* size 0: unused */
    } r[RANGES];
    unsigned next;
};

struct barrier {
    uint32_t arrived;      /* by bar.arrive */
    uint32_t expected;     /* threads; 0: all of the block */
    uint32_t count, votes; /* bar.red: threads asked, predicates true */
    bool in_use;
};

struct grid {
    const struct ptx_module *m;
    const struct func *f;
    const struct ptx_launch *launch;
    const char *params;
    uint64_t total, threads; /* blocks, threads of one block */
    unsigned cluster[3];     /* blocks, at least 1 */
    bool explicit_cluster;   /* somebody asked for it */
    unsigned cluster_blocks; /* all of them */
    uint64_t clusters;
    uint64_t shared_bytes, dynamic_at;
    size_t regs_bytes, local_bytes; /* for a warp, for a lane */
    unsigned warps;                 /* of a block */
    uint64_t workspace;             /* cooperative launches: what %envreg1 and 2 point to */
    _Atomic uint64_t next_cluster;
    _Atomic int status;
    _Atomic bool stop;
    char *msg;
    size_t msg_size;
};

/* Blocks that run side by side. */
struct cluster {
    struct block *blocks;
    unsigned count;
    uint32_t id[3];
    bool done;
};

struct block {
    struct grid *grid;
    struct cluster *cluster;
    uint32_t rank, place[3]; /* in it */
    uint32_t ctaid[3];
    uint64_t index;
    char *shared;
    char *memory; /* registers, local and shared memory of all warps, one mapping */
    struct warp *warps;
    struct barrier bars[BARRIERS];
    bool done;
};

struct warp {
    char *base[2]; /* frame of the running function, constants */
    uint32_t pc;
    uint32_t active;          /* lanes that run together */
    uint32_t live;            /* lanes that have not exited */
    uint32_t at_bar, at_sync; /* lanes that wait: for the block, for lanes of this warp */
    uint32_t cluster_arrived; /* lanes whose arrival at the cluster's barrier is not yet counted */
    uint32_t stop_pc;         /* lower pcs belong to the active lanes alone */
    uint32_t cc;              /* carry, by lane */
    int32_t fuel;             /* labels until the slice ends */
    int32_t slices;           /* until other warps get their turn */
    uint32_t rotor;           /* the lane that was last preferred */
    bool forced;              /* running out of order, for fairness */
    uint64_t frame;           /* of the active lanes: registers << 32 | local memory */
    const struct insn *code;
    struct grid *grid;
    struct block *block;
    struct ranges *ranges;
    char *regs, *local;
    unsigned index;
    uint32_t lane_pc[WARP];
    uint64_t lane_frame[WARP];
    uint8_t bar_id[WARP];
    uint32_t tid[3][WARP];
};

static inline void *at(const struct warp *w, uint32_t ref) {
    return w->base[ref & 1] + (ref & ~1u);
}

static inline uint32_t pred(const struct warp *w, uint32_t ref) {
    uint32_t flip = ref & PRED_NOT ? FULL : 0;
    if (ref & 1)
        return FULL ^ flip;
    return *(const uint32_t *)(w->base[0] + (ref & ~3u)) ^ flip;
}

static inline void set_pred(struct warp *w, uint32_t ref, uint32_t mask, uint32_t value) {
    uint32_t *p = (uint32_t *)(w->base[0] + (ref & ~3u));
    *p = (*p & ~mask) | (value & mask);
}

static inline char *lane_local(const struct warp *w, int lane) {
    return w->local + (size_t)lane * w->grid->local_bytes;
}

/*
 * Runs the statement for each lane of the mask as `l`. Lanes are independent of each other, so the
 * full warp may become vector code.
 */
#define LANES(mask, ...)                                                                           \
    do {                                                                                           \
        if ((mask) == FULL) {                                                                      \
            _Pragma("GCC ivdep") for (int l = 0; l < WARP; l++) {                                  \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t left_ = (mask); left_; left_ &= left_ - 1) {                             \
                int l = __builtin_ctz(left_);                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* An instruction d = f(a), d = f(a, b), d = f(a, b, c) by lane. */
#define EXEC1(name, TD, TA, expr)                                                                  \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        TD *d = at(w, i->d);                                                                       \
        const TA *pa = at(w, i->a);                                                                \
        LANES(mask, TA a = pa[l]; d[l] = (TD)(expr));                                              \
        return STEP_NEXT;                                                                          \
    }
#define EXEC2(name, TD, TA, TB, expr)                                                              \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        TD *d = at(w, i->d);                                                                       \
        const TA *pa = at(w, i->a);                                                                \
        const TB *pb = at(w, i->b);                                                                \
        LANES(mask, TA a = pa[l]; TB b = pb[l]; d[l] = (TD)(expr));                                \
        return STEP_NEXT;                                                                          \
    }
#define EXEC3(name, TD, TA, TB, TC, expr)                                                          \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        TD *d = at(w, i->d);                                                                       \
        const TA *pa = at(w, i->a);                                                                \
        const TB *pb = at(w, i->b);                                                                \
        const TC *pc = at(w, i->c);                                                                \
        LANES(mask, TA a = pa[l]; TB b = pb[l]; TC c = pc[l]; d[l] = (TD)(expr));                  \
        return STEP_NEXT;                                                                          \
    }

/* Ends the launch; the first fault is the one that is told. */
enum step fault(struct warp *w, const struct insn *i, int lane, enum ptx_status status,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* --- memory (memory.c) --- */
/* Host pointer for a generic address, or NULL. */
char *lane_pointer(struct warp *w, int lane, uint64_t addr, size_t len);
char *global_pointer(struct warp *w, uint64_t addr, size_t len);
/* Host pointers for all lanes of the mask; false: a fault was recorded. */
bool pointers(struct warp *w, const struct insn *i, uint32_t mask, size_t len, char **p);

/* --- scheduling (warp.c) --- */
/* Stores the pc for lanes that stop running together. */
static inline void park(struct warp *w, uint32_t lanes, uint32_t pc) {
    for (; lanes; lanes &= lanes - 1)
        w->lane_pc[__builtin_ctz(lanes)] = pc;
}
enum step exec_label(struct warp *w, const struct insn *i, uint32_t mask);
enum run { RUN_DONE, RUN_BLOCKED, RUN_YIELD, RUN_FAULT };
enum run run_warp(struct warp *w);
void retire(struct warp *w, uint32_t lanes); /* they exit */
/*
 * For instructions that lanes named by a mask execute together. True: all of `mask` have met their
 * partners and go on as one. False: every pc is stored, the instruction must be executed for
 * *ready only and end with STEP_SELECT.
 */
bool gather(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members,
            uint32_t *ready);

/* --- barriers (op_bar.c) --- */
bool release_barriers(struct block *b); /* true: somebody may go on */

/* --- clusters (op_cluster.c) --- */
/* Host pointer for an address of .shared::cluster, or NULL. */
char *cluster_pointer(struct warp *w, uint64_t addr, size_t len);
/* Whether a generic address is one of shared memory of the cluster's blocks. */
bool in_cluster(const struct warp *w, uint64_t addr, size_t len);
uint64_t cluster_to_generic(const struct warp *w, uint64_t addr);
uint64_t generic_to_cluster(const struct warp *w, uint64_t addr);
bool release_cluster(struct cluster *c); /* true: somebody may go on */

#endif
