// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and stores. The host's memory order is at least as strong as any that PTX asks for: its
 * loads acquire and its stores release; only fences need an instruction of their own.
 */
#include "exec.h"
#include "load.h"

static uint32_t data_ref(const struct insn *i, unsigned k) {
    return k ? i->x[k - 1] : i->d;
}

#define LOAD(T, R)                                                                                 \
    do {                                                                                           \
        R *d = at(w, data_ref(i, k));                                                              \
        LANES(mask, d[l] = (R) * (const volatile T *)(p[l] + k * sizeof(T)));                      \
    } while (0)

static enum step exec_ld(struct warp *w, const struct insn *i, uint32_t mask) {
    char *p[WARP];

    if (!pointers(w, i, mask, (size_t)i->size * i->n, p))
        return STEP_FAULT;
    for (unsigned k = 0; k < i->n; k++) {
        switch (i->size) {
        case 1:
            if (i->flags & F_SIGNED)
                LOAD(int8_t, int16_t);
            else
                LOAD(uint8_t, uint16_t);
            break;
        case 2:
            LOAD(uint16_t, uint16_t);
            break;
        case 4:
            LOAD(uint32_t, uint32_t);
            break;
        default:
            LOAD(uint64_t, uint64_t);
        }
    }
    return STEP_NEXT;
}

/* A parameter of the kernel at a known place: the same for all lanes, checked at load. */
static enum step exec_ld_param(struct warp *w, const struct insn *i, uint32_t mask) {
    const char *p = w->grid->params + i->imm;

    for (unsigned k = 0; k < i->n; k++, p += i->size) {
        if (i->size == 8) {
            uint64_t v, *d = at(w, data_ref(i, k));
            memcpy(&v, p, sizeof(v));
            LANES(mask, d[l] = v);
        } else if (i->size == 4) {
            uint32_t v, *d = at(w, data_ref(i, k));
            memcpy(&v, p, sizeof(v));
            LANES(mask, d[l] = v);
        } else {
            uint16_t v = 0, *d = at(w, data_ref(i, k));
            memcpy(&v, p, i->size);
            if (i->size == 1 && i->flags & F_SIGNED)
                v = (uint16_t)(int8_t)v;
            LANES(mask, d[l] = v);
        }
    }
    return STEP_NEXT;
}

#define STORE(T, R)                                                                                \
    do {                                                                                           \
        const R *s = at(w, data_ref(i, k));                                                        \
        LANES(mask, *(volatile T *)(p[l] + k * sizeof(T)) = (T)s[l]);                              \
    } while (0)

static enum step exec_st(struct warp *w, const struct insn *i, uint32_t mask) {
    char *p[WARP];

    if (!pointers(w, i, mask, (size_t)i->size * i->n, p))
        return STEP_FAULT;
    for (unsigned k = 0; k < i->n; k++) {
        switch (i->size) {
        case 1:
            STORE(uint8_t, uint16_t);
            break;
        case 2:
            STORE(uint16_t, uint16_t);
            break;
        case 4:
            STORE(uint32_t, uint32_t);
            break;
        default:
            STORE(uint64_t, uint64_t);
        }
    }
    return STEP_NEXT;
}

/* --- building --- */

/* Hints about caches and order that change nothing here. */
static void take_hints(struct stmt *st) {
    static const char *const hints[] = {"weak",
                                        "volatile",
                                        "relaxed",
                                        "acquire",
                                        "release",
                                        "mmio",
                                        "cta",
                                        "cluster",
                                        "gpu",
                                        "sys",
                                        "nc",
                                        "ca",
                                        "cg",
                                        "cs",
                                        "lu",
                                        "cv",
                                        "wb",
                                        "wt",
                                        "unified",
                                        "L1::evict_normal",
                                        "L1::evict_unchanged",
                                        "L1::evict_first",
                                        "L1::evict_last",
                                        "L1::no_allocate",
                                        "L2::evict_normal",
                                        "L2::evict_first",
                                        "L2::evict_last",
                                        "L2::64B",
                                        "L2::128B",
                                        "L2::256B"};
    for (size_t k = 0; k < sizeof(hints) / sizeof(*hints); k++)
        take(st, hints[k]);
}

/* The element type and how many of them. */
static enum type take_elements(struct loader *ld, unsigned *n) {
    struct stmt *st = ld->st;

