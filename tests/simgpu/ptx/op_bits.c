// SPDX-License-Identifier: Apache-2.0
/* Bits: logic, shifts, fields, counts, permutations. */
#include "exec.h"
#include "load.h"

/* --- logic --- */

#define EXEC_LOGIC(op, expr)                                                                       \
    EXEC2(op##_16, uint16_t, uint16_t, uint16_t, expr)                                             \
    EXEC2(op##_32, uint32_t, uint32_t, uint32_t, expr)                                             \
    EXEC2(op##_64, uint64_t, uint64_t, uint64_t, expr)
EXEC_LOGIC(and, a &b)
EXEC_LOGIC(or, a | b)
EXEC_LOGIC(xor, a ^ b)

enum { AND, OR, XOR };

static enum step exec_logic_pred(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t a = pred(w, i->a), b = pred(w, i->b);
    set_pred(w, i->d, mask, i->op == AND ? a & b : i->op == OR ? a | b : a ^ b);
    return STEP_NEXT;
}

static enum step exec_not_pred(struct warp *w, const struct insn *i, uint32_t mask) {
    set_pred(w, i->d, mask, ~pred(w, i->a));
    return STEP_NEXT;
}

/* 16, 32 or 64 bits to 0, 1, 2; an error for others. */
static int width_index(struct loader *ld, enum type t) {
    unsigned n = type_size(t);
    if (t == T_PRED || type_float(t) || n < 2) {
        st_syntax(ld, "impossible type");
        return 0;
    }
    return n == 2 ? 0 : n == 4 ? 1 : 2;
}

void emit_or(struct loader *ld, uint32_t d, uint32_t a, uint32_t b) {
    struct insn *i = emit(ld, or_32);
    i->d = d;
    i->a = a;
    i->b = b;
}

static void build_logic(struct loader *ld, struct stmt *st) {
    static const px_exec exec[3][3] = {
        {and_16, and_32, and_64}, {or_16, or_32, or_64}, {xor_16, xor_32, xor_64}};
    int op = *st->name == 'a' ? AND : *st->name == 'o' ? OR : XOR;
    enum type t = need_type(ld);

    if (t != T_PRED) {
        build_d_ab(ld, exec[op][width_index(ld, t)], t);
        return;
    }
    if (!need_ops(ld, 3))
        return;
    uint32_t a = src_pred(ld, &st->op[1]), b = src_pred(ld, &st->op[2]);
    uint32_t d = dst_pred_operand(ld, &st->op[0]);
    struct insn *i = emit(ld, exec_logic_pred);
    i->d = d;
    i->a = a;
    i->b = b;
    i->op = (uint8_t)op;
}

EXEC1(not_16, uint16_t, uint16_t, ~a)
EXEC1(not_32, uint32_t, uint32_t, ~a)
EXEC1(not_64, uint64_t, uint64_t, ~a)
EXEC1(cnot_16, uint16_t, uint16_t, !a)
EXEC1(cnot_32, uint32_t, uint32_t, !a)
EXEC1(cnot_64, uint64_t, uint64_t, !a)

static void build_not(struct loader *ld, struct stmt *st) {
    static const px_exec exec[2][3] = {{not_16, not_32, not_64}, {cnot_16, cnot_32, cnot_64}};
    bool cnot = *st->name == 'c';
    enum type t = need_type(ld);

    if (t != T_PRED || cnot) {
        build_d_a(ld, exec[cnot][width_index(ld, t)], t);
        return;
    }
    if (!need_ops(ld, 2))
        return;
    uint32_t a = src_pred(ld, &st->op[1]), d = dst_pred_operand(ld, &st->op[0]);
    struct insn *i = emit(ld, exec_not_pred);
    i->d = d;
    i->a = a;
}

static enum step exec_lop3(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const uint32_t *pa = at(w, i->a), *pb = at(w, i->b), *pc = at(w, i->c);
    uint32_t term[8];

    for (int k = 0; k < 8; k++)
        term[k] = i->imm >> k & 1 ? FULL : 0;
    LANES(mask, uint32_t a = pa[l]; uint32_t b = pb[l]; uint32_t c = pc[l];
          d[l] = (term[0] & ~a & ~b & ~c) | (term[1] & ~a & ~b & c) | (term[2] & ~a & b & ~c) |
                 (term[3] & ~a & b & c) | (term[4] & a & ~b & ~c) | (term[5] & a & ~b & c) |
                 (term[6] & a & b & ~c) | (term[7] & a & b & c));
    return STEP_NEXT;
}

static void build_lop3(struct loader *ld, struct stmt *st) {
    enum type t = need_type(ld);
    int64_t table;

    if (t != T_B32 || st->op_count != 5 || !const_int(&st->op[4], &table) || table & ~0xffll) {
        st_syntax(ld, "impossible type or table");
        return;
    }
    st->op_count = 4;
    build_d_abc(ld, exec_lop3, t, t, t);
    if (ld->status == PTX_OK)
        ld->m->code[ld->m->code_count - 1].imm = table;
}

/* --- shifts: amounts beyond the width shift everything out --- */

#define EXEC_SHIFT(s, T, TS, bits)                                                                 \
    EXEC2(shl_##s, T, T, uint32_t, b < bits ? (T)(a << b) : 0)                                     \
    EXEC2(shr_u##s, T, T, uint32_t, b < bits ? a >> b : 0)                                         \
    EXEC2(shr_s##s, TS, TS, uint32_t, a >> (b < bits ? b : bits - 1))
EXEC_SHIFT(16, uint16_t, int16_t, 16)
EXEC_SHIFT(32, uint32_t, int32_t, 32)
EXEC_SHIFT(64, uint64_t, int64_t, 64)

static void build_shift(struct loader *ld, struct stmt *st) {
    static const px_exec exec[3][3] = {
        {shl_16, shl_32, shl_64}, {shr_u16, shr_u32, shr_u64}, {shr_s16, shr_s32, shr_s64}};
    bool right = st->name[2] == 'r';
    enum type t = need_type(ld);
    int k = width_index(ld, t);

    if (!need_ops(ld, 3))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], T_U32);
    uint32_t d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, exec[right ? 1 + type_signed(t) : 0][k]);
    i->d = d;
    i->a = a;
    i->b = b;
}

/* The funnel shift of b:a; a is the lower half. */
#define FUNNEL(n, amount)                                                                          \
    EXEC3(shf_l_##n, uint32_t, uint32_t, uint32_t, uint32_t,                                       \
          (((uint64_t)b << 32 | a) << (amount)) >> 32)                                             \
    EXEC3(shf_r_##n, uint32_t, uint32_t, uint32_t, uint32_t, ((uint64_t)b << 32 | a) >> (amount))
FUNNEL(wrap, c & 31)
FUNNEL(clamp, c < 32 ? c : 32)

static void build_shf(struct loader *ld, struct stmt *st) {
    bool left = take(st, "l"), right = !left && take(st, "r");
    bool wrap = take(st, "wrap"), clamp = !wrap && take(st, "clamp");
    enum type t = need_type(ld);

    if (t != T_B32 || !(left || right) || !(wrap || clamp))
        st_syntax(ld, "impossible type or modifier");
    build_d_abc(ld, left ? (wrap ? shf_l_wrap : shf_l_clamp) : (wrap ? shf_r_wrap : shf_r_clamp),
                T_B32, T_B32, T_U32);
}

/* --- counts --- */

EXEC1(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
EXEC1(popc_64, uint32_t, uint64_t, __builtin_popcountll(a))
EXEC1(clz_32, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
EXEC1(clz_64, uint32_t, uint64_t, a ? __builtin_clzll(a) : 64)

static uint32_t top_bit(uint64_t v) {
    return v ? 63 - (uint32_t)__builtin_clzll(v) : FULL;
}

EXEC1(bfind_u32, uint32_t, uint32_t, top_bit(a))
EXEC1(bfind_s32, uint32_t, int32_t, top_bit((uint32_t)(a < 0 ? ~a : a)))
EXEC1(bfind_u64, uint32_t, uint64_t, top_bit(a))
EXEC1(bfind_s64, uint32_t, int64_t, top_bit((uint64_t)(a < 0 ? ~a : a)))
EXEC1(bfind_sh_u32, uint32_t, uint32_t, a ? 31 - top_bit(a) : FULL)
EXEC1(bfind_sh_s32, uint32_t, int32_t, (a ^ a >> 31) ? 31 - top_bit((uint32_t)(a ^ a >> 31)) : FULL)
EXEC1(bfind_sh_u64, uint32_t, uint64_t, a ? 63 - top_bit(a) : FULL)
EXEC1(bfind_sh_s64, uint32_t, int64_t, (a ^ a >> 63) ? 63 - top_bit((uint64_t)(a ^ a >> 63)) : FULL)

static uint64_t reverse(uint64_t v) {
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(v);
}

EXEC1(brev_32, uint32_t, uint32_t, reverse(a) >> 32)
EXEC1(brev_64, uint64_t, uint64_t, reverse(a))

static void build_count(struct loader *ld, struct stmt *st) {
    bool find = *st->name == 'b', shift = find && take(st, "shiftamt");
    enum type t = need_type(ld);
    bool wide = type_size(t) == 8, sign = type_signed(t);
    px_exec e;

    if (t == T_PRED || type_float(t) || type_size(t) < 4) {
        st_syntax(ld, "impossible type");
        return;
    }
    if (*st->name == 'p')
        e = wide ? popc_64 : popc_32;
    else if (*st->name == 'c')
        e = wide ? clz_64 : clz_32;
    else if (shift)
        e = wide ? (sign ? bfind_sh_s64 : bfind_sh_u64) : (sign ? bfind_sh_s32 : bfind_sh_u32);
    else
        e = wide ? (sign ? bfind_s64 : bfind_u64) : (sign ? bfind_s32 : bfind_u32);
    if (!need_ops(ld, 2))
        return;
    uint32_t a = src(ld, &st->op[1], t), d = dst(ld, &st->op[0], T_U32);
    struct insn *i = emit(ld, e);
    i->d = d;
    i->a = a;
}

static void build_brev(struct loader *ld, struct stmt *st) {
    (void)st;
    enum type t = need_type(ld);
    if (t != T_B32 && t != T_B64)
        st_syntax(ld, "impossible type");
    else
        build_d_a(ld, t == T_B32 ? brev_32 : brev_64, t);
}

/* --- fields --- */

static uint64_t extract(uint64_t v, uint32_t pos, uint32_t len, unsigned bits, bool sign) {
    pos &= 255;
    len &= 255;
    if (!len)
        return 0;
    uint32_t top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    uint32_t there = pos >= bits ? 0 : len < bits - pos ? len : bits - pos;
    uint64_t low = there < 64 ? (1ull << there) - 1 : ~0ull;
    uint64_t field = there ? v >> pos & low : 0;
    return sign && v >> top & 1 ? field | ~low : field;
}

static uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
    pos &= 255;
    len &= 255;
    if (pos >= bits || !len)
        return b;
    uint64_t field = len >= 64 ? ~0ull : (1ull << len) - 1;
    return (b & ~(field << pos)) | (a & field) << pos;
}

EXEC3(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract(a, b, c, 32, false))
EXEC3(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, extract(a, b, c, 32, true))
EXEC3(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract(a, b, c, 64, false))
EXEC3(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, extract(a, b, c, 64, true))

static void build_bfe(struct loader *ld, struct stmt *st) {
    enum type t = need_type(ld);
    px_exec e = t == T_U32   ? bfe_u32
                : t == T_S32 ? bfe_s32
                : t == T_U64 ? bfe_u64
                : t == T_S64 ? bfe_s64
                             : NULL;

    if (!e)
        st_syntax(ld, "impossible type");
    if (!e || !need_ops(ld, 4))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], T_U32);
    uint32_t c = src(ld, &st->op[3], T_U32), d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, e);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = c;
}

#define EXEC_BFI(name, T, bits)                                                                    \
    static enum step name(struct warp *w, const struct insn *i, uint32_t mask) {                   \
        T *d = at(w, i->d);                                                                        \
        const T *a = at(w, i->a), *b = at(w, i->b);                                                \
        const uint32_t *pos = at(w, i->c), *len = at(w, i->x[0]);                                  \
        LANES(mask, d[l] = (T)insert(a[l], b[l], pos[l], len[l], bits));                           \
        return STEP_NEXT;                                                                          \
    }
EXEC_BFI(bfi_32, uint32_t, 32)
EXEC_BFI(bfi_64, uint64_t, 64)

static void build_bfi(struct loader *ld, struct stmt *st) {
    enum type t = need_type(ld);

    if (t != T_B32 && t != T_B64)
        st_syntax(ld, "impossible type");
    if (!need_ops(ld, 5))
        return;
    uint32_t a = src(ld, &st->op[1], t), b = src(ld, &st->op[2], t);
    uint32_t pos = src(ld, &st->op[3], T_U32), len = src(ld, &st->op[4], T_U32);
    uint32_t d = dst(ld, &st->op[0], t);
    struct insn *i = emit(ld, t == T_B32 ? bfi_32 : bfi_64);
    i->d = d;
    i->a = a;
    i->b = b;
    i->c = pos;
    i->x[0] = len;
}

/* --- prmt: any four of eight bytes --- */

enum { PRMT_ANY, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };

static unsigned prmt_index(int mode, uint32_t c, unsigned k) {
    unsigned n = c & 3;

    switch (mode) {
    case PRMT_F4E:
        return n + k;
    case PRMT_B4E:
        return (n - k) & 7;
    case PRMT_RC8:
        return n;
    case PRMT_ECL:
        return k > n ? k : n;
    case PRMT_ECR:
        return k < n ? k : n;
    case PRMT_RC16:
        return (n & 1) * 2 + (k & 1);
    default:
        return c >> (4 * k) & 7;
    }
}

static uint32_t permute(int mode, uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t out = 0;

    for (unsigned k = 0; k < 4; k++) {
        uint32_t v = bytes >> (8 * prmt_index(mode, c, k)) & 0xff;
        if (mode == PRMT_ANY && c >> (4 * k) & 8) /* its sign in all bits */
            v = v & 0x80 ? 0xff : 0;
        out |= v << (8 * k);
    }
    return out;
}

static enum step exec_prmt(struct warp *w, const struct insn *i, uint32_t mask) {
    uint32_t *d = at(w, i->d);
    const uint32_t *a = at(w, i->a), *b = at(w, i->b), *c = at(w, i->c);
    LANES(mask, d[l] = permute(i->op, a[l], b[l], c[l]));
    return STEP_NEXT;
}

static void build_prmt(struct loader *ld, struct stmt *st) {
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    enum type t = need_type(ld);
    uint8_t mode = PRMT_ANY;

    for (uint8_t k = 0; k < 6; k++)
        if (take(st, modes[k]))
            mode = k + 1;
    if (t != T_B32)
        st_syntax(ld, "impossible type");
    build_d_abc(ld, exec_prmt, T_B32, T_B32, T_B32);
    if (ld->status == PTX_OK)
        ld->m->code[ld->m->code_count - 1].op = mode;
}

/* --- masks and sign extension --- */

static uint32_t bit_mask(uint32_t pos, uint32_t len, bool clamp) {
    if (!clamp) {
        pos &= 31;
        len &= 31;
    }
    if (pos > 31 || !len)
        return 0;
    return (len > 31 ? FULL : (1u << len) - 1) << pos;
}

EXEC2(bmsk_wrap, uint32_t, uint32_t, uint32_t, bit_mask(a, b, false))
EXEC2(bmsk_clamp, uint32_t, uint32_t, uint32_t, bit_mask(a, b, true))

static void build_bmsk(struct loader *ld, struct stmt *st) {
    bool clamp = take(st, "clamp");
    if (!clamp && !take(st, "wrap"))
        st_syntax(ld, ".clamp or .wrap is missing");
    if (need_type(ld) != T_B32)
        st_syntax(ld, "impossible type");
    build_d_ab(ld, clamp ? bmsk_clamp : bmsk_wrap, T_B32);
}

const struct opcode ops_bits[] = {
    {"and", build_logic}, {"or", build_logic},   {"xor", build_logic}, {"not", build_not},
    {"cnot", build_not},  {"lop3", build_lop3},  {"shl", build_shift}, {"shr", build_shift},
    {"shf", build_shf},   {"popc", build_count}, {"clz", build_count}, {"bfind", build_count},
    {"brev", build_brev}, {"bfe", build_bfe},    {"bfi", build_bfi},   {"prmt", build_prmt},
    {"bmsk", build_bmsk}, {NULL, NULL}};
