// SPDX-License-Identifier: Apache-2.0
#include "sreg.h"

#include <time.h>

#include "exec.h"

enum {
    SREG_TID_X = SREG_FIRST,
    SREG_TID_Y,
    SREG_TID_Z,
    SREG_NTID_X,
    SREG_NTID_Y,
    SREG_NTID_Z,
    SREG_CTAID_X,
    SREG_CTAID_Y,
    SREG_CTAID_Z,
    SREG_NCTAID_X,
    SREG_NCTAID_Y,
    SREG_NCTAID_Z,
    SREG_CLUSTERID_X,
    SREG_CLUSTERID_Y,
    SREG_CLUSTERID_Z,
    SREG_NCLUSTERID_X,
    SREG_NCLUSTERID_Y,
    SREG_NCLUSTERID_Z,
    SREG_CLUSTER_CTAID_X,
    SREG_CLUSTER_CTAID_Y,
    SREG_CLUSTER_CTAID_Z,
    SREG_CLUSTER_NCTAID_X,
    SREG_CLUSTER_NCTAID_Y,
    SREG_CLUSTER_NCTAID_Z,
    SREG_CLUSTER_CTARANK,
    SREG_CLUSTER_NCTARANK,
    SREG_LANEID,
    SREG_WARPID,
    SREG_NWARPID,
    SREG_SMID,
    SREG_NSMID,
    SREG_GRIDID,
    SREG_MASK_EQ,
    SREG_MASK_LE,
    SREG_MASK_LT,
    SREG_MASK_GE,
    SREG_MASK_GT,
    SREG_CLOCK,
    SREG_CLOCK_HI,
    SREG_CLOCK64,
    SREG_TIMER,
    SREG_TIMER_LO,
    SREG_TIMER_HI,
    SREG_DYNAMIC_SIZE,
    SREG_TOTAL_SIZE,
    SREG_ENV1,
    SREG_ENV2,
    SREG_ZERO,
    SREG_ONE,
};

static const struct {
    const char *name;
    uint8_t id, size;
    bool vector; /* .x .y .z in a row */
} names[] = {
    {"%tid", SREG_TID_X, 4, true},
    {"%ntid", SREG_NTID_X, 4, true},
    {"%ctaid", SREG_CTAID_X, 4, true},
    {"%nctaid", SREG_NCTAID_X, 4, true},
    {"%clusterid", SREG_CLUSTERID_X, 4, true},
    {"%nclusterid", SREG_NCLUSTERID_X, 4, true},
    {"%cluster_ctaid", SREG_CLUSTER_CTAID_X, 4, true},
    {"%cluster_nctaid", SREG_CLUSTER_NCTAID_X, 4, true},
    {"%cluster_ctarank", SREG_CLUSTER_CTARANK, 4, false},
    {"%cluster_nctarank", SREG_CLUSTER_NCTARANK, 4, false},
    {"%laneid", SREG_LANEID, 4, false},
    {"%warpid", SREG_WARPID, 4, false},
    {"%nwarpid", SREG_NWARPID, 4, false},
    {"%smid", SREG_SMID, 4, false},
    {"%nsmid", SREG_NSMID, 4, false},
    {"%gridid", SREG_GRIDID, 8, false},
    {"%lanemask_eq", SREG_MASK_EQ, 4, false},
    {"%lanemask_le", SREG_MASK_LE, 4, false},
    {"%lanemask_lt", SREG_MASK_LT, 4, false},
    {"%lanemask_ge", SREG_MASK_GE, 4, false},
    {"%lanemask_gt", SREG_MASK_GT, 4, false},
    {"%clock", SREG_CLOCK, 4, false},
    {"%clock_hi", SREG_CLOCK_HI, 4, false},
    {"%clock64", SREG_CLOCK64, 8, false},
    {"%globaltimer", SREG_TIMER, 8, false},
    {"%globaltimer_lo", SREG_TIMER_LO, 4, false},
    {"%globaltimer_hi", SREG_TIMER_HI, 4, false},
    {"%dynamic_smem_size", SREG_DYNAMIC_SIZE, 4, false},
    {"%total_smem_size", SREG_TOTAL_SIZE, 4, false},
    {"%envreg1", SREG_ENV1, 4, false},
    {"%envreg2", SREG_ENV2, 4, false},
};

int find_sreg(const char *s, size_t len, char dim, unsigned *size) {
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
        if (strlen(names[k].name) != len || memcmp(names[k].name, s, len))
            continue;
        if (names[k].vector != (dim != 0))
            return -1;
        *size = names[k].size;
        if (dim == 'w') /* the fourth component is always 0, or 1 for a size */
            return s[1] == 'n' || names[k].id == SREG_CLUSTER_NCTAID_X ? SREG_ONE : SREG_ZERO;
        return names[k].id + (dim ? dim - 'x' : 0);
    }
    if (len > 7 && !memcmp(s, "%envreg", 7) && !dim) {
        *size = 4;
        return SREG_ZERO;
    }
    return -1;
}

