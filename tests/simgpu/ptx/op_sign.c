// SPDX-License-Identifier: Apache-2.0
/* Floats without arithmetic: abs, neg, copysign, min, max, testp. */
#include "exec.h"
#include "half.h"

EXEC1(abs_f32, uint32_t, uint32_t, a & 0x7fffffff)
EXEC1(neg_f32, uint32_t, uint32_t, a ^ 0x80000000)
EXEC1(abs_f32_ftz, uint32_t, uint32_t, bits32(flush(float32(a))) & 0x7fffffff)
EXEC1(neg_f32_ftz, uint32_t, uint32_t, bits32(flush(float32(a))) ^ 0x80000000)
EXEC1(abs_f64, uint64_t, uint64_t, a & ~(1ull << 63))
EXEC1(neg_f64, uint64_t, uint64_t, a ^ 1ull << 63)

void build_float_absneg(struct loader *ld, enum type t, bool neg) {
    bool ftz = take(ld->st, "ftz");

    if (t == T_F32)
        build_d_a(ld, neg ? (ftz ? neg_f32_ftz : neg_f32) : (ftz ? abs_f32_ftz : abs_f32), t);
    else if (t == T_F64 && !ftz)
        build_d_a(ld, neg ? neg_f64 : abs_f64, t);
    else if (t == T_F64)
        st_syntax(ld, ".ftz does not fit the type");
    else
        build_half_absneg(ld, t, neg);
}

EXEC2(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000) | (b & 0x7fffffff))
EXEC2(copysign_f64, uint64_t, uint64_t, uint64_t, (a & 1ull << 63) | (b & ~(1ull << 63)))

static void build_copysign(struct loader *ld, struct stmt *st) {
    (void)st;
    enum type t = need_type(ld);
    if (t != T_F32 && t != T_F64)
        st_syntax(ld, "impossible type");
    else
        build_d_ab(ld, t == T_F32 ? copysign_f32 : copysign_f64, t);
}

/* --- min and max: a NaN yields to a number, unless .NaN; -0 is less than +0 --- */

#define PICK(s, T, NANVALUE)                                                                       \
    static inline T min_##s##_of(T a, T b) {                                                       \
        return a != a       ? (b != b ? NANVALUE : b)                                              \
               : b != b     ? a                                                                    \
               : a < b      ? a                                                                    \
               : b < a      ? b                                                                    \
               : signbit(a) ? a                                                                    \
                            : b;                                                                   \
    }                                                                                              \
    static inline T max_##s##_of(T a, T b) {                                                       \
        return a != a       ? (b != b ? NANVALUE : b)                                              \
               : b != b     ? a                                                                    \
               : a > b      ? a                                                                    \
               : b > a      ? b                                                                    \
               : signbit(a) ? b                                                                    \
                            : a;                                                                   \
    }
PICK(f32, float, float32(0x7fffffff))
PICK(f64, double, a)

EXEC2(min_f32, float, float, float, min_f32_of(a, b))
EXEC2(max_f32, float, float, float, max_f32_of(a, b))
EXEC2(min_f32_ftz, float, float, float, min_f32_of(flush(a), flush(b)))
EXEC2(max_f32_ftz, float, float, float, max_f32_of(flush(a), flush(b)))
EXEC2(min_f64, double, double, double, min_f64_of(a, b))
EXEC2(max_f64, double, double, double, max_f64_of(a, b))

/* With .NaN or .xorsign.abs. */
static enum step exec_minmax_special(struct warp *w, const struct insn *i, uint32_t mask) {
    float *d = at(w, i->d);
    const float *pa = at(w, i->a), *pb = at(w, i->b);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        float a = pa[l], b = pb[l];
        if (i->flags & F_FTZ)
            a = flush(a), b = flush(b);
        uint32_t sign = (bits32(a) ^ bits32(b)) & 0x80000000;
        if (i->flags & F_SIGNED)
            a = fabsf(a), b = fabsf(b);
        float v = i->op ? max_f32_of(a, b) : min_f32_of(a, b);
        if (i->flags & F_ALT && (a != a || b != b))
            v = float32(0x7fffffff);
        else if (i->flags & F_SIGNED)
            v = float32(bits32(v) | sign);
        d[l] = v;
    }
    return STEP_NEXT;
}

void build_float_minmax(struct loader *ld, enum type t, bool max) {
    struct stmt *st = ld->st;

    if (t != T_F32 && t != T_F64) {
        build_half_minmax(ld, t, max);
        return;
    }
    bool ftz = take(st, "ftz"), nan = take(st, "NaN"), xorsign = take(st, "xorsign");
    if (xorsign)
        take(st, "abs");
    if (t == T_F64) {
        if (ftz || nan || xorsign)
            st_syntax(ld, "a modifier does not fit the type");
        build_d_ab(ld, max ? max_f64 : min_f64, t);
    } else if (!nan && !xorsign) {
        build_d_ab(ld, max ? (ftz ? max_f32_ftz : max_f32) : (ftz ? min_f32_ftz : min_f32), t);
    } else {
        build_d_ab(ld, exec_minmax_special, t);
        if (ld->status != PTX_OK)
            return;
        struct insn *i = &ld->m->code[ld->m->code_count - 1];
        i->op = max;
        i->flags = (uint8_t)((ftz ? F_FTZ : 0) | (nan ? F_ALT : 0) | (xorsign ? F_SIGNED : 0));
    }
}

/* --- testp --- */

enum { FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL, TEST_COUNT };

static bool test(int what, double v, bool tiny) {
    switch (what) {
    case FINITE:
        return isfinite(v);
    case INFINITE:
        return isinf(v);
    case NUMBER:
        return !isnan(v);
    case NOTANUMBER:
        return isnan(v);
    case NORMAL:
        return isfinite(v) && !tiny && v != 0;
    default:
        return tiny && v != 0;
    }
}

static enum step exec_testp(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t yes = 0;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        bool single = i->type == T_F32;
        double v =
            single ? (double)((const float *)at(w, i->a))[l] : ((const double *)at(w, i->a))[l];
        bool tiny = fabs(v) < (single ? 0x1p-126 : 0x1p-1022);
        yes |= (uint32_t)test(i->op, v, tiny) << l;
    }
    set_pred(w, i->d, mask, yes);
    return STEP_NEXT;
}

static void build_testp(struct loader *ld, struct stmt *st) {
    static const char *const names[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    int what = 0;

    while (what < TEST_COUNT && !take(st, names[what]))
        what++;
    enum type t = need_type(ld);
    if (what == TEST_COUNT || (t != T_F32 && t != T_F64)) {
        st_syntax(ld, "impossible test or type");
        return;
    }
    if (!need_ops(ld, 2))
        return;
    uint32_t a = src(ld, &st->op[1], t), d = dst_pred_operand(ld, &st->op[0]);
    struct insn *i = emit(ld, exec_testp);
    i->d = d;
    i->a = a;
    i->op = (uint8_t)what;
    i->type = (uint8_t)t;
}

const struct opcode ops_sign[] = {
    {"copysign", build_copysign}, {"testp", build_testp}, {NULL, NULL}};
