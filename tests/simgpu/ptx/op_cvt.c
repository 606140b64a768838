// SPDX-License-Identifier: Apache-2.0
/* cvt between all types. The common pairs have a loop of their own, the others go lane by lane. */
#include "exec.h"
#include "half.h"

/* --- lane by lane: read as the widest of its kind, convert, write --- */

static int64_t read_int(const void *regs, enum type t, int l) {
    switch (t) {
    case T_U8:
    case T_B8:
        return ((const uint16_t *)regs)[l] & 0xff;
    case T_S8:
        return (int8_t)((const uint16_t *)regs)[l];
    case T_U16:
    case T_B16:
        return ((const uint16_t *)regs)[l];
    case T_S16:
        return ((const int16_t *)regs)[l];
    case T_U32:
    case T_B32:
        return ((const uint32_t *)regs)[l];
    case T_S32:
        return ((const int32_t *)regs)[l];
    default:
        return ((const int64_t *)regs)[l];
    }
}

static void write_int(void *regs, enum type t, int l, uint64_t v) {
    switch (type_size(t)) {
    case 1:
        ((uint16_t *)regs)[l] = t == T_S8 ? (uint16_t)(int8_t)v : (uint8_t)v;
        break;
    case 2:
        ((uint16_t *)regs)[l] = (uint16_t)v;
        break;
    case 4:
        ((uint32_t *)regs)[l] = (uint32_t)v;
        break;
    default:
        ((uint64_t *)regs)[l] = v;
    }
}

static double read_float(const void *regs, enum type t, int l, bool ftz) {
    float f;

    switch (t) {
    case T_F64:
        return ((const double *)regs)[l];
    case T_F32:
        f = ((const float *)regs)[l];
        break;
    default:
        return (double)half_value(((const uint16_t *)regs)[l], t == T_BF16);
    }
    return (double)(ftz ? flush(f) : f);
}

static int64_t top(enum type t) {
    unsigned bits = 8 * type_size(t) - type_signed(t);
    return bits >= 63 ? INT64_MAX : (int64_t)((1ull << bits) - 1);
}

/* An integer to the range of another type. */
static uint64_t clamp(int64_t v, enum type from, enum type to) {
    bool huge = !type_signed(from) && v < 0; /* a .u64 of 2^63 and more */
    int64_t low = type_signed(to) ? -top(to) - 1 : 0;

    if (huge)
        return type_size(to) == 8 && !type_signed(to) ? (uint64_t)v : (uint64_t)top(to);
    if (v < low)
        return (uint64_t)low;
    if (type_size(to) == 8)
        return (uint64_t)v;
    return (uint64_t)(v > top(to) ? top(to) : v);
}

static double to_integer(double v, enum round round) {
    switch (round) {
    case RND_Z:
        return trunc(v);
    case RND_M:
        return floor(v);
    case RND_P:
        return ceil(v);
    default:
        return rint(v);
    }
}

/* Floats become integers by saturation; what a NaN becomes depends on the widths. */
static uint64_t integer_of(double v, enum type from, enum type to, enum round round) {
    bool wide = type_size(to) == 8;

    if (v != v)
        return from == T_F64 || wide ? 1ull << (8 * type_size(to) - 1) : 0;
    v = to_integer(v, round);
    if (type_signed(to)) {
        double limit = wide ? 0x1p63 : (double)top(to) + 1;
        if (v >= limit)
            return (uint64_t)top(to);
        return v < -limit ? (uint64_t)(-top(to) - 1) : (uint64_t)(int64_t)v;
    }
    double limit = wide ? 0x1p64 : (double)top(to) + 1;
    if (v >= limit)
        return wide ? UINT64_MAX : (uint64_t)top(to);
    return v <= 0 ? 0 : (uint64_t)v;
}

static void write_float(void *regs, int l, const struct insn *i, double v, enum round round) {
    enum type t = i->type;

    if (t == T_F64) {
        ((double *)regs)[l] = i->flags & F_SAT ? saturate64(v) : v;
    } else if (t == T_F32) {
        float f = canonical(narrow(v, round));
        if (i->flags & F_FTZ)
            f = flush(f);
        ((float *)regs)[l] = i->flags & F_SAT ? saturate(f) : f;
    } else {
        if (i->flags & F_SAT)
            v = saturate64(v);
        if (i->flags & F_SIGNED && !(v > 0) && v == v) /* .relu */
            v = 0;
        ((uint16_t *)regs)[l] = round_half(v, t == T_BF16, round);
    }
}

static enum step exec_int_int(struct warp *w, const struct insn *i, uint32_t mask) {
    void *d = at(w, i->d);
    const void *a = at(w, i->a);
    enum type from = i->op;

