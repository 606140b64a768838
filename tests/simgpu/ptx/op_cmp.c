// SPDX-License-Identifier: Apache-2.0
/* Comparisons: setp and set; selections: selp and slct. */
#include "exec.h"
#include "load.h"
#include "scalar.h"

enum cmp { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_, CMP_COUNT };
enum bool_op { OP_NONE, OP_AND, OP_OR, OP_XOR };

/* p = cmp op c, q = !cmp op c; x[0] is q, c the third predicate */
static enum step finish(struct warp *w, const struct insn *i, uint32_t mask, uint32_t yes) {
    uint32_t no = ~yes;

    if (i->op != OP_NONE) {
        uint32_t c = pred(w, i->c);
        yes = i->op == OP_AND ? yes & c : i->op == OP_OR ? yes | c : yes ^ c;
        no = i->op == OP_AND ? no & c : i->op == OP_OR ? no | c : no ^ c;
    }
    set_pred(w, i->d, mask, yes);
    if (i->flags & F_ALT)
        set_pred(w, i->x[0], mask, no);
    return STEP_NEXT;
}

#define EXEC_CMP(name, T, conv, expr)                                                              \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        const T *pa = at(w, i->a), *pb = at(w, i->b);                                              \
        uint32_t yes = 0;                                                                          \
        for (int l = 0; l < WARP; l++) {                                                           \
            T a = conv(pa[l]), b = conv(pb[l]);                                                    \
            yes |= (uint32_t)(expr) << l;                                                          \
        }                                                                                          \
        return finish(w, i, mask, yes);                                                            \
    }
