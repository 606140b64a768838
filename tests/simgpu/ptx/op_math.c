// SPDX-License-Identifier: Apache-2.0
/*
 * Approximations: .approx and .full. The hardware's last bits are not specified; these results are
 * nearer to the true value than the error that the instruction may have.
 */
#include "exec.h"
#include "half.h"

static float rsqrt32(float a) {
    return (float)(1.0 / sqrt((double)a));
}

/* Divisors above 2^126 give 0: the hardware multiplies by a reciprocal that it flushes. */
static float div_approx32(float a, float b) {
    float size = fabsf(b);
    if (size > 0x1p126f && size < INFINITY)
        return isfinite(a) ? float32((bits32(a) ^ bits32(b)) & 0x80000000) : a * 0.0f;
    return a / b;
}

#define SAME(x) (x)
#define CANON_FLUSH(x) canonical(flush(x))
#define EXEC_APPROX(n, f)                                                                          \
    EXEC1(n##_f32, float, float, canonical(f(a)))                                                  \
    EXEC1(n##_ftz, float, float, CANON_FLUSH(f(flush(a))))

static float reciprocal(float a) {
    return 1.0f / a;
}

static float tanh32(float a) {
    return (float)tanh((double)a);
}

EXEC_APPROX(rcp, reciprocal)
EXEC_APPROX(sqrt, sqrtf)
EXEC_APPROX(rsqrt, rsqrt32)
EXEC_APPROX(ex2, exp2f)
EXEC_APPROX(lg2, log2f)
EXEC_APPROX(sin, sinf)
EXEC_APPROX(cos, cosf)
EXEC_APPROX(tanh, tanh32)
EXEC2(div_f32, float, float, float, canonical(div_approx32(a, b)))
EXEC2(div_ftz, float, float, float, CANON_FLUSH(div_approx32(flush(a), flush(b))))
EXEC2(div_full, float, float, float, canonical(a / b))
EXEC2(div_full_ftz, float, float, float, CANON_FLUSH(flush(a) / flush(b)))

/* These look at the upper half of a double and give an upper half. */
static double upper_half(double v) {
    return float64(bits64(v) & 0xffffffff00000000);
}

static double flush64(double v) {
    uint64_t u = bits64(v);
    return float64(u & 0x7ff0000000000000 ? u : u & 1ull << 63);
}

EXEC1(rcp_half64, double, double, upper_half(flush64(1.0 / flush64(upper_half(a)))))
EXEC1(rsqrt_half64, double, double, upper_half(1.0 / sqrt(flush64(upper_half(a)))))
EXEC1(rsqrt_f64, double, double, 1.0 / sqrt(a))

static const struct approx {
    const char *name;
    px_exec exec, ftz, half64;
    float (*f)(float);
} table[] = {
    {"rcp", rcp_f32, rcp_ftz, rcp_half64, NULL},
    {"sqrt", sqrt_f32, sqrt_ftz, NULL, NULL},
    {"rsqrt", rsqrt_f32, rsqrt_ftz, rsqrt_half64, NULL},
    {"ex2", ex2_f32, ex2_ftz, NULL, exp2f},
    {"lg2", lg2_f32, lg2_ftz, NULL, NULL},
    {"sin", sin_f32, sin_ftz, NULL, NULL},
    {"cos", cos_f32, cos_ftz, NULL, NULL},
    {"tanh", tanh_f32, tanh_ftz, NULL, tanh32},
};

bool build_approx(struct loader *ld, struct stmt *st) {
    const struct approx *a = table;

    if (!take(st, "approx"))
        return false;
    while (strlen(a->name) != st->name_len || memcmp(a->name, st->name, st->name_len))
        a++;
    bool ftz = take(st, "ftz");
    enum type t = need_type(ld);
    if (t == T_F32)
        build_d_a(ld, ftz ? a->ftz : a->exec, t);
    else if (t == T_F64 && ftz && a->half64)
        build_d_a(ld, a->half64, t);
    else if (t == T_F64 && a->half64 == rsqrt_half64)
        build_d_a(ld, rsqrt_f64, t);
    else if (!a->f || !build_half_math(ld, t, a->f))
        st_refuse(ld, "not with this type");
    return true;
}

bool build_approx_div(struct loader *ld, enum type t) {
    struct stmt *st = ld->st;
    bool approx = take(st, "approx"), full = !approx && take(st, "full");

    if (!approx && !full)
        return false;
    bool ftz = take(st, "ftz");
    if (t != T_F32)
        st_syntax(ld, "impossible type");
    build_d_ab(ld, approx ? (ftz ? div_ftz : div_f32) : (ftz ? div_full_ftz : div_full), t);
    return true;
}

static void build_only_approx(struct loader *ld, struct stmt *st) {
    if (!build_approx(ld, st))
        st_syntax(ld, ".approx is missing");
}

const struct opcode ops_math[] = {{"rsqrt", build_only_approx},
                                  {"ex2", build_only_approx},
                                  {"lg2", build_only_approx},
                                  {"sin", build_only_approx},
                                  {"cos", build_only_approx},
                                  {"tanh", build_only_approx},
                                  {NULL, NULL}};