bool is_other_sreg(const char *s, size_t len) {
    static const char *const starts[] = {"%reserved_smem", "%pm", "%aggr_smem_size",
                                         "%current_graph_exec"};
    for (size_t k = 0; k < sizeof(starts) / sizeof(*starts); k++)
        if (len >= strlen(starts[k]) && !memcmp(s, starts[k], strlen(starts[k])))
            return true;
    return false;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Values that all lanes share. */
static uint64_t uniform(const struct warp *w, int op) {
    const struct grid *g = w->grid;
    const struct ptx_launch *l = g->launch;
    unsigned sms = l->sm_count ? l->sm_count : 1;

    switch (op) {
    case SREG_FRAME:
        return (uint32_t)w->frame;
    case SREG_DYNAMIC:
        return g->dynamic_at;
    case SREG_NTID_X:
    case SREG_NTID_Y:
    case SREG_NTID_Z:
        return l->block[op - SREG_NTID_X];
    case SREG_CTAID_X:
    case SREG_CTAID_Y:
    case SREG_CTAID_Z:
        return w->block->ctaid[op - SREG_CTAID_X];
    case SREG_NCTAID_X:
    case SREG_NCTAID_Y:
    case SREG_NCTAID_Z:
        return l->grid[op - SREG_NCTAID_X];
    case SREG_CLUSTERID_X:
    case SREG_CLUSTERID_Y:
    case SREG_CLUSTERID_Z:
        return w->block->cluster->id[op - SREG_CLUSTERID_X];
    case SREG_NCLUSTERID_X:
    case SREG_NCLUSTERID_Y:
    case SREG_NCLUSTERID_Z:
        return l->grid[op - SREG_NCLUSTERID_X] / g->cluster[op - SREG_NCLUSTERID_X];
    case SREG_CLUSTER_CTAID_X:
    case SREG_CLUSTER_CTAID_Y:
    case SREG_CLUSTER_CTAID_Z:
        return w->block->place[op - SREG_CLUSTER_CTAID_X];
    case SREG_CLUSTER_NCTAID_X:
    case SREG_CLUSTER_NCTAID_Y:
    case SREG_CLUSTER_NCTAID_Z:
        return g->cluster[op - SREG_CLUSTER_NCTAID_X];
    case SREG_CLUSTER_CTARANK:
        return w->block->rank;
    case SREG_CLUSTER_NCTARANK:
        return g->cluster_blocks;
    case SREG_WARPID:
        return w->index;
    case SREG_NWARPID:
        return 64;
    case SREG_SMID:
        return w->block->index % sms;
    case SREG_NSMID:
        return sms;
    case SREG_GRIDID:
        return l->grid_id;
    case SREG_CLOCK:
    case SREG_CLOCK64:
        return nanoseconds(CLOCK_MONOTONIC);
    case SREG_CLOCK_HI:
        return nanoseconds(CLOCK_MONOTONIC) >> 32;
    case SREG_TIMER:
    case SREG_TIMER_LO:
        return nanoseconds(CLOCK_REALTIME);
    case SREG_TIMER_HI:
        return nanoseconds(CLOCK_REALTIME) >> 32;
    case SREG_DYNAMIC_SIZE:
        return l->dynamic_shared;
    case SREG_TOTAL_SIZE:
        return g->shared_bytes;
    case SREG_ENV1:
        return g->workspace >> 32;
    case SREG_ENV2:
        return g->workspace;
    case SREG_ONE:
        return 1;
    default:
        return 0;
    }
}

static uint32_t of_lane(const struct warp *w, int op, unsigned l) {
    switch (op) {
    case SREG_TID_X:
    case SREG_TID_Y:
    case SREG_TID_Z:
        return w->tid[op - SREG_TID_X][l];
    case SREG_LANEID:
        return l;
    case SREG_MASK_EQ:
        return 1u << l;
    case SREG_MASK_LE:
        return (2u << l) - 1;
    case SREG_MASK_LT:
        return (1u << l) - 1;
    case SREG_MASK_GE:
        return FULL << l;
    default: /* SREG_MASK_GT */
        return ~((2u << l) - 1);
    }
}

static bool differs_by_lane(int op) {
    return (op >= SREG_TID_X && op <= SREG_TID_Z) || op == SREG_LANEID ||
           (op >= SREG_MASK_EQ && op <= SREG_MASK_GT);
}

enum step exec_sreg(struct warp *w, const struct insn *i, uint32_t mask) {
    uint64_t value[WARP];

    if (differs_by_lane(i->op)) {
        for (unsigned l = 0; l < WARP; l++)
            value[l] = of_lane(w, i->op, l);
    } else {
        uint64_t v = uniform(w, i->op) + (uint64_t)i->imm;
        for (int l = 0; l < WARP; l++)
            value[l] = v;
    }
    if (i->size == 8) {
        uint64_t *d = at(w, i->d);
        LANES(mask, d[l] = value[l]);
    } else if (i->size == 4) {
        uint32_t *d = at(w, i->d);
        LANES(mask, d[l] = (uint32_t)value[l]);
    } else {
        uint16_t *d = at(w, i->d);
        LANES(mask, d[l] = (uint16_t)value[l]);
    }
    return STEP_NEXT;
}
