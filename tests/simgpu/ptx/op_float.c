// SPDX-License-Identifier: Apache-2.0
/*
 * Arithmetic of single and double precision. To nearest it is one vector loop for each meaning of
 * .ftz and .sat; the other rounding modes are rare and go lane by lane.
 */
#include "exec.h"
#include "half.h"
#include "load.h"
#include "scalar.h"

#define SAME(x) (x)

/* --- to nearest --- */

#define VARIANTS(EXEC, op)                                                                         \
    EXEC(op, SAME, canonical)                                                                      \
    EXEC(op##_ftz, flush, CANON_FLUSH)                                                             \
    EXEC(op##_sat, SAME, saturate)                                                                 \
    EXEC(op##_ftz_sat, flush, SAT_FLUSH)                                                           \
    static const px_exec op##_exec[4] = {op, op##_ftz, op##_sat, op##_ftz_sat};
#define CANON_FLUSH(x) canonical(flush(x))
#define SAT_FLUSH(x) saturate(flush(x))

#define ADD32(n, IN, OUT) EXEC2(n, float, float, float, OUT(IN(a) + IN(b)))
#define SUB32(n, IN, OUT) EXEC2(n, float, float, float, OUT(IN(a) - IN(b)))
#define MUL32(n, IN, OUT) EXEC2(n, float, float, float, OUT(IN(a) * IN(b)))
#define DIV32(n, IN, OUT) EXEC2(n, float, float, float, OUT(IN(a) / IN(b)))
#define RCP32(n, IN, OUT) EXEC1(n, float, float, OUT(1.0f / IN(a)))
#define SQRT32(n, IN, OUT) EXEC1(n, float, float, OUT(sqrtf(IN(a))))

VARIANTS(ADD32, add_f32)
VARIANTS(SUB32, sub_f32)
VARIANTS(MUL32, mul_f32)
VARIANTS(DIV32, div_f32)
VARIANTS(RCP32, rcp_f32)
VARIANTS(SQRT32, sqrt_f32)

/*
 * fma: the product is exact in double, the sum is rounded there once; rounding it again to float is
 * wrong only if the first rounding landed half way between two floats, or among subnormals.
 */
static bool any_doubtful(const double *sum) {
    const uint32_t *word = (const uint32_t *)sum;
    uint32_t doubtful = 0;

    for (int l = 0; l < WARP; l++) {
        uint32_t lo = word[2 * l] & 0x1fffffff, hi = word[2 * l + 1] & 0x7fffffff;
        doubtful |= (lo == 0x10000000) | (hi - 1 < 0x38100000 - 1);
    }
    return doubtful;
}

#define FMA32(n, IN, OUT)                                                                          \
    static enum step n(struct warp *w, const struct insn *i, uint32_t mask) {                      \
        float *d = at(w, i->d);                                                                    \
        const float *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);                          \
        double sum[WARP];                                                                          \
        for (int l = 0; l < WARP; l++)                                                             \
            sum[l] = (double)IN(a[l]) * (double)IN(b[l]) + (double)IN(c[l]);                       \
        if (!any_doubtful(sum))                                                                    \
            LANES(mask, d[l] = OUT((float)sum[l]));                                                \
        else                                                                                       \
            LANES(mask, d[l] = OUT(fma32(IN(a[l]), IN(b[l]), IN(c[l]))));                          \
        return STEP_NEXT;                                                                          \
    }
VARIANTS(FMA32, fma_f32)

EXEC2(add_f64, double, double, double, a + b)
EXEC2(sub_f64, double, double, double, a - b)
EXEC2(mul_f64, double, double, double, a *b)
EXEC2(div_f64, double, double, double, a / b)
EXEC1(rcp_f64, double, double, 1.0 / a)
EXEC1(sqrt_f64, double, double, sqrt(a))
EXEC3(fma_f64, double, double, double, double, fma(a, b, c))

/* --- other rounding modes --- */

static enum step exec_round32(struct warp *w, const struct insn *i, uint32_t mask) {
    float *d = at(w, i->d);
    const float *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    bool ftz = i->flags & F_FTZ;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        float v = ftz ? arith32(i->op, flush(a[l]), flush(b[l]), flush(c[l]), i->round)
                      : arith32(i->op, a[l], b[l], c[l], i->round);
        v = canonical(ftz ? flush(v) : v);
        d[l] = i->flags & F_SAT ? saturate(v) : v;
    }
    return STEP_NEXT;
}

static enum step exec_round64(struct warp *w, const struct insn *i, uint32_t mask) {
    double *d = at(w, i->d);
    const double *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);

    round_begin(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        d[l] = arith64(i->op, a[l], b[l], c[l]);
    }
    round_begin(RND_N);
    return STEP_NEXT;
}

