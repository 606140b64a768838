// SPDX-License-Identifier: Apache-2.0
/* mov with its packing and unpacking, cvta, isspacep. */
#include "exec.h"
#include "load.h"

/* --- copies between registers of any sizes --- */

EXEC1(move_16_16, uint16_t, uint16_t, a)
EXEC1(move_16_32, uint16_t, uint32_t, a)
EXEC1(move_16_64, uint16_t, uint64_t, a)
EXEC1(move_32_32, uint32_t, uint32_t, a)
EXEC1(move_32_64, uint32_t, uint64_t, a)
EXEC1(move_64_64, uint64_t, uint64_t, a)
EXEC1(move_32_u16, uint32_t, uint16_t, a)
EXEC1(move_64_u16, uint64_t, uint16_t, a)
EXEC1(move_64_u32, uint64_t, uint32_t, a)
EXEC1(move_32_s16, int32_t, int16_t, a)
EXEC1(move_64_s16, int64_t, int16_t, a)
EXEC1(move_64_s32, int64_t, int32_t, a)

px_exec exec_move(unsigned to, unsigned from, bool sign) {
    if (to == 2)
        return from == 2 ? move_16_16 : from == 4 ? move_16_32 : move_16_64;
    if (to == 4)
        return from == 8 ? move_32_64 : from == 4 ? move_32_32 : sign ? move_32_s16 : move_32_u16;
    if (from == 8)
        return move_64_64;
    if (from == 4)
        return sign ? move_64_s32 : move_64_u32;
    return sign ? move_64_s16 : move_64_u16;
}

static enum step exec_mov_pred(struct warp *w, const struct insn *i, uint32_t mask) {
    set_pred(w, i->d, mask, pred(w, i->a));
    return STEP_NEXT;
}

/* --- { a, b } to one register and back: n pieces of `size` bytes, refs in a, b, c, x[0] --- */

static uint32_t piece_ref(const struct insn *i, unsigned k) {
    return k == 0 ? i->a : k == 1 ? i->b : k == 2 ? i->c : i->x[0];
}

static enum step exec_pack(struct warp *w, const struct insn *i, uint32_t mask) {
    size_t whole = (size_t)i->size * i->n;
    char *d = at(w, i->d);

    for (unsigned k = 0; k < i->n; k++) {
        const char *s = at(w, piece_ref(i, k));
        size_t stride = i->size == 1 ? 2 : i->size;
        LANES(mask, memcpy(d + whole * (size_t)l + k * i->size, s + stride * (size_t)l, i->size));
    }
    return STEP_NEXT;
}

static enum step exec_unpack(struct warp *w, const struct insn *i, uint32_t mask) {
    size_t whole = (size_t)i->size * i->n;
    char copy[WARP * sizeof(uint64_t)]; /* the source may be one of the destinations */
    memcpy(copy, at(w, i->d), whole * WARP);

    for (unsigned k = 0; k < i->n; k++) {
        char *d = at(w, piece_ref(i, k));
        size_t stride = i->size == 1 ? 2 : i->size;
        LANES(mask, if (i->size == 1) d[stride * (size_t)l + 1] = 0;
              memcpy(d + stride * (size_t)l, copy + whole * (size_t)l + k * i->size, i->size));
    }
    return STEP_NEXT;
}

static void build_vector_mov(struct loader *ld, struct stmt *st, enum type t) {
    static const enum type piece[] = {0, T_B8, T_B16, 0, T_B32};
    bool pack = st->op[1].kind == OPD_VEC;
    const struct operand *vec = &st->op[pack ? 1 : 0], *one = &st->op[pack ? 0 : 1];
    uint32_t ref[4] = {0}, whole;

    if (vec->kind != OPD_VEC || (vec->count != 2 && vec->count != 4) ||
        type_size(t) / vec->count == 0) {
        st_syntax(ld, "impossible vector");
        return;
    }
    unsigned size = type_size(t) / vec->count;
    for (unsigned k = 0; k < vec->count; k++)
        ref[k] = pack ? src(ld, &vec->elem[k], piece[size]) : dst(ld, &vec->elem[k], piece[size]);
    if (pack) { /* the destination may be one of the sources */
        whole = dst(ld, one, t);
        uint32_t fresh = new_reg(ld, type_size(t));
        struct insn *i = emit(ld, exec_pack);
        *i = (struct insn){.exec = exec_pack,
                           .guard = i->guard,
                           .line = i->line,
                           .d = fresh,
                           .a = ref[0],
                           .b = ref[1],
                           .c = ref[2],
                           .x = {ref[3]},
                           .size = (uint8_t)size,
                           .n = (uint8_t)vec->count};
        i = emit(ld, exec_move(type_size(t), type_size(t), false));
        i->d = whole;
        i->a = fresh;
        return;
    }
    whole = src(ld, one, t);
    struct insn *i = emit(ld, exec_unpack);
    *i = (struct insn){.exec = exec_unpack,
                       .guard = i->guard,
                       .line = i->line,
                       .d = whole,
                       .a = ref[0],
                       .b = ref[1],
                       .c = ref[2],
                       .x = {ref[3]},
                       .size = (uint8_t)size,
                       .n = (uint8_t)vec->count};
}