    *n = take(st, "v2") ? 2 : take(st, "v4") ? 4 : 1;
    enum type t = need_type(ld);
    if (t == T_PRED || type_size(t) * *n > 16)
        st_syntax(ld, "impossible type");
    return t;
}

static const struct operand *element(struct loader *ld, const struct operand *o, unsigned n,
                                     unsigned k) {
    if (n == 1)
        return o;
    if (o->kind != OPD_VEC || o->count != n) {
        st_syntax(ld, "the vector does not have as many elements");
        return o;
    }
    return &o->elem[k];
}

static bool fixed_param(struct loader *ld, const struct address *a, unsigned bytes) {
    if (a->space != SP_PARAM || a->ref != REF_NONE)
        return false;
    if (a->imm < 0 || (uint64_t)a->imm + bytes > ld->f->param_bytes || a->imm % bytes)
        st_syntax(ld, "outside of the parameters, or misaligned");
    return true;
}

static void build_ld(struct loader *ld, struct stmt *st) {
    enum space space = take_space(ld);
    struct wide wide[4];
    uint32_t ref[4] = {0};
    unsigned n;

    take_hints(st);
    enum type t = take_elements(ld, &n);
    if (!need_ops(ld, 2) || ld->status != PTX_OK)
        return;
    struct address a = address(ld, &st->op[1], space);
    for (unsigned k = 0; k < n; k++)
        ref[k] = dst_wide(ld, element(ld, &st->op[0], n, k), t, &wide[k]);
    bool fixed = fixed_param(ld, &a, type_size(t) * n);
    struct insn *i = emit(ld, fixed ? exec_ld_param : exec_ld);
    set_address(i, &a);
    i->size = (uint8_t)type_size(t);
    i->n = (uint8_t)n;
    i->flags |= type_signed(t) ? F_SIGNED : 0;
    i->d = ref[0];
    memcpy(i->x, ref + 1, sizeof(i->x));
    for (unsigned k = 0; k < n; k++)
        dst_wide_done(ld, &wide[k]);
}

static void build_st(struct loader *ld, struct stmt *st) {
    enum space space = take_space(ld);
    uint32_t ref[4] = {0};
    unsigned n;

    take_hints(st);
    enum type t = take_elements(ld, &n);
    if (!need_ops(ld, 2) || ld->status != PTX_OK)
        return;
    struct address a = address(ld, &st->op[0], space);
    if (a.space == SP_PARAM || a.space == SP_CONST)
        st_syntax(ld, "this state space is read only");
    for (unsigned k = 0; k < n; k++)
        ref[k] = src_wide(ld, element(ld, &st->op[1], n, k), t);
    struct insn *i = emit(ld, exec_st);
    set_address(i, &a);
    i->size = (uint8_t)type_size(t);
    i->n = (uint8_t)n;
    i->d = ref[0];
    memcpy(i->x, ref + 1, sizeof(i->x));
}

/* --- fences and hints --- */

static enum step exec_fence(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
    return STEP_NEXT;
}

static void build_fence(struct loader *ld, struct stmt *st) {
    static const char *const mods[] = {"sc",      "acq_rel", "acquire", "release", "cta",
                                       "cluster", "gpu",     "gl",      "sys"};
    for (size_t k = 0; k < sizeof(mods) / sizeof(*mods); k++)
        take(st, mods[k]);
    if (need_ops(ld, 0))
        emit(ld, exec_fence);
}

static enum step exec_nothing(struct warp *w, const struct insn *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return STEP_NEXT;
}

static void build_prefetch(struct loader *ld, struct stmt *st) {
    enum space space = take_space(ld);

    take_hints(st);
    take(st, "L1");
    take(st, "L2");
    if (!need_ops(ld, 1))
        return;
    address(ld, &st->op[0], space);
    emit(ld, exec_nothing);
}

/* Kernels of one stream already run one after the other here. */
static void build_griddepcontrol(struct loader *ld, struct stmt *st) {
    if (!take(st, "wait") && !take(st, "launch_dependents"))
        st_syntax(ld, "what to control is missing");
    if (need_ops(ld, 0))
        emit(ld, exec_nothing);
}

const struct opcode ops_mem[] = {{"ld", build_ld},
                                 {"ldu", build_ld},
                                 {"st", build_st},
                                 {"membar", build_fence},
                                 {"fence", build_fence},
                                 {"prefetch", build_prefetch},
                                 {"prefetchu", build_prefetch},
                                 {"griddepcontrol", build_griddepcontrol},
                                 {NULL, NULL}};
