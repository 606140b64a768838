// SPDX-License-Identifier: Apache-2.0
/* Textures and surfaces, in the unified mode: one number stands for texture and sampler. */
#include "exec.h"
#include "load.h"
#include "texel.h"

/*
 * Of an instruction: a is the number, or with F_ALT the address of a reference; x are coordinates,
 * floats if cmp is set, of `type` dimensions, the first a layer if `space` is set; d, b, c and
 * target are n channels of `size` bytes, floats if op is set; round is what to do beyond a surface;
 * with F_HASC imm is the level of a mipmapped array.
 */
enum { TRAP, CLAMP, ZERO };

static uint32_t channel_ref(const struct insn *i, unsigned k) {
    const uint32_t refs[4] = {i->d, i->b, i->c, i->target};

    return refs[k];
}

/* Of the lanes one after the other, of which most have the same. */
struct lookup {
    uint64_t number;
    bool found;
    struct ptx_image image;
};

static bool look_up(struct warp *w, const struct insn *i, int lane, bool surface,
                    struct lookup *l) {
    const struct ptx_memory *mem = &w->grid->m->mem;
    uint64_t number = ((const uint64_t *)at(w, i->a))[lane];
    const char *reference;

    if (i->flags & F_ALT) {
        reference = global_pointer(w, number, sizeof(number));
        if (reference)
            memcpy(&number, reference, sizeof(number));
    }
    if (!l->found || l->number != number) {
        l->found = mem->image && mem->image(mem->opaque, number, surface, &l->image);
        l->number = number;
    }
    if (l->found && l->image.dims == i->type && !l->image.layers == !i->space)
        return true;
    fault(w, i, lane, PTX_ERR_ILLEGAL_ADDRESS, "0x%llx is no %s of %u dimensions%s",
          (unsigned long long)number, surface ? "surface" : "texture", i->type,
          i->space ? " and layers" : "");
    return false;
}

static struct place place_of(const struct warp *w, const struct insn *i, int lane) {
    struct place p = {.is_whole = !i->cmp};
    unsigned k = 0;

    if (i->space)
        p.layer = ((const uint32_t *)at(w, i->x[k++]))[lane];
    for (unsigned d = 0; d < i->type; d++, k++) {
        const uint32_t *v = at(w, i->x[k]);

        memcpy(&p.at[d], &v[lane], sizeof(p.at[d]));
        p.whole[d] = (int32_t)v[lane];
    }
    return p;
}

static enum step exec_tex(struct warp *w, const struct insn *i, uint32_t mask) {
    struct lookup l = {0};

    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        struct place p = place_of(w, i, lane);
        uint32_t v[4];

        if (!look_up(w, i, lane, false, &l))
            return STEP_FAULT;
        if (i->flags & F_HASC)
            texel_read_level(&l.image, &p, ((const float *)at(w, (uint32_t)i->imm))[lane], i->op,
                             v);
        else
            texel_read(&l.image, &p, i->op, v);
        for (unsigned k = 0; k < 4; k++)
            ((uint32_t *)at(w, channel_ref(i, k)))[lane] = v[k];
    }
    return STEP_NEXT;
}

/* Registers of 8 bits take 16. */
static void put(const struct warp *w, const struct insn *i, unsigned k, int lane, uint64_t v) {
    void *reg = at(w, channel_ref(i, k));

    if (i->size == 8)
        ((uint64_t *)reg)[lane] = v;
    else if (i->size == 4)
        ((uint32_t *)reg)[lane] = (uint32_t)v;
    else
        ((uint16_t *)reg)[lane] = (uint16_t)v;
}

static uint64_t get(const struct warp *w, const struct insn *i, unsigned k, int lane) {
    const void *reg = at(w, channel_ref(i, k));

    if (i->size == 8)
        return ((const uint64_t *)reg)[lane];
    return i->size == 4 ? ((const uint32_t *)reg)[lane] : ((const uint16_t *)reg)[lane];
}