    LANES(mask, int64_t v = read_int(a, from, l);
          write_int(d, i->type, l, i->flags & F_SAT ? clamp(v, from, i->type) : (uint64_t)v));
    return STEP_NEXT;
}

static enum step exec_float_int(struct warp *w, const struct insn *i, uint32_t mask) {
    void *d = at(w, i->d);
    const void *a = at(w, i->a);

    LANES(mask, double v = read_float(a, i->op, l, i->flags & F_FTZ);
          write_int(d, i->type, l, integer_of(v, i->op, i->type, i->round)));
    return STEP_NEXT;
}

static enum step exec_int_float(struct warp *w, const struct insn *i, uint32_t mask) {
    void *d = at(w, i->d);
    const void *a = at(w, i->a);
    bool big = i->op == T_U64; /* the only type that int64_t does not hold */

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        int64_t v = read_int(a, i->op, l);
        if (i->type == T_F64) {
            round_begin(i->round);
            double f = big ? from_u64((uint64_t)v) : from_s64(v);
            round_begin(RND_N);
            write_float(d, l, i, f, RND_N);
        } else {
            /* The upper half is exact and the lower breaks ties: as good as rounded to odd. */
            double hi = big ? (double)((uint64_t)v >> 32) : (double)(v >> 32);
            write_float(d, l, i, add_odd(hi * 0x1p32, (double)(uint32_t)v), i->round);
        }
    }
    return STEP_NEXT;
}

static enum step exec_float_float(struct warp *w, const struct insn *i, uint32_t mask) {
    void *d = at(w, i->d);
    const void *a = at(w, i->a);

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        double v = read_float(a, i->op, l, i->flags & F_FTZ);
        if (i->flags & F_ALT)
            v = copysign(to_integer(v, i->round), v);
        write_float(d, l, i, v, i->round);
    }
    return STEP_NEXT;
}

/* --- common pairs --- */

EXEC1(f32_s32, float, int32_t, a)
EXEC1(f32_u32, float, uint32_t, a)
EXEC1(f64_s32, double, int32_t, a)
EXEC1(f64_u32, double, uint32_t, a)
EXEC1(f64_s64, double, int64_t, a)
EXEC1(f32_s64, float, int64_t, a)
EXEC1(f64_f32, double, float, a)
EXEC1(f32_f64, float, double, canonical((float)a))
EXEC1(s32_f32_z, int32_t, float,
      a != a         ? 0
      : a >= 0x1p31f ? INT32_MAX
      : a < -0x1p31f ? INT32_MIN
                     : (int32_t)a)
static px_exec common_pair(enum type to, enum type from, enum round round, bool plain) {
    static const struct {
        uint8_t to, from, round;
        px_exec exec;
    } pairs[] = {
        {T_F32, T_S32, RND_N, f32_s32},   {T_F32, T_U32, RND_N, f32_u32},
        {T_F64, T_S32, RND_N, f64_s32},   {T_F64, T_U32, RND_N, f64_u32},
        {T_F64, T_S64, RND_N, f64_s64},   {T_F32, T_S64, RND_N, f32_s64},
        {T_F64, T_F32, RND_N, f64_f32},   {T_F32, T_F64, RND_N, f32_f64},
        {T_S32, T_F32, RND_Z, s32_f32_z},
    };

    if (!plain)
        return NULL;
    for (size_t k = 0; k < sizeof(pairs) / sizeof(*pairs); k++)
        if (pairs[k].to == to && pairs[k].from == from && pairs[k].round == round)
            return pairs[k].exec;
    return NULL;
}

/* --- building --- */

static bool is_int(enum type t) {
    return t >= T_U8 && t <= T_S64;
}

static bool is_float(enum type t) {
    return t == T_F16 || t == T_BF16 || t == T_F32 || t == T_F64;
}

static bool take_integer_round(struct stmt *st, enum round *round) {
    static const char *const names[] = {"rni", "rzi", "rmi", "rpi"};
    for (int k = 0; k < 4; k++)
        if (take(st, names[k])) {
            *round = (enum round)k;
            return true;
        }
    return false;
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half */
static enum step exec_pack_halves(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const float *a = at(w, i->a), *b = at(w, i->b);
    bool brain = i->type == T_BF16X2;

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        float hi = a[l], lo = b[l];
        if (i->flags & F_SIGNED) {
            hi = hi > 0 || hi != hi ? hi : 0;
            lo = lo > 0 || lo != lo ? lo : 0;
        }
        d[l] = (uint32_t)round_half(hi, brain, i->round) << 16 | round_half(lo, brain, i->round);
    }
    return STEP_NEXT;
}