static void build_mov(struct loader *ld, struct stmt *st) {
    enum type t = need_type(ld);
    struct insn *i;

    if (!need_ops(ld, 2))
        return;
    if (t == T_PRED && st->op[1].kind == OPD_NAME && st->op[1].len == 20 &&
        !memcmp(st->op[1].s, "%is_explicit_cluster", 20)) {
        build_explicit_cluster(ld, st);
    } else if (t == T_PRED) {
        uint32_t a = src_pred(ld, &st->op[1]);
        uint32_t d = dst_pred_operand(ld, &st->op[0]);
        i = emit(ld, exec_mov_pred);
        i->d = d;
        i->a = a;
    } else if (st->op[0].kind == OPD_VEC || st->op[1].kind == OPD_VEC) {
        build_vector_mov(ld, st, t);
    } else {
        uint32_t a = src(ld, &st->op[1], t), d = dst(ld, &st->op[0], t);
        i = emit(ld, exec_move(reg_size(t), reg_size(t), false));
        i->d = d;
        i->a = a;
    }
}

/* --- cvta: between a space's addresses and generic ones --- */

static uint64_t window(const struct warp *w, const struct insn *i, int lane) {
    switch (i->space) {
    case SP_SHARED:
        return (uint64_t)(uintptr_t)w->block->shared;
    case SP_LOCAL:
        return (uint64_t)(uintptr_t)lane_local(w, lane);
    case SP_PARAM:
        return (uint64_t)(uintptr_t)w->grid->params;
    default:
        return 0;
    }
}

static enum step exec_cvta(struct warp *w, const struct insn *i, uint32_t mask) {
    uint64_t *d = at(w, i->d);
    const uint64_t *a = at(w, i->a);
    LANES(mask, d[l] = a[l] + window(w, i, l));
    return STEP_NEXT;
}

static enum step exec_cvta_cluster(struct warp *w, const struct insn *i, uint32_t mask) {
    uint64_t *d = at(w, i->d);
    const uint64_t *a = at(w, i->a);
    LANES(mask,
          d[l] = i->flags & F_ALT ? generic_to_cluster(w, a[l]) : cluster_to_generic(w, a[l]));
    return STEP_NEXT;
}

static enum step exec_cvta_to(struct warp *w, const struct insn *i, uint32_t mask) {
    uint64_t *d = at(w, i->d);
    const uint64_t *a = at(w, i->a);
    LANES(mask, d[l] = a[l] - window(w, i, l));
    return STEP_NEXT;
}

static void build_cvta(struct loader *ld, struct stmt *st) {
    bool to = take(st, "to");
    enum space space = take_space(ld);
    enum type t = need_type(ld);

    if (!need_ops(ld, 2))
        return;
    if (t != T_U64 || space == SP_GENERIC) {
        st_refuse(ld, "only .u64 and a state space");
        return;
    }
    if (space == SP_PARAM && !ld->f->is_entry)
        space = SP_LOCAL;
    uint32_t a = src(ld, &st->op[1], t), d = dst(ld, &st->op[0], t);
    bool same = space == SP_GLOBAL || space == SP_CONST;
    struct insn *i = emit(ld, same                  ? move_64_64
                              : space == SP_CLUSTER ? exec_cvta_cluster
                              : to                  ? exec_cvta_to
                                                    : exec_cvta);
    i->flags = to ? F_ALT : 0;
    i->d = d;
    i->a = a;
    i->space = (uint8_t)space;
}

static bool in_space(struct warp *w, const struct insn *i, int lane, uint64_t addr) {
    const struct grid *g = w->grid;
    uint64_t shared = addr - (uint64_t)(uintptr_t)w->block->shared;
    uint64_t local = addr - (uint64_t)(uintptr_t)lane_local(w, lane);
    uint64_t param = addr - (uint64_t)(uintptr_t)g->params;
    uint64_t constant = addr - g->m->const_base;

    switch (i->space) {
    case SP_SHARED:
        return shared < g->shared_bytes;
    case SP_CLUSTER:
        return in_cluster(w, addr, 1);
    case SP_LOCAL:
        return local < g->local_bytes;
    case SP_PARAM:
        return param < g->f->param_bytes;
    case SP_CONST:
        return constant < g->m->const_size;
    default:
        return !in_cluster(w, addr, 1) && local >= g->local_bytes && param >= g->f->param_bytes &&
               constant >= g->m->const_size;
    }
}

static enum step exec_isspacep(struct warp *w, const struct insn *i, uint32_t mask) {
    const uint64_t *a = at(w, i->a);
    uint32_t yes = 0;
    LANES(mask, yes |= (uint32_t)in_space(w, i, l, a[l]) << l);
    set_pred(w, i->d, mask, yes);
    return STEP_NEXT;
}

static void build_isspacep(struct loader *ld, struct stmt *st) {
    enum space space = take_space(ld);

    if (!need_ops(ld, 2))
        return;
    if (space == SP_GENERIC) {
        st_refuse(ld, "this state space");
        return;
    }
    uint32_t a = src(ld, &st->op[1], T_B64);
    uint32_t d = dst_pred_operand(ld, &st->op[0]);
    struct insn *i = emit(ld, exec_isspacep);
    i->d = d;
    i->a = a;
    i->space = (uint8_t)space;
}

const struct opcode ops_mov[] = {
    {"mov", build_mov}, {"cvta", build_cvta}, {"isspacep", build_isspacep}, {NULL, NULL}};
