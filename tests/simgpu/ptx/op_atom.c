// SPDX-License-Identifier: Apache-2.0
/*
 * atom and red: real atomics of the host, for blocks run on several of its threads and its own
 * code may look at the same memory.
 */
#include "exec.h"
#include "half.h"

enum atom_op { A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC };

static uint32_t apply32(const struct insn *i, uint32_t old, uint32_t v) {
    switch (i->op) {
    case A_ADD:
        return i->type == T_F32
                   ? bits32(i->flags & F_FTZ ? flush(flush(float32(old)) + flush(float32(v)))
                                             : float32(old) + float32(v))
                   : old + v;
    case A_MIN:
        return i->type == T_S32 ? ((int32_t)v < (int32_t)old ? v : old) : v < old ? v : old;
    case A_MAX:
        return i->type == T_S32 ? ((int32_t)v > (int32_t)old ? v : old) : v > old ? v : old;
    case A_AND:
        return old & v;
    case A_OR:
        return old | v;
    case A_XOR:
        return old ^ v;
    case A_INC:
        return old >= v ? 0 : old + 1;
    case A_DEC:
        return old == 0 || old > v ? v : old - 1;
    default:
        return v;
    }
}

static uint64_t apply64(const struct insn *i, uint64_t old, uint64_t v) {
    switch (i->op) {
    case A_ADD:
        return i->type == T_F64 ? bits64(float64(old) + float64(v)) : old + v;
    case A_MIN:
        return i->type == T_S64 ? ((int64_t)v < (int64_t)old ? v : old) : v < old ? v : old;
    case A_MAX:
        return i->type == T_S64 ? ((int64_t)v > (int64_t)old ? v : old) : v > old ? v : old;
    case A_AND:
        return old & v;
    case A_OR:
        return old | v;
    case A_XOR:
        return old ^ v;
    default:
        return v;
    }
}

static uint16_t add_half(uint16_t a, uint16_t b, bool brain) {
    double v = add_odd(half_value(a, brain), half_value(b, brain));
    return v != v ? 0x7fff : round_half(v, brain, RND_N);
}

static uint32_t add_pair(uint32_t a, uint32_t b, bool brain) {
    return (uint32_t)add_half((uint16_t)(a >> 16), (uint16_t)(b >> 16), brain) << 16 |
           add_half((uint16_t)a, (uint16_t)b, brain);
}

/* The old value; a loop of compare and swap for what the host has no instruction for. */
static uint32_t atomic32(const struct insn *i, uint32_t *p, uint32_t v, uint32_t swap) {
    uint32_t old;

    switch (i->op) {
    case A_ADD:
        if (i->type == T_U32 || i->type == T_S32)
            return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
        break;
    case A_EXCH:
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
    case A_CAS:
        __atomic_compare_exchange_n(p, &v, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return v;
    default:
        break;
    }
    old = __atomic_load_n(p, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t new = i->type == T_F16X2 || i->type == T_BF16X2
                           ? add_pair(old, v, i->type == T_BF16X2)
                           : apply32(i, old, v);
        if (__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return old;
    }
}

static uint64_t atomic64(const struct insn *i, uint64_t *p, uint64_t v, uint64_t swap) {
    uint64_t old;

    switch (i->op) {
    case A_ADD:
        if (i->type != T_F64)
            return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
        break;
    case A_EXCH:
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
    case A_CAS:
        __atomic_compare_exchange_n(p, &v, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return v;
    default:
        break;
    }
    old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, apply64(i, old, v), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        continue;
    return old;
}

static uint16_t atomic16(const struct insn *i, uint16_t *p, uint16_t v, uint16_t swap) {
    uint16_t old;

    if (i->op == A_CAS) {
        __atomic_compare_exchange_n(p, &v, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return v;
    }
    old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, add_half(old, v, i->type == T_BF16), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    return old;
}

#define EXEC_ATOM(name, T, f)                                                                      \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        char *p[WARP];                                                                             \
        if (!pointers(w, i, mask, sizeof(T), p))                                                   \
            return STEP_FAULT;                                                                     \
        T *d = at(w, i->d);                                                                        \
        const T *b = at(w, i->b), *c = at(w, i->c);                                                \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            d[l] = f(i, (T *)(void *)p[l], b[l], c[l]);                                            \
        }                                                                                          \
        return STEP_NEXT;                                                                          \
    }
EXEC_ATOM(exec_atom16, uint16_t, atomic16)
EXEC_ATOM(exec_atom32, uint32_t, atomic32)
EXEC_ATOM(exec_atom64, uint64_t, atomic64)

/* --- building --- */

static bool fits(enum atom_op op, enum type t) {
    bool whole = t == T_U32 || t == T_S32 || t == T_U64 || t == T_S64;
    bool bits = t == T_B32 || t == T_B64;

    switch (op) {
    case A_ADD:
        return whole || t == T_F32 || t == T_F64 || (t >= T_F16 && t <= T_BF16X2);
    case A_MIN:
    case A_MAX:
        return whole;
    case A_AND:
    case A_OR:
    case A_XOR:
        return bits;
    case A_EXCH:
        return bits || whole || t == T_F32;
    case A_CAS:
        return bits || whole || t == T_B16;
    default:
        return t == T_U32;
    }
}

static void take_order(struct stmt *st) {
    static const char *const mods[] = {"relaxed", "acquire", "release", "acq_rel", "cta",
                                       "cluster", "gpu",     "sys",     "noftz"};
    for (size_t k = 0; k < sizeof(mods) / sizeof(*mods); k++)
        take(st, mods[k]);
}

static int take_op(struct stmt *st) {
    static const char *const names[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    for (int k = 0; k < 10; k++)
        if (take(st, names[k]))
            return k;
    return -1;
}

static void build_atom(struct loader *ld, struct stmt *st) {
    bool red = *st->name == 'r';
    enum space space = take_space(ld);
    int op = take_op(st);

    take_order(st);
    enum type t = need_type(ld);
    if (op < 0 || !fits((enum atom_op)op, t) || (red && op >= A_EXCH && op <= A_CAS)) {
        st_refuse(ld, "this operation with this type");
        return;
    }
    if (space != SP_GENERIC && space != SP_GLOBAL && space != SP_SHARED && space != SP_CLUSTER) {
        st_syntax(ld, "impossible state space");
        return;
    }
    unsigned first = red ? 0 : 1;
    if (!need_ops(ld, first + 2 + (op == A_CAS)))
        return;
    struct address a = address(ld, &st->op[first], space);
    uint32_t b = src(ld, &st->op[first + 1], t);
    uint32_t c = op == A_CAS ? src(ld, &st->op[first + 2], t) : b;
    uint32_t d = red ? new_reg(ld, reg_size(t)) : dst(ld, &st->op[0], t);
    unsigned size = type_size(t);
    struct insn *i = emit(ld, size == 8 ? exec_atom64 : size == 4 ? exec_atom32 : exec_atom16);
    set_address(i, &a);
    i->d = d;
    i->b = b;
    i->c = c;
    i->op = (uint8_t)op;
    i->type = (uint8_t)t;
    /* Single precision in global memory is flushed, in shared memory it is not. */
    i->flags |= t == T_F32 && space == SP_GLOBAL ? F_FTZ : 0;
}

const struct opcode ops_atom[] = {{"atom", build_atom}, {"red", build_atom}, {NULL, NULL}};