/* The bytes that a lane means: *p is NULL where there are none and none are needed. */
static bool surface_bytes(struct warp *w, const struct insn *i, int lane, struct lookup *l,
                          char **p) {
    struct place place = place_of(w, i, lane);
    size_t bytes = (size_t)i->size * i->n;

    if (!look_up(w, i, lane, true, l))
        return false;
    *p = texel_bytes(&l->image, &place, bytes, i->round == CLAMP);
    if (*p && place.whole[0] % (int)bytes) {
        fault(w, i, lane, PTX_ERR_MISALIGNED, "byte %d of a surface's row", place.whole[0]);
        return false;
    }
    if (*p || i->round == ZERO)
        return true;
    fault(w, i, lane, PTX_ERR_ILLEGAL_ADDRESS, "beyond the surface");
    return false;
}

static enum step exec_suld(struct warp *w, const struct insn *i, uint32_t mask) {
    struct lookup l = {0};

    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        char *p;

        if (!surface_bytes(w, i, lane, &l, &p))
            return STEP_FAULT;
        for (unsigned k = 0; k < i->n; k++) {
            uint64_t v = 0;

            if (p)
                memcpy(&v, p + k * i->size, i->size);
            put(w, i, k, lane, v);
        }
    }
    return STEP_NEXT;
}

static enum step exec_sust(struct warp *w, const struct insn *i, uint32_t mask) {
    struct lookup l = {0};

    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        char *p;

        if (!surface_bytes(w, i, lane, &l, &p))
            return STEP_FAULT;
        for (unsigned k = 0; k < i->n && p; k++) {
            uint64_t v = get(w, i, k, lane);

            memcpy(p + k * i->size, &v, i->size);
        }
    }
    return STEP_NEXT;
}

/* --- building --- */

struct geometry {
    unsigned dims, coordinates; /* that count; there may be one more, for the fourth in a vector */
    bool layered;
};

static struct geometry take_geometry(struct loader *ld) {
    static const struct {
        const char *name;
        struct geometry g;
    } known[] = {{"1d", {1, 1, false}},
                 {"2d", {2, 2, false}},
                 {"3d", {3, 3, false}},
                 {"a1d", {1, 2, true}},
                 {"a2d", {2, 3, true}}};

    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
        if (take(ld->st, known[k].name))
            return known[k].g;
    st_refuse(ld, "of this geometry");
    return known[0].g;
}

/* [number, {coordinates}]: what an instruction needs of it. */
struct target {
    struct geometry g;
    uint32_t number, x[3];
    bool reference;
};

static struct target take_target(struct loader *ld, const struct operand *o, struct geometry g,
                                 enum type coordinate) {
    struct target t = {.g = g};
    struct operand name = {.kind = OPD_NAME, .s = o->s, .len = o->len};
    const struct operand *c = o->elem;
    uint32_t ref;

    if (o->kind != OPD_ADDR || !o->s || !c || o->u ||
        (c->kind == OPD_VEC ? c->count < g.coordinates : g.coordinates > 1)) {
        st_syntax(ld, "a texture and a place in it were expected");
        return t;
    }
    t.number = src(ld, &name, T_B64);
    t.reference = !find_reg(ld, o->s, o->len, &ref);
    for (unsigned k = 0; k < g.coordinates; k++)
        t.x[k] =
            src(ld, c->kind == OPD_VEC ? &c->elem[k] : c, g.layered && !k ? T_B32 : coordinate);
    return t;
}

static const struct operand *channel(struct loader *ld, const struct operand *o, unsigned n,
                                     unsigned k) {
    if (o->kind != OPD_VEC && n == 1)
        return o;
    if (o->kind == OPD_VEC && o->count == n)
        return &o->elem[k];
    st_syntax(ld, "the vector does not have as many elements");
    return o;
}

static void set_channels(struct insn *i, const uint32_t *refs) {
    i->d = refs[0];
    i->b = refs[1];
    i->c = refs[2];
    i->target = refs[3];
}

