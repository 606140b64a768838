// SPDX-License-Identifier: Apache-2.0
/* Built with -frounding-math: the rounding mode changes while these functions are used. */
#include "scalar.h"

#include <fenv.h>

float half_value(uint16_t bits, bool brain) {
    if (brain)
        return float32((uint32_t)bits << 16);
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exp = bits >> 10 & 31, frac = bits & 0x3ff;
    if (exp == 31)
        return float32(sign | 0x7f800000 | frac << 13);
    if (exp)
        return float32(sign | (exp + 112) << 23 | frac << 13);
    float v = (float)frac * 0x1p-24f; /* exact */
    return float32(sign | bits32(v));
}

/* Whether a fraction of `rest` out of `unit` is rounded away from zero. */
static bool round_up(uint64_t rest, uint64_t unit, bool odd, bool negative, enum round round) {
    switch (round) {
    case RND_N:
        return rest > unit / 2 || (rest == unit / 2 && odd);
    case RND_NA:
        return rest >= unit / 2;
    case RND_M:
        return negative && rest;
    case RND_P:
        return !negative && rest;
    default:
        return false;
    }
}

uint16_t round_half(double v, bool brain, enum round round) {
    const int mant = brain ? 7 : 10, bias = brain ? 127 : 15, top = brain ? 255 : 31;
    uint64_t u = bits64(v), frac = u & ((1ull << 52) - 1);
    int exp = (int)(u >> 52 & 0x7ff);
    bool negative = u >> 63;
    uint32_t sign = (uint32_t)negative << 15;

    if (exp == 0x7ff)
        return (uint16_t)(frac ? 0x7fff : sign | (uint32_t)top << mant);
    if (!exp) /* zero, or far below what the result can hold */
        return (uint16_t)(sign | round_up(frac ? 1 : 0, 1ull << 60, false, negative, round));
    frac |= 1ull << 52;
    int e = exp - 1023 + bias; /* biased exponent of the result, subnormal below 1 */
    int drop = 52 - mant + (e < 1 ? 1 - e : 0);
    if (drop > 60) {
        drop = 60;
        frac = 1; /* sticky */
    }
    uint64_t unit = 1ull << drop, kept = frac >> drop;
    kept += round_up(frac & (unit - 1), unit, kept & 1, negative, round);
    /* A carry out of the fraction raises the exponent by itself. */
    uint64_t out = e < 1 ? kept : ((uint64_t)(e - 1) << mant) + kept;
    if (out >= (uint64_t)top << mant) {
        bool to_largest =
            round == RND_Z || (round == RND_M && !negative) || (round == RND_P && negative);
        out = ((uint64_t)top << mant) - to_largest;
    }
    return (uint16_t)(sign | out);
}

/* v is s rounded to nearest, s = v + error: make the last bit odd if that was inexact. */
static double to_odd(double v, double error) {
    uint64_t u = bits64(v);

    if (error == 0 || !isfinite(v) || u & 1)
        return v;
    bool away = (error > 0) == !(u >> 63);
    return float64(away ? u + 1 : u - 1);
}

double add_odd(double a, double b) {
    double s = a + b;
    if (!isfinite(s))
        return s;
    double t = s - a; /* the two-sum: its error is exact */
    double error = (a - (s - t)) + (b - t);
    return to_odd(s, error);
}

double fma_odd(double a, double b, double c) {
    return add_odd(a * b, c); /* for factors of at most 26 bits the product is exact */
}

float fma32(float a, float b, float c) {
    return (float)fma_odd(a, b, c);
}

void round_begin(enum round round) {
    static const int modes[] = {[RND_N] = FE_TONEAREST,
                                [RND_Z] = FE_TOWARDZERO,
                                [RND_M] = FE_DOWNWARD,
                                [RND_P] = FE_UPWARD,
                                [RND_NA] = FE_TONEAREST};
    fesetround(modes[round]);
}

float narrow(double v, enum round round) {
    float f = (float)v;
    uint32_t u = bits32(f);
    bool too_far;

    if (round == RND_N || (double)f == v || v != v)
        return f;
    if (round == RND_Z)
        too_far = fabs((double)f) > fabs(v);
    else
        too_far = round == RND_M ? (double)f > v : (double)f < v;
    if (!too_far)
        return f;
    bool smaller = round == RND_Z || (round == RND_M) == (v > 0);
    return float32(smaller ? u - 1 : u + 1);
}

/* x + y with an exact zero of the sign that the rounding mode asks for. */
static float sum32(double x, double y, enum round round) {
    double s = add_odd(x, y);
    if (s == 0 && round == RND_M && !(x == 0 && y == 0 && !signbit(x) && !signbit(y)))
        return -0.0f;
    return narrow(s, round);
}

float arith32(enum arith op, float a, float b, float c, enum round round) {
    float v;

    switch (op) {
    case ARITH_ADD:
        return sum32(a, b, round);
    case ARITH_SUB:
        return sum32(a, -(double)b, round);
    case ARITH_MUL:
        return narrow((double)a * b, round);
    case ARITH_FMA:
        return sum32((double)a * b, c, round);
    default:
        round_begin(round);
        v = op == ARITH_DIV ? a / b : sqrtf(a);
        round_begin(RND_N);
        return v;
    }
}

double from_s64(int64_t v) {
    return (double)v;
}

double from_u64(uint64_t v) {
    return (double)v;
}

double arith64(enum arith op, double a, double b, double c) {
    switch (op) {
    case ARITH_ADD:
        return a + b;
    case ARITH_SUB:
        return a - b;
    case ARITH_MUL:
        return a * b;
    case ARITH_DIV:
        return a / b;
    case ARITH_FMA:
        return fma(a, b, c);
    default:
        return sqrt(a);
    }
}