#define EXEC_ORDER(s, T, conv)                                                                     \
    EXEC_CMP(lt_##s, T, conv, a < b)                                                               \
    EXEC_CMP(le_##s, T, conv, a <= b)                                                              \
    EXEC_CMP(gt_##s, T, conv, a > b)                                                               \
    EXEC_CMP(ge_##s, T, conv, a >= b)
#define EXEC_EQUAL(s, T, conv) EXEC_CMP(eq_##s, T, conv, a == b)
#define EXEC_FLOAT(s, T, conv)                                                                     \
    EXEC_ORDER(s, T, conv)                                                                         \
    EXEC_EQUAL(s, T, conv)                                                                         \
    EXEC_CMP(ne_##s, T, conv, a<b || a> b)                                                         \
    EXEC_CMP(equ_##s, T, conv, !(a < b || a > b))                                                  \
    EXEC_CMP(neu_##s, T, conv, a != b)                                                             \
    EXEC_CMP(ltu_##s, T, conv, !(a >= b))                                                          \
    EXEC_CMP(leu_##s, T, conv, !(a > b))                                                           \
    EXEC_CMP(gtu_##s, T, conv, !(a <= b))                                                          \
    EXEC_CMP(geu_##s, T, conv, !(a < b))                                                           \
    EXEC_CMP(num_##s, T, conv, a == a && b == b)                                                   \
    EXEC_CMP(nan_##s, T, conv, a != a || b != b)

EXEC_EQUAL(16, uint16_t, )
EXEC_EQUAL(32, uint32_t, )
EXEC_EQUAL(64, uint64_t, )
EXEC_CMP(ne_16, uint16_t, , a != b)
EXEC_CMP(ne_32, uint32_t, , a != b)
EXEC_CMP(ne_64, uint64_t, , a != b)
EXEC_ORDER(u16, uint16_t, )
EXEC_ORDER(s16, int16_t, )
EXEC_ORDER(u32, uint32_t, )
EXEC_ORDER(s32, int32_t, )
EXEC_ORDER(u64, uint64_t, )
EXEC_ORDER(s64, int64_t, )
EXEC_FLOAT(f32, float, )
EXEC_FLOAT(f32_ftz, float, flush)
EXEC_FLOAT(f64, double, )

#define ROW_ORDER(s) [LT] = lt_##s, [LE] = le_##s, [GT] = gt_##s, [GE] = ge_##s
#define ROW_INT(s, n)                                                                              \
    { [EQ] = eq_##n, [NE] = ne_##n, ROW_ORDER(s) }
#define ROW_FLOAT(s)                                                                               \
    {                                                                                              \
        [EQ] = eq_##s, [NE] = ne_##s,                                                              \
        ROW_ORDER(s), [EQU] = equ_##s, [NEU] = neu_##s, [LTU] = ltu_##s, [LEU] = leu_##s,          \
        [GTU] = gtu_##s, [GEU] = geu_##s, [NUM] = num_##s, [NAN_] = nan_##s                        \
    }

static const px_exec cmp_exec[T_COUNT][CMP_COUNT] = {
    [T_B16] = {[EQ] = eq_16, [NE] = ne_16},
    [T_B32] = {[EQ] = eq_32, [NE] = ne_32},
    [T_B64] = {[EQ] = eq_64, [NE] = ne_64},
    [T_U16] = ROW_INT(u16, 16),
    [T_S16] = ROW_INT(s16, 16),
    [T_U32] = ROW_INT(u32, 32),
    [T_S32] = ROW_INT(s32, 32),
    [T_U64] = ROW_INT(u64, 64),
    [T_S64] = ROW_INT(s64, 64),
    [T_F32] = ROW_FLOAT(f32),
    [T_F64] = ROW_FLOAT(f64),
};
static const px_exec cmp_ftz[CMP_COUNT] = ROW_FLOAT(f32_ftz);

/* --- halves: one value, or two of which each gets its predicate --- */

static bool compare(int cmp, float a, float b) {
    bool unordered = a != a || b != b;

    switch (cmp) {
    case EQ:
        return a == b;
    case NE:
        return !unordered && a != b;
    case LT:
        return a < b;
    case LE:
        return a <= b;
    case GT:
        return a > b;
    case GE:
        return a >= b;
    case EQU:
        return unordered || a == b;
    case NEU:
        return unordered || a != b;
    case LTU:
        return unordered || a < b;
    case LEU:
        return unordered || a <= b;
    case GTU:
        return unordered || a > b;
    case GEU:
        return unordered || a >= b;
    case NUM:
        return !unordered;
    default:
        return unordered;
    }
}

/* Halves of every lane as floats, lower or upper. */
static bool compare_halves(const struct warp *w, const struct insn *i, int l, int part) {
    bool brain = i->type == T_BF16 || i->type == T_BF16X2;
    bool two = i->type == T_F16X2 || i->type == T_BF16X2;
    const uint16_t *a = at(w, i->a), *b = at(w, i->b);
    int k = two ? 2 * l + part : l;
    float x = half_value(a[k], brain), y = half_value(b[k], brain);

    if (i->flags & F_FTZ && !brain) {
        x = flush_half(x);
        y = flush_half(y);
    }
    return compare(i->cmp, x, y);
}

static enum step exec_cmp_half(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t yes = 0;
    for (int l = 0; l < WARP; l++)
        yes |= (uint32_t)compare_halves(w, i, l, 0) << l;
    return finish(w, i, mask, yes);
}

static enum step exec_cmp_half2(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t yes[2] = {0};

    for (int part = 0; part < 2; part++) {
        for (int l = 0; l < WARP; l++)
            yes[part] |= (uint32_t)compare_halves(w, i, l, part) << l;
        if (i->op != OP_NONE) {
            uint32_t c = pred(w, i->c);
            yes[part] = i->op == OP_AND  ? yes[part] & c
                        : i->op == OP_OR ? yes[part] | c
                                         : yes[part] ^ c;
        }
    }
    set_pred(w, i->d, mask, yes[0]);
    if (i->flags & F_ALT)
        set_pred(w, i->x[0], mask, yes[1]);
    return STEP_NEXT;
}

/* --- building --- */

static int take_cmp(struct stmt *st, bool *is_unsigned) {
    static const struct {
        const char *name;
        int cmp;
    } names[] = {{"eq", EQ},   {"ne", NE},   {"lt", LT},   {"le", LE},   {"gt", GT},
                 {"ge", GE},   {"equ", EQU}, {"neu", NEU}, {"ltu", LTU}, {"leu", LEU},
                 {"gtu", GTU}, {"geu", GEU}, {"num", NUM}, {"nan", NAN_}};
    static const struct {
        const char *name;
        int cmp;
    } unsigned_names[] = {{"lo", LT}, {"ls", LE}, {"hi", GT}, {"hs", GE}};

    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (take(st, names[k].name))
            return names[k].cmp;
    for (size_t k = 0; k < sizeof(unsigned_names) / sizeof(*unsigned_names); k++)
        if (take(st, unsigned_names[k].name)) {
            *is_unsigned = true;
            return unsigned_names[k].cmp;
        }
    return -1;
}

static px_exec find_cmp(enum type t, int cmp, bool ftz) {
    if (t == T_F16 || t == T_BF16)
        return exec_cmp_half;
    if (t == T_F16X2 || t == T_BF16X2)
        return exec_cmp_half2;
    if (ftz)
        return t == T_F32 ? cmp_ftz[cmp] : NULL;
    return cmp_exec[t][cmp];
}

/*
 * The comparison of op[1] and op[2], combined with the predicate op[3] if there is one, into the
 * predicates p and, if q is not NULL, q.
 */
static void build_compare(struct loader *ld, int cmp, enum bool_op op, enum type t, bool ftz,
                          uint32_t p, const uint32_t *q) {
    struct stmt *st = ld->st;
    px_exec e = cmp < 0 ? NULL : find_cmp(t, cmp, ftz);

    if (!e) {
        st_syntax(ld, "impossible comparison");
        return;
    }
    if (!need_ops(ld, op ? 4 : 3))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], t);
    uint32_t c = op ? src_pred(ld, &st->op[3]) : PRED_TRUE;
    struct insn *i = emit(ld, e);
    i->d = p;
    i->a = a;
    i->b = b;
    i->c = c;
    i->op = op;
    i->cmp = (uint8_t)cmp;
    i->type = (uint8_t)t;
    i->flags = ftz ? F_FTZ : 0;
    if (q) {
        i->x[0] = *q;
        i->flags |= F_ALT;
    }
}

static enum bool_op take_bool(struct stmt *st) {
    return take(st, "and") ? OP_AND : take(st, "or") ? OP_OR : take(st, "xor") ? OP_XOR : OP_NONE;
}

static void build_setp(struct loader *ld, struct stmt *st) {
    bool is_unsigned = false;
    int cmp = take_cmp(st, &is_unsigned);
    enum bool_op op = take_bool(st);
    bool ftz = take(st, "ftz");
    enum type t = need_type(ld);
    const struct operand *o = &st->op[0];

    if (!st->op_count || o->kind != OPD_NAME) {
        st_syntax(ld, "a predicate was expected");
        return;
    }
    if (is_unsigned && (type_signed(t) || type_float(t)))
        st_syntax(ld, "an unsigned comparison of another type");
    uint32_t p = dst_pred(ld, o->s, o->len), q = 0;
    if (o->pair)
        q = dst_pred(ld, o->pair, o->pair_len);
    build_compare(ld, cmp, op, t, ftz, p, o->pair ? &q : NULL);
}

#define EXEC_SELP(name, T)                                                                         \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        T *d = at(w, i->d);                                                                        \
        const T *a = at(w, i->a), *b = at(w, i->b);                                                \
        uint32_t p = pred(w, i->c);                                                                \
        LANES(mask, T t = a[l]; T f = b[l]; d[l] = p >> l & 1 ? t : f);                            \
        return STEP_NEXT;                                                                          \
    }
EXEC_SELP(exec_selp_16, uint16_t)
EXEC_SELP(exec_selp_32, uint32_t)
EXEC_SELP(exec_selp_64, uint64_t)

static void emit_selp(struct loader *ld, uint32_t d, uint32_t a, uint32_t b, uint32_t p,
                      unsigned size) {
    struct insn *i = emit(ld, size == 2 ? exec_selp_16 : size == 4 ? exec_selp_32 : exec_selp_64);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = p;
}

static void build_selp(struct loader *ld, struct stmt *st) {
    enum type t = need_type(ld);

    if (t == T_PRED || type_size(t) == 1) {
        st_syntax(ld, "impossible type");
        return;
    }
    if (!need_ops(ld, 4))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], t);
    uint32_t p = src_pred(ld, &st->op[3]), d = dst(ld, &st->op[0], t);
    emit_selp(ld, d, a, b, p, reg_size(t));
}

/* What set writes for true. */
static uint64_t truth(enum type t) {
    switch (t) {
    case T_F32:
        return 0x3f800000;
    case T_F16:
        return 0x3c00;
    case T_BF16:
        return 0x3f80;
    case T_F16X2:
        return 0x3c00;
    case T_BF16X2:
        return 0x3f80;
    default:
        return ~0ull;
    }
}

static void build_set(struct loader *ld, struct stmt *st) {
    bool is_unsigned = false;
    int cmp = take_cmp(st, &is_unsigned);
    enum bool_op op = take_bool(st);
    bool ftz = take(st, "ftz");
    enum type td = need_type(ld), ts = need_type(ld);
    bool two = ts == T_F16X2 || ts == T_BF16X2;

    if (td == T_PRED || type_size(td) < 2 || type_size(td) > 4 || st->op_count < 3 ||
        (two && type_size(td) != 4)) {
        st_syntax(ld, "impossible type");
        return;
    }
    uint32_t p = new_pred(ld), q = new_pred(ld), d = dst(ld, &st->op[0], td);
    build_compare(ld, cmp, op, ts, ftz, p, two ? &q : NULL);
    uint32_t zero = pool_const(ld, type_size(td), 0);
    uint64_t one = two ? (type_float(td) ? truth(td) : 0xffff) : truth(td);
    emit_selp(ld, d, pool_const(ld, type_size(td), one), zero, p, type_size(td));
    if (two) { /* the upper half */
        uint32_t hi = new_reg(ld, 4);
        emit_selp(ld, hi, pool_const(ld, 4, one << 16), zero, q, 4);
        emit_or(ld, d, d, hi);
    }
}

/* --- slct: a if c >= 0, else b --- */

#define EXEC_SLCT(name, T, TC, conv)                                                               \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        T *d = at(w, i->d);                                                                        \
        const T *a = at(w, i->a), *b = at(w, i->b);                                                \
        const TC *c = at(w, i->c);                                                                 \
        LANES(mask, T t = a[l]; T f = b[l]; d[l] = conv(c[l]) >= 0 ? t : f);                       \
        return STEP_NEXT;                                                                          \
    }
EXEC_SLCT(slct_16_s, uint16_t, int32_t, )
EXEC_SLCT(slct_32_s, uint32_t, int32_t, )
EXEC_SLCT(slct_64_s, uint64_t, int32_t, )
EXEC_SLCT(slct_16_f, uint16_t, float, )
EXEC_SLCT(slct_32_f, uint32_t, float, )
EXEC_SLCT(slct_64_f, uint64_t, float, )
EXEC_SLCT(slct_16_z, uint16_t, float, flush)
EXEC_SLCT(slct_32_z, uint32_t, float, flush)
EXEC_SLCT(slct_64_z, uint64_t, float, flush)

static void build_slct(struct loader *ld, struct stmt *st) {
    static const px_exec exec[3][3] = {{slct_16_s, slct_32_s, slct_64_s},
                                       {slct_16_f, slct_32_f, slct_64_f},
                                       {slct_16_z, slct_32_z, slct_64_z}};
    bool ftz = take(st, "ftz");
    enum type t = need_type(ld), tc = need_type(ld);
    unsigned size = type_size(t);

    if (t == T_PRED || size < 2 || (tc != T_S32 && tc != T_F32) || (ftz && tc != T_F32))
        st_syntax(ld, "impossible type");
    else
        build_d_abc(ld, exec[tc == T_S32 ? 0 : ftz ? 2 : 1][size / 4], t, t, tc);
}

const struct opcode ops_cmp[] = {{"setp", build_setp},
                                 {"set", build_set},
                                 {"selp", build_selp},
                                 {"slct", build_slct},
                                 {NULL, NULL}};
