// SPDX-License-Identifier: Apache-2.0
/* Integer addition and its like: add, sub with carries, abs, neg, min, max, sad. */
#include "exec.h"
#include "load.h"

/* By type of operand, and what an instruction does without: NULL. */
struct by_type {
    px_exec e[T_COUNT];
};

static px_exec pick(struct loader *ld, const struct by_type *table, enum type t) {
    px_exec e = table->e[t];
    if (!e)
        st_refuse(ld, "not with this type");
    return e;
}

void build_d_ab(struct loader *ld, px_exec exec, enum type t) {
    struct stmt *st = ld->st;
    if (!exec || !need_ops(ld, 3))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], t), d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, exec);
    i->d = d;
    i->a = a;
    i->b = b;
}

void build_d_a(struct loader *ld, px_exec exec, enum type t) {
    struct stmt *st = ld->st;
    if (!exec || !need_ops(ld, 2))
        return;
    uint32_t a = src(ld, &st->op[1], t), d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, exec);
    i->d = d;
    i->a = a;
}

EXEC2(add_16, uint16_t, uint16_t, uint16_t, a + b)
EXEC2(add_32, uint32_t, uint32_t, uint32_t, a + b)
EXEC2(add_64, uint64_t, uint64_t, uint64_t, a + b)
EXEC2(sub_16, uint16_t, uint16_t, uint16_t, a - b)
EXEC2(sub_32, uint32_t, uint32_t, uint32_t, a - b)
EXEC2(sub_64, uint64_t, uint64_t, uint64_t, a - b)

static int32_t clamp32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

EXEC2(add_sat, int32_t, int32_t, int32_t, clamp32((int64_t)a + b))
EXEC2(sub_sat, int32_t, int32_t, int32_t, clamp32((int64_t)a - b))

/* Two 16-bit halves in a 32-bit register. */
#define HALVES(expr_lo, expr_hi)                                                                   \
    ((uint32_t)(uint16_t)(expr_lo) | (uint32_t)(uint16_t)(expr_hi) << 16)
#define LO(T, v) ((T)(v))
#define HI(T, v) ((T)((v) >> 16))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define EXEC_HALVES(name, T, OP)                                                                   \
    EXEC2(name, uint32_t, uint32_t, uint32_t,                                                      \
          HALVES(OP(LO(T, a), LO(T, b)), OP(HI(T, a), HI(T, b))))
#define PLUS(a, b) ((a) + (b))

EXEC_HALVES(add_16x2, uint16_t, PLUS)
EXEC_HALVES(min_u16x2, uint16_t, MIN)
EXEC_HALVES(max_u16x2, uint16_t, MAX)
EXEC_HALVES(min_s16x2, int16_t, MIN)
EXEC_HALVES(max_s16x2, int16_t, MAX)

static const struct by_type add_table = {{[T_U16] = add_16,
                                          [T_S16] = add_16,
                                          [T_U32] = add_32,
                                          [T_S32] = add_32,
                                          [T_U64] = add_64,
                                          [T_S64] = add_64,
                                          [T_U16X2] = add_16x2,
                                          [T_S16X2] = add_16x2}};
static const struct by_type sub_table = {{[T_U16] = sub_16,
                                          [T_S16] = sub_16,
                                          [T_U32] = sub_32,
                                          [T_S32] = sub_32,
                                          [T_U64] = sub_64,
                                          [T_S64] = sub_64}};

/* --- carries: one bit for each lane in warp->cc --- */

#define EXEC_CARRY(name, T, op)                                                                    \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        T *d = at(w, i->d);                                                                        \
        const T *a = at(w, i->a), *b = at(w, i->b);                                                \
        uint32_t in = i->flags & F_HASC ? w->cc : 0, out = 0;                                      \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            T t;                                                                                   \
            bool c = op(a[l], b[l], &t);                                                           \
            c |= op(t, (T)(in >> l & 1), &d[l]);                                                   \
            out |= (uint32_t)c << l;                                                               \
        }                                                                                          \
        if (i->flags & F_CC)                                                                       \
            w->cc = (w->cc & ~mask) | out;                                                         \
        return STEP_NEXT;                                                                          \
    }

EXEC_CARRY(addc_32, uint32_t, __builtin_add_overflow)
EXEC_CARRY(addc_64, uint64_t, __builtin_add_overflow)
EXEC_CARRY(subc_32, uint32_t, __builtin_sub_overflow)
EXEC_CARRY(subc_64, uint64_t, __builtin_sub_overflow)

static void build_carry(struct loader *ld, bool sub, bool in, bool out) {
    enum type t = need_type(ld);
    bool wide = type_size(t) == 8;

    if (type_float(t) || type_size(t) < 4) {
        st_syntax(ld, "carries need 32 or 64 bits");
        return;
    }
    build_d_ab(ld, sub ? (wide ? subc_64 : subc_32) : (wide ? addc_64 : addc_32), t);
    if (ld->status == PTX_OK)
        ld->m->code[ld->m->code_count - 1].flags |= (uint8_t)((in ? F_HASC : 0) | (out ? F_CC : 0));
}

