// SPDX-License-Identifier: Apache-2.0
/*
 * 16-bit floats, alone and in pairs. Each result is computed in double, exact or rounded to odd,
 * and rounded once to 16 bits.
 */
#include "exec.h"
#include "half.h"

enum half_op { H_ADD, H_SUB, H_MUL, H_FMA, H_MIN, H_MAX, H_ABS, H_NEG, H_MATH };

/* insn.n */
enum { H_RELU = 1, H_NAN = 2, H_XORSIGN = 4 };

#define HALF_NAN 0x7fff

static bool is_nan(uint16_t v, bool brain) {
    return (v & 0x7fff) > (brain ? 0x7f80 : 0x7c00);
}

static uint16_t pick(const struct insn *i, uint16_t a, uint16_t b, bool brain) {
    uint16_t sign = (a ^ b) & 0x8000;

    if (i->n & H_NAN && (is_nan(a, brain) || is_nan(b, brain)))
        return HALF_NAN;
    if (i->n & H_XORSIGN) {
        a &= 0x7fff;
        b &= 0x7fff;
    } else {
        sign = 0;
    }
    if (is_nan(a, brain))
        return is_nan(b, brain) ? HALF_NAN : b | sign;
    if (is_nan(b, brain))
        return a | sign;
    float x = half_value(a, brain), y = half_value(b, brain);
    bool a_first = x < y || (x == y && a >> 15); /* -0 comes before +0 */
    return (a_first == (i->op == H_MIN) ? a : b) | sign;
}

static double compute(const struct insn *i, double a, double b, double c) {
    switch (i->op) {
    case H_ADD:
        return add_odd(a, b);
    case H_SUB:
        return add_odd(a, -b);
    case H_MUL:
        return a * b;
    case H_FMA:
        return fma_odd(a, b, c);
    default:
        return (double)((float (*)(float))i->info)((float)a);
    }
}

static uint16_t one(const struct insn *i, uint16_t a, uint16_t b, uint16_t c) {
    bool brain = i->type == T_BF16 || i->type == T_BF16X2, ftz = i->flags & F_FTZ && !brain;

    if (i->op == H_ABS || i->op == H_NEG) {
        if (ftz && !(a & 0x7c00))
            a &= 0x8000;
        return i->op == H_ABS ? a & 0x7fff : a ^ 0x8000;
    }
    if (ftz) {
        a = a & 0x7c00 ? a : a & 0x8000;
        b = b & 0x7c00 ? b : b & 0x8000;
        c = c & 0x7c00 ? c : c & 0x8000;
    }
    if (i->op == H_MIN || i->op == H_MAX)
        return pick(i, a, b, brain);
    double v = compute(i, half_value(a, brain), half_value(b, brain), half_value(c, brain));
    if (v != v)
        return i->flags & F_SAT ? 0 : HALF_NAN;
    if (i->flags & F_SAT)
        v = saturate64(v);
    uint16_t r = round_half(v, brain, RND_N);
    if (ftz && !(r & 0x7c00))
        r &= 0x8000;
    return i->n & H_RELU && r >> 15 ? 0 : r;
}

static enum step exec_half(struct warp *w, const struct insn *i, uint32_t mask) {
    uint16_t *d = at(w, i->d);
    const uint16_t *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    int parts = i->type == T_F16X2 || i->type == T_BF16X2 ? 2 : 1;

    for (uint32_t m = mask; m; m &= m - 1) {
        int first = __builtin_ctz(m) * parts;
        for (int k = first; k < first + parts; k++)
            d[k] = one(i, a[k], b[k], c[k]);
    }
    return STEP_NEXT;
}

static bool is_half(enum type t) {
    return t >= T_F16 && t <= T_BF16X2;
}

/* d = op(op[1]...); the modifiers of the operation are taken, those that it does not have stay. */
static struct insn *build_half(struct loader *ld, enum type t, enum half_op op, unsigned count) {
    struct stmt *st = ld->st;
    uint32_t s[3] = {0};
    bool arith = op <= H_FMA, ftz = take(st, "ftz");

    if (arith)
        take(st, "rn");
    bool sat = arith && take(st, "sat"), relu = op == H_FMA && take(st, "relu");
    if (!is_half(t) || !need_ops(ld, count + 1)) {
        st_syntax(ld, "impossible type");
        return NULL;
    }
    for (unsigned k = 0; k < 3; k++)
        s[k] = k < count ? src(ld, &st->op[k + 1], t) : s[0];
    uint32_t d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, exec_half);
    i->d = d;
    i->a = s[0];
    i->b = s[1];
    i->c = s[2];
    i->op = (uint8_t)op;
    i->type = (uint8_t)t;
    i->n = relu ? H_RELU : 0;
    i->flags = (uint8_t)((ftz ? F_FTZ : 0) | (sat ? F_SAT : 0));
    return i;
}

void build_half_arith(struct loader *ld, enum type t, enum arith op) {
    static const enum half_op ops[] = {
        [ARITH_ADD] = H_ADD, [ARITH_SUB] = H_SUB, [ARITH_MUL] = H_MUL, [ARITH_FMA] = H_FMA};
    if (op == ARITH_DIV || op == ARITH_SQRT)
        st_syntax(ld, "impossible type");
    else
        build_half(ld, t, ops[op], op == ARITH_FMA ? 3 : 2);
}

void build_half_minmax(struct loader *ld, enum type t, bool max) {
    struct stmt *st = ld->st;
    bool nan = take(st, "NaN"), xorsign = take(st, "xorsign");

    if (xorsign)
        take(st, "abs");
    struct insn *i = build_half(ld, t, max ? H_MAX : H_MIN, 2);
    if (i)
        i->n = (uint8_t)((nan ? H_NAN : 0) | (xorsign ? H_XORSIGN : 0));
}

void build_half_absneg(struct loader *ld, enum type t, bool neg) {
    build_half(ld, t, neg ? H_NEG : H_ABS, 1);
}

bool build_half_math(struct loader *ld, enum type t, float (*f)(float)) {
    if (!is_half(t))
        return false;
    struct insn *i = build_half(ld, t, H_MATH, 1);
    if (i)
        i->info = (const void *)f;
    return true;
}
