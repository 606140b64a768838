// SPDX-License-Identifier: Apache-2.0
/* Integer products, quotients and dot products. */
#include "exec.h"
#include "load.h"

#define EXEC_MUL(s, T, TW)                                                                         \
    EXEC2(mul_lo_##s, T, T, T, (TW)a *(TW)b)                                                       \
    EXEC2(mul_hi_##s, T, T, T, ((TW)a * (TW)b) >> (8 * sizeof(T)))                                 \
    EXEC3(mad_lo_##s, T, T, T, T, (TW)a *(TW)b + (TW)c)                                            \
    EXEC3(mad_hi_##s, T, T, T, T, (TW)(((TW)a * (TW)b) >> (8 * sizeof(T))) + (TW)c)

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

EXEC_MUL(u16, uint16_t, uint32_t)
EXEC_MUL(s16, int16_t, int32_t)
EXEC_MUL(u32, uint32_t, uint64_t)
EXEC_MUL(s32, int32_t, int64_t)
EXEC2(mul_lo_64, uint64_t, uint64_t, uint64_t, a *b)
EXEC3(mad_lo_64, uint64_t, uint64_t, uint64_t, uint64_t, a *b + c)
EXEC2(mul_hi_u64, uint64_t, uint64_t, uint64_t, ((u128)a * b) >> 64)
EXEC2(mul_hi_s64, uint64_t, int64_t, int64_t, (u128)((s128)a *b) >> 64)
EXEC3(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, (uint64_t)(((u128)a * b) >> 64) + c)
EXEC3(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t, (uint64_t)((u128)((s128)a *b) >> 64) + c)

#define EXEC_WIDE(s, T, TW, TU)                                                                    \
    EXEC2(mul_wide_##s, TW, T, T, (TW)a *(TW)b)                                                    \
    EXEC3(mad_wide_##s, TU, T, T, TU, (TU)((TW)a * (TW)b) + c)
EXEC_WIDE(u16, uint16_t, uint32_t, uint32_t)
EXEC_WIDE(s16, int16_t, int32_t, uint32_t)
EXEC_WIDE(u32, uint32_t, uint64_t, uint64_t)
EXEC_WIDE(s32, int32_t, int64_t, uint64_t)

/* The sum of a hi product saturates. */
static int32_t clamp32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
EXEC3(mad_hi_sat, int32_t, int32_t, int32_t, int32_t, clamp32((((int64_t)a * b) >> 32) + c))

enum { LO, HI, WIDE };

static const px_exec mul_exec[3][T_COUNT] = {
    [LO] = {[T_U16] = mul_lo_u16,
            [T_S16] = mul_lo_s16,
            [T_U32] = mul_lo_u32,
            [T_S32] = mul_lo_s32,
            [T_U64] = mul_lo_64,
            [T_S64] = mul_lo_64},
    [HI] = {[T_U16] = mul_hi_u16,
            [T_S16] = mul_hi_s16,
            [T_U32] = mul_hi_u32,
            [T_S32] = mul_hi_s32,
            [T_U64] = mul_hi_u64,
            [T_S64] = mul_hi_s64},
    [WIDE] = {[T_U16] = mul_wide_u16,
              [T_S16] = mul_wide_s16,
              [T_U32] = mul_wide_u32,
              [T_S32] = mul_wide_s32},
};
static const px_exec mad_exec[3][T_COUNT] = {
    [LO] = {[T_U16] = mad_lo_u16,
            [T_S16] = mad_lo_s16,
            [T_U32] = mad_lo_u32,
            [T_S32] = mad_lo_s32,
            [T_U64] = mad_lo_64,
            [T_S64] = mad_lo_64},
    [HI] = {[T_U16] = mad_hi_u16,
            [T_S16] = mad_hi_s16,
            [T_U32] = mad_hi_u32,
            [T_S32] = mad_hi_s32,
            [T_U64] = mad_hi_u64,
            [T_S64] = mad_hi_s64},
    [WIDE] = {[T_U16] = mad_wide_u16,
              [T_S16] = mad_wide_s16,
              [T_U32] = mad_wide_u32,
              [T_S32] = mad_wide_s32},
};

/* mad.cc and madc: the low or high half of the product plus c, with carries. */
#define EXEC_MADC(name, T, TP, TU)                                                                 \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        T *d = at(w, i->d);                                                                        \
        const T *a = at(w, i->a), *b = at(w, i->b);                                                \
        const TU *c = at(w, i->c);                                                                 \
        uint32_t in = i->flags & F_HASC ? w->cc : 0, out = 0;                                      \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            TP product = (TP)a[l] * (TP)b[l];                                                      \
            TU part = (TU)(i->flags & F_ALT ? product >> (8 * sizeof(T)) : product);               \
            bool carry = __builtin_add_overflow(part, c[l], &part);                                \
            carry |= __builtin_add_overflow(part, (TU)(in >> l & 1), &part);                       \
            d[l] = (T)part;                                                                        \
            out |= (uint32_t)carry << l;                                                           \
        }                                                                                          \
        if (i->flags & F_CC)                                                                       \
            w->cc = (w->cc & ~mask) | out;                                                         \
        return STEP_NEXT;                                                                          \
    }
EXEC_MADC(madc_u32, uint32_t, uint64_t, uint32_t)
EXEC_MADC(madc_s32, int32_t, int64_t, uint32_t)
EXEC_MADC(madc_u64, uint64_t, u128, uint64_t)
EXEC_MADC(madc_s64, int64_t, s128, uint64_t)

static enum type wide_type(enum type t) {
    return t == T_U16 ? T_U32 : t == T_S16 ? T_S32 : t == T_U32 ? T_U64 : T_S64;
}

static int take_half(struct stmt *st) {
    return take(st, "lo") ? LO : take(st, "hi") ? HI : take(st, "wide") ? WIDE : -1;
}

static px_exec check(struct loader *ld, px_exec e) {
    if (!e)
        st_refuse(ld, "not with this type");
    return e;
}

static void build_mul(struct loader *ld, struct stmt *st) {
    int half = take_half(st);
    enum type t = need_type(ld);

    if (type_float(t)) {
        build_float_mul(ld, t);
        return;
    }
    if (half < 0) {
        st_syntax(ld, ".lo, .hi or .wide is missing");
        return;
    }
    px_exec e = check(ld, mul_exec[half][t]);
    if (!e || !need_ops(ld, 3))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], t);
    uint32_t d = dst(ld, &st->op[0], half == WIDE ? wide_type(t) : t);
    struct insn *i = emit(ld, e);
    i->d = d;
    i->a = a;
    i->b = b;
}

static void build_mad_carry(struct loader *ld, enum type t, int half, bool in, bool out) {
    px_exec e = t == T_U32   ? madc_u32
                : t == T_S32 ? madc_s32
                : t == T_U64 ? madc_u64
                : t == T_S64 ? madc_s64
                             : NULL;
    if (half == WIDE || half < 0)
        e = NULL;
    build_d_abc(ld, check(ld, e), t, t, t);
    if (ld->status == PTX_OK)
        ld->m->code[ld->m->code_count - 1].flags |=
            (uint8_t)((in ? F_HASC : 0) | (out ? F_CC : 0) | (half == HI ? F_ALT : 0));
}

static void build_mad(struct loader *ld, struct stmt *st) {
    bool with_carry = st->name_len == 4; /* madc */
    int half = take_half(st);
    bool out = take(st, "cc");
    enum type t = need_type(ld);

    if (type_float(t)) {
        build_float_fma(ld, t);
    } else if (with_carry || out) {
        build_mad_carry(ld, t, half, with_carry, out);
    } else if (half < 0) {
        st_syntax(ld, ".lo, .hi or .wide is missing");
    } else if (take(st, "sat")) {
        build_d_abc(ld, check(ld, half == HI && t == T_S32 ? mad_hi_sat : NULL), t, t, t);
    } else {
        enum type td = half == WIDE ? wide_type(t) : t;
        build_d_abc(ld, check(ld, mad_exec[half][t]), td, t, td);
    }
}

/* --- 24-bit products: bits 0 to 31 or 16 to 47 of the 48 --- */

#define U24(x) ((uint64_t)((x)&0xffffffu))
#define S24(x) ((int64_t)((int32_t)((uint32_t)(x) << 8) >> 8))
EXEC2(mul24_lo_u, uint32_t, uint32_t, uint32_t, U24(a) * U24(b))
EXEC2(mul24_hi_u, uint32_t, uint32_t, uint32_t, (U24(a) * U24(b)) >> 16)
EXEC2(mul24_lo_s, uint32_t, uint32_t, uint32_t, S24(a) * S24(b))
EXEC2(mul24_hi_s, uint32_t, uint32_t, uint32_t, (S24(a) * S24(b)) >> 16)
EXEC3(mad24_lo_u, uint32_t, uint32_t, uint32_t, uint32_t, U24(a) * U24(b) + c)
EXEC3(mad24_hi_u, uint32_t, uint32_t, uint32_t, uint32_t, ((U24(a) * U24(b)) >> 16) + c)
EXEC3(mad24_lo_s, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(S24(a) * S24(b)) + c)
EXEC3(mad24_hi_s, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)((S24(a) * S24(b)) >> 16) + c)
EXEC3(mad24_sat, int32_t, uint32_t, uint32_t, int32_t, clamp32(((S24(a) * S24(b)) >> 16) + c))

static void build_24(struct loader *ld, struct stmt *st) {
    bool mad = st->name[1] == 'a', hi = take_half(st) == HI, sat = take(st, "sat");
    enum type t = need_type(ld);

    if ((t != T_U32 && t != T_S32) || (sat && !(mad && hi && t == T_S32)))
        st_syntax(ld, "impossible type or modifier");
    else if (mad)
        build_d_abc(ld,
                    sat          ? mad24_sat
                    : t == T_S32 ? (hi ? mad24_hi_s : mad24_lo_s)
                                 : (hi ? mad24_hi_u : mad24_lo_u),
                    t, t, t);
    else
        build_d_ab(ld, t == T_S32 ? (hi ? mul24_hi_s : mul24_lo_s) : (hi ? mul24_hi_u : mul24_lo_u),
                   t);
}

/* --- division: by zero gives all ones, as GPUs do; the rest is then the dividend --- */

#define EXEC_DIV_U(s, T)                                                                           \
    EXEC2(div_##s, T, T, T, b ? a / b : (T) ~(T)0)                                                 \
    EXEC2(rem_##s, T, T, T, b ? a % b : a)
#define EXEC_DIV_S(s, T, TU)                                                                       \
    EXEC2(div_##s, T, T, T, !b ? -1 : b == -1 ? (T) - (TU)a : a / b)                               \
    EXEC2(rem_##s, T, T, T, !b ? a : b == -1 ? 0 : a % b)
EXEC_DIV_U(u16, uint16_t)
EXEC_DIV_U(u32, uint32_t)
EXEC_DIV_U(u64, uint64_t)
EXEC_DIV_S(s16, int16_t, uint16_t)
EXEC_DIV_S(s32, int32_t, uint32_t)
EXEC_DIV_S(s64, int64_t, uint64_t)

static const px_exec div_exec[2][T_COUNT] = {{[T_U16] = div_u16,
                                              [T_S16] = div_s16,
                                              [T_U32] = div_u32,
                                              [T_S32] = div_s32,
                                              [T_U64] = div_u64,
                                              [T_S64] = div_s64},
                                             {[T_U16] = rem_u16,
                                              [T_S16] = rem_s16,
                                              [T_U32] = rem_u32,
                                              [T_S32] = rem_s32,
                                              [T_U64] = rem_u64,
                                              [T_S64] = rem_s64}};

static void build_div(struct loader *ld, struct stmt *st) {
    bool rem = *st->name == 'r';
    enum type t = need_type(ld);

    if (type_float(t) && !rem)
        build_float_div(ld, t);
    else
        build_d_ab(ld, check(ld, div_exec[rem][t]), t);
}

/* --- dot products of bytes and halves --- */

static int32_t byte_of(uint32_t v, int k, bool sign) {
    v = v >> (8 * k) & 0xff;
    return sign ? (int8_t)v : (int32_t)v;
}

static int32_t half_of(uint32_t v, int k, bool sign) {
    v = v >> (16 * k) & 0xffff;
    return sign ? (int16_t)v : (int32_t)v;
}

static enum step exec_dp(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const uint32_t *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    bool sa = i->flags & F_SIGNED, sb = i->flags & F_ALT;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t sum = c[l];
        if (i->n == 4) {
            for (int k = 0; k < 4; k++)
                sum += (uint32_t)(byte_of(a[l], k, sa) * byte_of(b[l], k, sb));
        } else {
            for (int k = 0; k < 2; k++)
                sum += (uint32_t)(half_of(a[l], k, sa) * byte_of(b[l], k + i->op, sb));
        }
        d[l] = sum;
    }
    return STEP_NEXT;
}

static void build_dp(struct loader *ld, struct stmt *st) {
    bool four = st->name[2] == '4';
    int half = four ? LO : take_half(st);
    enum type ta = need_type(ld), tb = need_type(ld);

    if ((ta != T_U32 && ta != T_S32) || (tb != T_U32 && tb != T_S32) || half < 0)
        st_syntax(ld, "impossible type or modifier");
    build_d_abc(ld, exec_dp, T_B32, T_B32, T_B32);
    if (ld->status != PTX_OK)
        return;
    struct insn *i = &ld->m->code[ld->m->code_count - 1];
    i->n = four ? 4 : 2;
    i->op = half == HI ? 2 : 0;
    i->flags |= (uint8_t)((ta == T_S32 ? F_SIGNED : 0) | (tb == T_S32 ? F_ALT : 0));
}

/* --- vabsdiff4: differences of four bytes, each for itself or, with .add, summed up on c --- */

static enum step exec_absdiff4(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const uint32_t *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    bool sign = i->flags & F_SIGNED;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t sum = c[l], bytes = 0;
        for (int k = 0; k < 4; k++) {
            int32_t x = byte_of(a[l], k, sign) - byte_of(b[l], k, sign);
            uint32_t size = (uint32_t)(x < 0 ? -x : x);
            sum += size;
            bytes |= (size & 0xff) << (8 * k);
        }
        d[l] = i->flags & F_ALT ? sum : bytes;
    }
    return STEP_NEXT;
}

static void build_absdiff4(struct loader *ld, struct stmt *st) {
    enum type td = need_type(ld), ta = need_type(ld), tb = need_type(ld);
    bool add = take(st, "add");

    if (ta != tb || (ta != T_U32 && ta != T_S32) || td != T_U32) {
        st_refuse(ld, "these types");
        return;
    }
    build_d_abc(ld, exec_absdiff4, T_B32, T_B32, T_B32);
    if (ld->status == PTX_OK)
        ld->m->code[ld->m->code_count - 1].flags |=
            (uint8_t)((ta == T_S32 ? F_SIGNED : 0) | (add ? F_ALT : 0));
}

const struct opcode ops_mul[] = {{"mul", build_mul},  {"mad", build_mad},
                                 {"madc", build_mad}, {"mul24", build_24},
                                 {"mad24", build_24}, {"div", build_div},
                                 {"rem", build_div},  {"dp4a", build_dp},
                                 {"dp2a", build_dp},  {"vabsdiff4", build_absdiff4},
                                 {NULL, NULL}};