static void build_pack_halves(struct loader *ld, enum type t, enum round round, bool relu) {
    struct stmt *st = ld->st;
    if (need_type(ld) != T_F32)
        st_refuse(ld, "only from .f32");
    if (!need_ops(ld, 3))
        return;
    uint32_t a = src(ld, &st->op[1], T_F32), b = src(ld, &st->op[2], T_F32);
    uint32_t d = dst(ld, &st->op[0], T_B32);
    struct insn *i = emit(ld, exec_pack_halves);
    i->d = d;
    i->a = a;
    i->b = b;
    i->type = (uint8_t)t;
    i->round = (uint8_t)round;
    i->flags = relu ? F_SIGNED : 0;
}

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: two narrow values in front of what c has */
static enum step exec_cvt_pack(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const uint32_t *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    unsigned bits = 8 * type_size(i->type);
    uint64_t low = (1ull << bits) - 1;

    LANES(mask, uint64_t hi = clamp((int32_t)a[l], T_S32, i->type) & low;
          uint64_t lo = clamp((int32_t)b[l], T_S32, i->type) & low;
          uint64_t rest = i->flags & F_ALT ? (uint64_t)c[l] << (2 * bits) : 0;
          d[l] = (uint32_t)(rest | hi << bits | lo));
    return STEP_NEXT;
}

static void build_cvt_pack(struct loader *ld, struct stmt *st) {
    bool sat = take(st, "sat");
    enum type to = need_type(ld), from = need_type(ld);
    bool with_c = take_type(ld) == T_B32;

    if (!sat || from != T_S32 || !is_int(to) || type_size(to) > 2 ||
        (with_c && type_size(to) != 1)) {
        st_refuse(ld, "these types");
        return;
    }
    if (!need_ops(ld, with_c ? 4 : 3))
        return;
    uint32_t a = src(ld, &st->op[1], T_B32), b = src(ld, &st->op[2], T_B32);
    uint32_t c = with_c ? src(ld, &st->op[3], T_B32) : a, d = dst(ld, &st->op[0], T_B32);
    struct insn *i = emit(ld, exec_cvt_pack);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = c;
    i->type = (uint8_t)to;
    i->flags = with_c ? F_ALT : 0;
}

/* tf32: 10 bits of fraction */
EXEC1(tf32_rna, uint32_t, uint32_t,
      (a & 0x7f800000) == 0x7f800000 ? (a & 0x7fffff ? 0x7fffffff : a) : (a + 0x1000) & ~0x1fffu)

static px_exec find_cvt(enum type to, enum type from, enum round round, bool plain) {
    px_exec e = common_pair(to, from, round, plain);

    if (e)
        return e;
    if (is_int(to) && is_int(from)) {
        if (plain && type_size(to) > 1 && type_size(from) > 1)
            return exec_move(type_size(to), type_size(from), type_signed(from));
        return exec_int_int;
    }
    if (is_int(to))
        return exec_float_int;
    return is_int(from) ? exec_int_float : exec_float_float;
}

static void build_cvt(struct loader *ld, struct stmt *st) {
    enum round round = RND_N;
    struct wide wide;

    if (take(st, "pack")) {
        build_cvt_pack(ld, st);
        return;
    }
    bool integral = take_integer_round(st, &round);
    if (!integral)
        round = take_round(st);
    bool ftz = take(st, "ftz"), relu = take(st, "relu"), sat = take(st, "sat");
    if (take(st, "tf32")) {
        if (need_type(ld) != T_F32 || round != RND_NA)
            st_refuse(ld, "only .rna.tf32.f32");
        build_d_a(ld, tf32_rna, T_B32);
        return;
    }
    enum type to = need_type(ld);
    if (to == T_F16X2 || to == T_BF16X2) {
        build_pack_halves(ld, to, round, relu);
        return;
    }
    enum type from = need_type(ld);
    if ((!is_int(to) && !is_float(to)) || (!is_int(from) && !is_float(from)) || round == RND_NA ||
        (relu && to != T_F16 && to != T_BF16)) {
        st_refuse(ld, "these types");
        return;
    }
    if (is_int(to) && is_float(from) && !integral)
        st_syntax(ld, "a float becomes an integer by .rni, .rzi, .rmi or .rpi");
    if (!need_ops(ld, 2))
        return;
    bool plain = !sat && !ftz && !(integral && is_float(to));
    uint32_t a = src_wide(ld, &st->op[1], from), d = dst_wide(ld, &st->op[0], to, &wide);
    struct insn *i = emit(ld, find_cvt(to, from, round, plain));
    i->d = d;
    i->a = a;
    i->op = (uint8_t)from;
    i->type = (uint8_t)to;
    i->round = (uint8_t)round;
    i->flags = (uint8_t)((ftz ? F_FTZ : 0) | (sat ? F_SAT : 0) |
                         (integral && is_float(to) ? F_ALT : 0) | (relu ? F_SIGNED : 0));
    dst_wide_done(ld, &wide);
}

const struct opcode ops_cvt[] = {{"cvt", build_cvt}, {NULL, NULL}};