static void build_addsub(struct loader *ld, struct stmt *st) {
    bool sub = *st->name == 's', c = st->name_len == 4;

    if (c || take(st, "cc")) {
        build_carry(ld, sub, c, c ? take(st, "cc") : true);
        return;
    }
    enum type t = need_type(ld);
    if (type_float(t)) {
        build_float_addsub(ld, t);
    } else if (take(st, "sat")) {
        if (t != T_S32)
            st_syntax(ld, ".sat needs .s32");
        build_d_ab(ld, sub ? sub_sat : add_sat, t);
    } else {
        build_d_ab(ld, pick(ld, sub ? &sub_table : &add_table, t), t);
    }
}

/* --- minimum, maximum --- */

#define EXEC_MINMAX(s, T)                                                                          \
    EXEC2(min_##s, T, T, T, a < b ? a : b)                                                         \
    EXEC2(max_##s, T, T, T, a > b ? a : b)
EXEC_MINMAX(u16, uint16_t)
EXEC_MINMAX(s16, int16_t)
EXEC_MINMAX(u32, uint32_t)
EXEC_MINMAX(s32, int32_t)
EXEC_MINMAX(u64, uint64_t)
EXEC_MINMAX(s64, int64_t)

static const struct by_type min_table = {{[T_U16] = min_u16,
                                          [T_S16] = min_s16,
                                          [T_U32] = min_u32,
                                          [T_S32] = min_s32,
                                          [T_U64] = min_u64,
                                          [T_S64] = min_s64,
                                          [T_U16X2] = min_u16x2,
                                          [T_S16X2] = min_s16x2}};
static const struct by_type max_table = {{[T_U16] = max_u16,
                                          [T_S16] = max_s16,
                                          [T_U32] = max_u32,
                                          [T_S32] = max_s32,
                                          [T_U64] = max_u64,
                                          [T_S64] = max_s64,
                                          [T_U16X2] = max_u16x2,
                                          [T_S16X2] = max_s16x2}};

static void build_minmax(struct loader *ld, struct stmt *st) {
    bool max = st->name[1] == 'a';
    enum type t = need_type(ld);

    if (type_float(t))
        build_float_minmax(ld, t, max);
    else
        build_d_ab(ld, pick(ld, max ? &max_table : &min_table, t), t);
}

/* --- one operand --- */

EXEC1(abs_16, int16_t, int16_t, a < 0 ? -a : a)
EXEC1(abs_32, uint32_t, uint32_t, a >> 31 ? -a : a)
EXEC1(abs_64, uint64_t, uint64_t, a >> 63 ? -a : a)
EXEC1(neg_16, uint16_t, uint16_t, -a)
EXEC1(neg_32, uint32_t, uint32_t, -a)
EXEC1(neg_64, uint64_t, uint64_t, -a)

static const struct by_type abs_table = {{[T_S16] = abs_16, [T_S32] = abs_32, [T_S64] = abs_64}};
static const struct by_type neg_table = {{[T_S16] = neg_16, [T_S32] = neg_32, [T_S64] = neg_64}};

static void build_absneg(struct loader *ld, struct stmt *st) {
    bool neg = *st->name == 'n';
    enum type t = need_type(ld);

    if (type_float(t))
        build_float_absneg(ld, t, neg);
    else
        build_d_a(ld, pick(ld, neg ? &neg_table : &abs_table, t), t);
}

/* --- sum of absolute differences --- */

#define SAD(T, TD) ((TD)(c + (TD)(a < b ? b - a : a - b)))
EXEC3(sad_u16, uint16_t, uint16_t, uint16_t, uint16_t, SAD(uint16_t, uint16_t))
EXEC3(sad_s16, uint16_t, int16_t, int16_t, uint16_t, SAD(int16_t, uint16_t))
EXEC3(sad_u32, uint32_t, uint32_t, uint32_t, uint32_t, SAD(uint32_t, uint32_t))
EXEC3(sad_s32, uint32_t, int32_t, int32_t, uint32_t,
      c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b))
EXEC3(sad_u64, uint64_t, uint64_t, uint64_t, uint64_t, SAD(uint64_t, uint64_t))
EXEC3(sad_s64, uint64_t, int64_t, int64_t, uint64_t,
      c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))

static const struct by_type sad_table = {{[T_U16] = sad_u16,
                                          [T_S16] = sad_s16,
                                          [T_U32] = sad_u32,
                                          [T_S32] = sad_s32,
                                          [T_U64] = sad_u64,
                                          [T_S64] = sad_s64}};

void build_d_abc(struct loader *ld, px_exec exec, enum type td, enum type tab, enum type tc) {
    struct stmt *st = ld->st;
    if (!exec || !need_ops(ld, 4))
        return;
    uint32_t a = src(ld, &st->op[1], tab), b = src(ld, &st->op[2], tab);
    uint32_t c = src(ld, &st->op[3], tc), d = dst(ld, &st->op[0], td);
    struct insn *i = emit(ld, exec);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = c;
}

static void build_sad(struct loader *ld, struct stmt *st) {
    (void)st;
    enum type t = need_type(ld);
    build_d_abc(ld, pick(ld, &sad_table, t), t, t, t);
}

const struct opcode ops_int[] = {{"add", build_addsub}, {"addc", build_addsub},
                                 {"sub", build_addsub}, {"subc", build_addsub},
                                 {"min", build_minmax}, {"max", build_minmax},
                                 {"abs", build_absneg}, {"neg", build_absneg},
                                 {"sad", build_sad},    {NULL, NULL}};