/* --- building --- */

enum round take_round(struct stmt *st) {
    return take(st, "rz")    ? RND_Z
           : take(st, "rm")  ? RND_M
           : take(st, "rp")  ? RND_P
           : take(st, "rna") ? RND_NA
                             : (take(st, "rn"), RND_N);
}

/* d = op(op[1], op[2], op[3]), of which `count` are written; a quotient of 1 has one. */
static void build_arith(struct loader *ld, enum type t, enum arith op, px_exec nearest,
                        unsigned count, enum round round, bool ftz, bool sat) {
    struct stmt *st = ld->st;
    uint32_t s[3] = {0};

    if (!need_ops(ld, count + 1))
        return;
    for (unsigned k = 0; k < count; k++)
        s[k] = src(ld, &st->op[k + 1], t);
    if (op == ARITH_DIV && count == 1) {
        s[1] = s[0];
        s[0] = pool_const(ld, type_size(t), t == T_F64 ? bits64(1.0) : bits32(1.0f));
    }
    for (unsigned k = 1; k < 3; k++)
        if (!s[k])
            s[k] = s[0];
    uint32_t d = dst(ld, &st->op[0], t);
    bool rounded = round != RND_N;
    struct insn *i = emit(ld, !rounded ? nearest : t == T_F64 ? exec_round64 : exec_round32);
    i->d = d;
    i->a = !rounded && count == 1 && op == ARITH_DIV ? s[1] : s[0];
    i->b = s[1];
    i->c = s[2];
    i->op = (uint8_t)op;
    i->round = (uint8_t)round;
    i->flags = (uint8_t)((ftz ? F_FTZ : 0) | (sat ? F_SAT : 0));
}

static void build_float(struct loader *ld, enum type t, enum arith op, const px_exec *single,
                        px_exec twice, unsigned count) {
    struct stmt *st = ld->st;

    if (t != T_F32 && t != T_F64) {
        build_half_arith(ld, t, op);
        return;
    }
    enum round round = take_round(st);
    bool ftz = take(st, "ftz"), sat = take(st, "sat");
    if (round == RND_NA || (t == T_F64 && (ftz || sat)))
        st_syntax(ld, "a modifier does not fit the type");
    build_arith(ld, t, op, t == T_F64 ? twice : single[ftz + 2 * sat], count, round, ftz, sat);
}

void build_float_addsub(struct loader *ld, enum type t) {
    if (*ld->st->name == 's')
        build_float(ld, t, ARITH_SUB, sub_f32_exec, sub_f64, 2);
    else
        build_float(ld, t, ARITH_ADD, add_f32_exec, add_f64, 2);
}

void build_float_mul(struct loader *ld, enum type t) {
    build_float(ld, t, ARITH_MUL, mul_f32_exec, mul_f64, 2);
}

void build_float_fma(struct loader *ld, enum type t) {
    build_float(ld, t, ARITH_FMA, fma_f32_exec, fma_f64, 3);
}

static void build_fma(struct loader *ld, struct stmt *st) {
    (void)st;
    enum type t = need_type(ld);
    if (!type_float(t))
        st_syntax(ld, "a type of floats is needed");
    else
        build_float_fma(ld, t);
}

void build_float_div(struct loader *ld, enum type t) {
    if (build_approx_div(ld, t))
        return;
    build_float(ld, t, ARITH_DIV, div_f32_exec, div_f64, 2);
}

static void build_rcp(struct loader *ld, struct stmt *st) {
    if (build_approx(ld, st))
        return;
    enum type t = need_type(ld);
    if (t != T_F32 && t != T_F64)
        st_syntax(ld, "impossible type");
    else
        build_float(ld, t, ARITH_DIV, rcp_f32_exec, rcp_f64, 1);
}

static void build_sqrt(struct loader *ld, struct stmt *st) {
    if (build_approx(ld, st))
        return;
    enum type t = need_type(ld);
    if (t != T_F32 && t != T_F64)
        st_syntax(ld, "impossible type");
    else
        build_float(ld, t, ARITH_SQRT, sqrt_f32_exec, sqrt_f64, 1);
}

const struct opcode ops_float[] = {
    {"fma", build_fma}, {"rcp", build_rcp}, {"sqrt", build_sqrt}, {NULL, NULL}};
