/* SPDX-License-Identifier: Apache-2.0 */
/* Single values: flushing, canonical NaNs, 16-bit floats. */
#ifndef PTX_SCALAR_H
#define PTX_SCALAR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ir.h"

static inline uint32_t bits32(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float float32(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline uint64_t bits64(double f) {
    uint64_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline double float64(uint64_t u) {
    double f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

/* Subnormal to zero of the same sign. */
static inline float flush(float f) {
    uint32_t u = bits32(f);
    return float32((u & 0x7f800000) ? u : u & 0x80000000);
}

/* Every NaN that an instruction of single precision makes is this one. */
static inline float canonical(float f) {
    return f == f ? f : float32(0x7fffffff);
}

/* To [0, 1]; NaN becomes 0. */
static inline float saturate(float f) {
    return f > 0 ? (f < 1 ? f : 1.0f) : 0.0f;
}

static inline double saturate64(double f) {
    return f > 0 ? (f < 1 ? f : 1.0) : 0.0;
}

/* Value of an f16, or of a bf16 (brain). */
float half_value(uint16_t bits, bool brain);

/* Subnormal as an f16 to zero. */
static inline float flush_half(float f) {
    return f < 0x1p-14f && f > -0x1p-14f ? copysignf(0, f) : f;
}

/*
 * A double rounded to f16 or bf16. The double must be exact, or rounded to odd, for a correct
 * result. Too large gives infinity, or the largest number when rounding goes that way.
 */
uint16_t round_half(double v, bool brain, enum round round);

/* Sums and products of doubles, rounded to odd: they can be rounded again without harm. */
double add_odd(double a, double b);
double fma_odd(double a, double b, double c);

/* Single-precision fma, exactly rounded to nearest. */
float fma32(float a, float b, float c);

/* A double that is exact, or rounded to odd, to single precision. */
float narrow(double v, enum round round);

/* Single-precision operations in any rounding mode; the host's must be to nearest. */
enum arith { ARITH_ADD, ARITH_SUB, ARITH_MUL, ARITH_DIV, ARITH_FMA, ARITH_SQRT };
float arith32(enum arith op, float a, float b, float c, enum round round);

/* Sets the host's rounding mode for what follows; RND_N ends it. */
void round_begin(enum round round);
double arith64(enum arith op, double a, double b, double c);
double from_s64(int64_t v);
double from_u64(uint64_t v);

#endif