static void set_target(struct insn *i, const struct target *t) {
    i->a = t->number;
    memcpy(i->x, t->x, sizeof(i->x));
    i->type = (uint8_t)t->g.dims;
    i->space = t->g.layered;
    i->flags |= t->reference ? F_ALT : 0;
}

static bool is_32(enum type t) {
    return t == T_F32 || t == T_S32 || t == T_U32;
}

/* tex.geom.v4.dtype.ctype d, [a, c]; tex.level.geom.v4.dtype.f32 d, [a, c], lod; */
static void build_tex(struct loader *ld, struct stmt *st) {
    bool level = take(st, "level");

    if (!level)
        take(st, "base"); /* which is what it means without */
    if (take(st, "grad"))
        st_refuse(ld, "by gradients");
    struct geometry g = take_geometry(ld);
    uint32_t refs[4];

    if (!take(st, "v4"))
        st_refuse(ld, "but for .v4");
    enum type to = need_type(ld), from = need_type(ld);
    if (!is_32(to) || (from != T_F32 && (from != T_S32 || level)))
        st_refuse(ld, "of this type");
    if (!need_ops(ld, level ? 3 : 2) || ld->status != PTX_OK)
        return;
    struct target t = take_target(ld, &st->op[1], g, from);
    uint32_t lod = level ? src(ld, &st->op[2], T_F32) : 0;
    for (unsigned k = 0; k < 4 && ld->status == PTX_OK; k++) {
        const struct operand *o = channel(ld, &st->op[0], 4, k);

        refs[k] = is_sink(o) ? new_reg(ld, 4) : dst(ld, o, to);
    }
    if (ld->status != PTX_OK)
        return;
    struct insn *i = emit(ld, exec_tex);
    set_target(i, &t);
    set_channels(i, refs);
    i->op = to == T_F32;
    i->cmp = from == T_F32;
    i->imm = lod;
    i->flags |= level ? F_HASC : 0;
}

/* suld.b.geom.vec.btype.clamp d, [a, c]; sust.b.geom.vec.btype.clamp [a, c], d; */
static void build_surface(struct loader *ld, struct stmt *st, bool load) {
    uint32_t refs[4] = {0};

    if (!take(st, "b"))
        st_refuse(ld, "but for .b");
    struct geometry g = take_geometry(ld);
    unsigned n = take(st, "v2") ? 2 : take(st, "v4") ? 4 : 1;
    enum type t = need_type(ld);
    uint8_t beyond = take(st, "zero") ? ZERO : take(st, "clamp") ? CLAMP : TRAP;
    take(st, "trap");
    if (type_size(t) * n > 16 || t > T_B64 || t < T_B8)
        st_syntax(ld, "impossible type");
    if (!need_ops(ld, 2) || ld->status != PTX_OK)
        return;
    struct target to = take_target(ld, &st->op[load ? 1 : 0], g, T_B32);
    for (unsigned k = 0; k < n && ld->status == PTX_OK; k++) {
        const struct operand *o = channel(ld, &st->op[load ? 0 : 1], n, k);
        enum type reg = t == T_B8 ? T_B16 : t;

        refs[k] = load ? dst(ld, o, reg) : src(ld, o, reg);
    }
    if (ld->status != PTX_OK)
        return;
    struct insn *i = emit(ld, load ? exec_suld : exec_sust);
    set_target(i, &to);
    set_channels(i, refs);
    i->size = (uint8_t)type_size(t);
    i->n = (uint8_t)n;
    i->round = beyond;
}

static void build_suld(struct loader *ld, struct stmt *st) {
    build_surface(ld, st, true);
}

static void build_sust(struct loader *ld, struct stmt *st) {
    build_surface(ld, st, false);
}

const struct opcode ops_tex[] = {
    {"tex", build_tex}, {"suld", build_suld}, {"sust", build_sust}, {NULL, NULL}};
