// SPDX-License-Identifier: Apache-2.0
/* Exchange between the lanes of a warp: shfl, vote, match, redux, activemask. */
#include "exec.h"
#include "load.h"

/* For lanes that meet: members in x[2], or all that are here for the old forms without .sync. */
typedef void (*meeting)(struct warp *w, const struct insn *i, uint32_t mask,
                        const uint32_t *members);

static enum step meet(struct warp *w, const struct insn *i, uint32_t mask, meeting f) {
    uint32_t here[WARP], ready;

    if (!(i->flags & F_HASC)) {
        for (int l = 0; l < WARP; l++)
            here[l] = mask;
        f(w, i, mask, here);
        return STEP_NEXT;
    }
    const uint32_t *members = at(w, i->x[2]);
    bool whole = gather(w, i, mask, members, &ready);
    if (ready)
        f(w, i, ready, members);
    return whole ? STEP_NEXT : STEP_SELECT;
}

/* --- shfl --- */

enum { UP, DOWN, BFLY, IDX };

/* The lane to read from; negative: out of range. */
static int shfl_source(int mode, int lane, uint32_t b, uint32_t c) {
    int amount = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    int first = lane & segment, last = first | (clamp & ~segment), j;

    switch (mode) {
    case UP:
        j = lane - amount;
        return j >= last ? j : -1;
    case DOWN:
        j = lane + amount;
        break;
    case BFLY:
        j = lane ^ amount;
        break;
    default:
        j = first | (amount & ~segment);
    }
    return j <= last ? j : -1;
}

static void do_shfl(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members) {
    uint32_t *d = at(w, i->d), value[WARP], valid = 0;
    const uint32_t *b = at(w, i->b), *c = at(w, i->c);

    (void)members;
    memcpy(value, at(w, i->a), sizeof(value));
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m), j = shfl_source(i->op, l, b[l], c[l]);
        valid |= (uint32_t)(j >= 0) << l;
        d[l] = value[j >= 0 ? j : l];
    }
    if (i->flags & F_ALT)
        set_pred(w, i->x[0], mask, valid);
}

static enum step exec_shfl(struct warp *w, const struct insn *i, uint32_t mask) {
    return meet(w, i, mask, do_shfl);
}

/* The membermask, after `count` other operands, of forms with .sync. */
static bool take_members(struct loader *ld, bool sync, unsigned count, uint32_t *members) {
    if (!need_ops(ld, count + sync))
        return false;
    *members = sync ? src(ld, &ld->st->op[count], T_B32) : 0;
    return true;
}

static void build_shfl(struct loader *ld, struct stmt *st) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    bool sync = take(st, "sync");
    int mode = 0;
    uint32_t members;

    while (mode < 4 && !take(st, modes[mode]))
        mode++;
    if (mode == 4 || need_type(ld) != T_B32) {
        st_syntax(ld, "impossible mode or type");
        return;
    }
    if (!take_members(ld, sync, 4, &members))
        return;
    struct operand d = st->op[0];
    uint32_t p = d.pair ? dst_pred(ld, d.pair, d.pair_len) : 0;
    d.pair = NULL;
    uint32_t a = src(ld, &st->op[1], T_B32), b = src(ld, &st->op[2], T_B32);
    uint32_t c = src(ld, &st->op[3], T_B32), to = dst(ld, &d, T_B32);
    struct insn *i = emit(ld, exec_shfl);
    i->d = to;
    i->a = a;
    i->b = b;
    i->c = c;
    i->x[0] = p;
    i->x[2] = members;
    i->op = (uint8_t)mode;
    i->flags = (uint8_t)((sync ? F_HASC : 0) | (st->op[0].pair ? F_ALT : 0));
}

/* --- vote --- */

enum { ALL, ANY, UNI, BALLOT };

static void do_vote(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members) {
    uint32_t yes = pred(w, i->a), result = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t group = members[l] & mask, in = yes & group;
        if (i->op == BALLOT)
            ((uint32_t *)at(w, i->d))[l] = in;
        bool v = i->op == ALL ? in == group : i->op == ANY ? in != 0 : in == 0 || in == group;
        result |= (uint32_t)v << l;
    }
    if (i->op != BALLOT)
        set_pred(w, i->d, mask, result);
}

static enum step exec_vote(struct warp *w, const struct insn *i, uint32_t mask) {
    return meet(w, i, mask, do_vote);
}

static void build_vote(struct loader *ld, struct stmt *st) {
    static const char *const modes[] = {"all", "any", "uni", "ballot"};
    bool sync = take(st, "sync");
    int mode = 0;
    uint32_t members;

    while (mode < 4 && !take(st, modes[mode]))
        mode++;
    enum type t = need_type(ld);
    if (mode == 4 || t != (mode == BALLOT ? T_B32 : T_PRED)) {
        st_syntax(ld, "impossible mode or type");
        return;
    }
    if (!take_members(ld, sync, 2, &members))
        return;
    uint32_t a = src_pred(ld, &st->op[1]);
    uint32_t d = mode == BALLOT ? dst(ld, &st->op[0], t) : dst_pred_operand(ld, &st->op[0]);
    struct insn *i = emit(ld, exec_vote);
    i->d = d;
    i->a = a;
    i->x[2] = members;
    i->op = (uint8_t)mode;
    i->flags = sync ? F_HASC : 0;
}

/* --- match --- */

static uint64_t match_value(const struct warp *w, const struct insn *i, int l) {
    const void *a = at(w, i->a);
    return i->size == 8 ? ((const uint64_t *)a)[l] : ((const uint32_t *)a)[l];
}

static void do_match(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members) {
    uint32_t result[WARP], same = 0, *d = at(w, i->d);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t group = members[l] & mask;
        result[l] = 0;
        for (uint32_t g = group; g; g &= g - 1)
            if (match_value(w, i, __builtin_ctz(g)) == match_value(w, i, l))
                result[l] |= g & -g;
        same |= (uint32_t)(result[l] == group) << l;
        if (i->op == ALL && result[l] != group)
            result[l] = 0;
    }
    for (uint32_t m = mask; m; m &= m - 1)
        d[__builtin_ctz(m)] = result[__builtin_ctz(m)];
    if (i->flags & F_ALT)
        set_pred(w, i->x[0], mask, same);
}

static enum step exec_match(struct warp *w, const struct insn *i, uint32_t mask) {
    return meet(w, i, mask, do_match);
}

static void build_match(struct loader *ld, struct stmt *st) {
    bool all = take(st, "all"), any = !all && take(st, "any"), sync = take(st, "sync");
    enum type t = need_type(ld);
    struct operand d = st->op[0];
    uint32_t members;

    if (!(all || any) || !sync || (t != T_B32 && t != T_B64) || (any && d.pair)) {
        st_syntax(ld, "impossible mode or type");
        return;
    }
    if (!take_members(ld, true, 2, &members))
        return;
    uint32_t p = d.pair ? dst_pred(ld, d.pair, d.pair_len) : 0;
    d.pair = NULL;
    uint32_t a = src(ld, &st->op[1], t), to = dst(ld, &d, T_B32);
    struct insn *i = emit(ld, exec_match);
    i->d = to;
    i->a = a;
    i->x[0] = p;
    i->x[2] = members;
    i->op = all ? ALL : ANY;
    i->size = (uint8_t)type_size(t);
    i->flags = (uint8_t)(F_HASC | (st->op[0].pair ? F_ALT : 0));
}

/* --- redux --- */

enum { R_ADD, R_MIN, R_MAX, R_AND, R_OR, R_XOR };

static uint32_t fold(const struct insn *i, uint32_t a, uint32_t b) {
    bool sign = i->flags & F_SIGNED;

    switch (i->op) {
    case R_ADD:
        return a + b;
    case R_MIN:
        return (sign ? (int32_t)a < (int32_t)b : a < b) ? a : b;
    case R_MAX:
        return (sign ? (int32_t)a > (int32_t)b : a > b) ? a : b;
    case R_AND:
        return a & b;
    case R_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void do_redux(struct warp *w, const struct insn *i, uint32_t mask, const uint32_t *members) {
    uint32_t value[WARP], *d = at(w, i->d);

    memcpy(value, at(w, i->a), sizeof(value));
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t v = value[l];
        for (uint32_t g = members[l] & mask & ~(1u << l); g; g &= g - 1)
            v = fold(i, v, value[__builtin_ctz(g)]);
        d[l] = v;
    }
}

static enum step exec_redux(struct warp *w, const struct insn *i, uint32_t mask) {
    return meet(w, i, mask, do_redux);
}

static void build_redux(struct loader *ld, struct stmt *st) {
    static const char *const ops[] = {"add", "min", "max", "and", "or", "xor"};
    bool sync = take(st, "sync");
    int op = 0;
    uint32_t members;

    while (op < 6 && !take(st, ops[op]))
        op++;
    enum type t = need_type(ld);
    if (!sync || op == 6 || (op <= R_MAX ? t != T_U32 && t != T_S32 : t != T_B32)) {
        st_refuse(ld, "this operation with this type");
        return;
    }
    if (!take_members(ld, true, 2, &members))
        return;
    uint32_t a = src(ld, &st->op[1], t), d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, exec_redux);
    i->d = d;
    i->a = a;
    i->x[2] = members;
    i->op = (uint8_t)op;
    i->flags = (uint8_t)(F_HASC | (t == T_S32 ? F_SIGNED : 0));
}

/* --- activemask --- */

static enum step exec_activemask(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    LANES(mask, d[l] = mask);
    return STEP_NEXT;
}

static void build_activemask(struct loader *ld, struct stmt *st) {
    if (need_type(ld) != T_B32)
        st_syntax(ld, "impossible type");
    if (!need_ops(ld, 1))
        return;
    uint32_t d = dst(ld, &st->op[0], T_B32);
    emit(ld, exec_activemask)->d = d;
}

const struct opcode ops_warp[] = {{"shfl", build_shfl},
                                  {"vote", build_vote},
                                  {"match", build_match},
                                  {"redux", build_redux},
                                  {"activemask", build_activemask},
                                  {NULL, NULL}};
