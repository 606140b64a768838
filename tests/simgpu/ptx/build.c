// SPDX-License-Identifier: Apache-2.0
/* From operands to refs: registers, constants, addresses; and the stream of instructions. */
#include "load.h"

#include <string.h>

#include "flow.h"
#include "sreg.h"

#define MAX_FRAME (64u << 20)
#define MAX_POOL (1u << 30)
#define MAX_CODE (16u << 20)

struct pool_entry {
    uint64_t value;
    uint32_t width, ref, next;
};

static uint32_t frame_take(struct loader *ld, uint32_t bytes) {
    uint32_t ref = ld->f->frame_size;
    if (ref + bytes > MAX_FRAME) {
        ld_syntax(ld, "too many registers");
        return ref;
    }
    ld->f->frame_size = (ref + bytes + 63) & ~63u;
    return ref;
}

uint32_t new_reg(struct loader *ld, unsigned bytes_a_lane) {
    return frame_take(ld, bytes_a_lane * WARP);
}

uint32_t new_pred(struct loader *ld) {
    return frame_take(ld, sizeof(uint32_t));
}

/* A new slot that holds the value in every lane. */
static uint32_t pool_slot(struct loader *ld, unsigned width, uint64_t value) {
    struct ptx_module *m = ld->m;
    size_t at = m->pool_size, size = (width * WARP + 63) & ~(size_t)63;

    if (at + size > MAX_POOL || !ld_grow(ld, &m->pool, &m->pool_cap, at + size, 1))
        return 1;
    for (unsigned l = 0; l < WARP; l++)
        memcpy(m->pool + at + (size_t)l * width, &value, width);
    m->pool_size = at + size;
    return (uint32_t)at | 1;
}

uint32_t pool_const(struct loader *ld, unsigned width, uint64_t value) {
    if (width < 8)
        value &= (1ull << (8 * width)) - 1;
    uint64_t h = (value * 0x9e3779b97f4a7c15ull) >> 52 ^ width;
    uint32_t *bucket = &ld->pool_buckets[h & 4095];
    for (uint32_t e = *bucket; e; e = ld->pool_entries[e - 1].next)
        if (ld->pool_entries[e - 1].value == value && ld->pool_entries[e - 1].width == width)
            return ld->pool_entries[e - 1].ref;
    if (!ld_grow(ld, &ld->pool_entries, &ld->pool_entry_cap, ld->pool_count + 1,
                 sizeof(*ld->pool_entries)))
        return 1;
    uint32_t ref = pool_slot(ld, width, value);
    ld->pool_entries[ld->pool_count++] =
        (struct pool_entry){.value = value, .width = width, .ref = ref, .next = *bucket};
    *bucket = (uint32_t)ld->pool_count;
    return ref;
}

struct insn *emit(struct loader *ld, px_exec exec) {
    static _Thread_local struct insn nowhere; /* out of memory: the load fails anyway */
    struct ptx_module *m = ld->m;

    if (m->code_count >= MAX_CODE) {
        ld_syntax(ld, "the module is too large");
        return &nowhere;
    }
    if (!ld_grow(ld, &m->code, &m->code_cap, m->code_count + 1, sizeof(*m->code)))
        return &nowhere;
    struct insn *i = &m->code[m->code_count++];
    *i = (struct insn){.exec = exec, .guard = ld->st->guard, .line = ld->st->line};
    return i;
}

/* --- modifiers --- */

bool take(struct stmt *st, const char *mod) {
    for (unsigned i = 0; i < st->mod_count; i++)
        if (!st->taken[i] && tok_is(&st->mods[i], mod))
            return st->taken[i] = true;
    return false;
}

enum type take_type(struct loader *ld) {
    struct stmt *st = ld->st;
    for (unsigned i = 0; i < st->mod_count; i++) {
        enum type t = st->taken[i] ? T_NONE : type_named(st->mods[i].s, st->mods[i].len);
        if (t != T_NONE) {
            st->taken[i] = true;
            return t;
        }
    }
    return T_NONE;
}

enum type need_type(struct loader *ld) {
    enum type t = take_type(ld);
    if (t == T_NONE)
        st_syntax(ld, "a type is missing, or one that is not executed here");
    return t;
}

bool need_ops(struct loader *ld, unsigned count) {
    if (ld->st->op_count == count)
        return true;
    st_syntax(ld, "wrong number of operands");
    return false;
}

/* --- operands --- */

static uint64_t float_const(const struct operand *o, enum type t) {
    uint64_t bits = 0;

    if (t == T_F64 || (!type_float(t) && type_size(t) == 8 && !o->single)) {
        memcpy(&bits, &o->f, sizeof(o->f));
    } else if (t == T_F32 || !o->single) {
        float f = (float)o->f;
        memcpy(&bits, &f, sizeof(f));
        if (o->single)
            bits = o->u;
    } else {
        bits = o->u;
    }
    return bits;
}

static uint32_t int_const(struct loader *ld, const struct operand *o, enum type t) {
    uint64_t v = o->u;

    if (t == T_F32) {
        float f = (float)(int64_t)v;
        v = 0;
        memcpy(&v, &f, sizeof(f));
    } else if (t == T_F64) {
        double f = (double)(int64_t)v;
        memcpy(&v, &f, sizeof(f));
    }
    return pool_const(ld, reg_size(t), v);
}

/* A constant that gets its value when the variables have their places. */
static uint32_t later_const(struct loader *ld, const struct var *v, unsigned width,
                            uint64_t addend) {
    uint32_t ref = pool_slot(ld, width, 0);
    if (ld_grow(ld, &ld->fixups, &ld->fixup_cap, ld->fixup_count + 1, sizeof(*ld->fixups)))
        ld->fixups[ld->fixup_count++] =
            (struct fixup){.pool_at = ref & ~1u, .width = width, .var = v, .addend = addend};
    return ref;
}

static void note_shared(struct loader *ld, const struct var *v) {
    struct func *f = ld->f;
    size_t words = v->shared_index / 64 + 1;

    if (v->space != SP_SHARED || v->owner || v->is_extern)
        return;
    if (ld_grow(ld, &f->shared_used, &f->shared_words_cap, words, sizeof(uint64_t)) &&
        f->shared_words < words) {
        memset(f->shared_used + f->shared_words, 0, (words - f->shared_words) * 8);
        f->shared_words = words;
    }
    if (f->shared_words >= words)
        f->shared_used[v->shared_index / 64] |= 1ull << v->shared_index % 64;
}

static struct sym *find_symbol(struct loader *ld, const char *s, size_t len) {
    struct sym *sym = map_find(&ld->locals, s, len);
    if (!sym)
        sym = map_find(&ld->globals, s, len);
    return sym && (sym->kind == SYM_VAR || sym->kind == SYM_FUNC) ? sym : NULL;
}

static bool defined(struct loader *ld, const struct var *v) {
    if (!v->is_extern || v->space == SP_SHARED)
        return true;
    ld_error(ld, ld->st->line, PTX_ERR_UNSUPPORTED, "variable %.80s is defined in no module",
             v->name);
    return false;
}

/* The address of a variable as a value, within its space. */
static uint32_t variable_address(struct loader *ld, const struct var *v, unsigned width,
                                 uint64_t addend) {
    if (!defined(ld, v))
        return 1;
    note_shared(ld, v);
    if (v->space == SP_PARAM)
        return pool_const(ld, width, v->offset + addend);
    if (!v->in_frame && !v->is_extern)
        return later_const(ld, v, width, addend);
    uint32_t ref = new_reg(ld, width);
    struct insn *i = emit(ld, exec_sreg);
    i->op = v->in_frame ? SREG_FRAME : SREG_DYNAMIC;
    i->size = (uint8_t)width;
    i->d = ref;
    i->imm = (int64_t)((v->in_frame ? v->offset : 0) + addend);
    return ref;
}

static uint32_t symbol_value(struct loader *ld, const struct operand *o, enum type t) {
    struct sym *sym = find_symbol(ld, o->s, o->len);
    unsigned width = reg_size(t);

    if (!sym) {
        char buf[96];
        int n = o->len < 60 ? (int)o->len : 60;
        memcpy(buf, o->s, (size_t)n);
        memcpy(buf + n, " is not declared", 17);
        if (is_other_sreg(o->s, o->len))
            st_refuse(ld, "this special register");
        else
            st_syntax(ld, buf);
        return 1;
    }
    if (width < 4 || (width == 4 && (sym->kind == SYM_FUNC ||
                                     (sym->var->space != SP_SHARED && !sym->var->in_frame)))) {
        st_syntax(ld, "the address does not fit the type");
        return 1;
    }
    if (sym->kind == SYM_FUNC) {
        if (sym->func->is_entry || find_system_call(sym->func))
            st_refuse(ld, "the address of this function");
        return pool_const(ld, width, FUNC_ADDR(sym->func->index));
    }
    return variable_address(ld, sym->var, width, o->u);
}

static bool name_is(const struct operand *o, const char *s) {
    return strlen(s) == o->len && !memcmp(o->s, s, o->len);
}

bool is_sink(const struct operand *o) {
    return o->kind == OPD_NAME && name_is(o, "_");
}

bool const_int(const struct operand *o, int64_t *v) {
    *v = (int64_t)o->u;
    return o->kind == OPD_INT;
}

/* Predicates have their own operands; a value needs a type with a size. */
static bool has_size(struct loader *ld, enum type t) {
    if (!type_size(t))
        st_syntax(ld, "impossible type");
    return type_size(t);
}

/* A register, with the size it has; 0: it is none. */
static unsigned register_operand(struct loader *ld, const struct operand *o, uint32_t *ref) {
    struct reg *r = o->kind == OPD_NAME ? find_reg(ld, o->s, o->len, ref) : NULL;
    if (!r)
        return 0;
    if (o->not || o->minus || o->pair || o->dim || o->u)
        st_syntax(ld, "nothing may be added to a register here");
    if (r->type == T_PRED) {
        st_syntax(ld, "a predicate where a number is needed");
        return 0;
    }
    return reg_size(r->type);
}

static uint32_t other_source(struct loader *ld, const struct operand *o, enum type t) {
    unsigned wide;
    int sreg;

    if (o->not || (o->minus && o->kind == OPD_NAME) || o->pair) {
        st_syntax(ld, "impossible operand");
        return 1;
    }
    switch (o->kind) {
    case OPD_INT:
        return int_const(ld, o, t);
    case OPD_FLT:
        return pool_const(ld, reg_size(t), float_const(o, t));
    case OPD_NAME:
        if (name_is(o, "WARP_SZ"))
            return pool_const(ld, reg_size(t), WARP);
        sreg = find_sreg(o->s, o->len, o->dim, &wide);
        if (sreg < 0)
            return symbol_value(ld, o, t);
        uint32_t ref = new_reg(ld, reg_size(t));
        struct insn *i = emit(ld, exec_sreg);
        i->op = (uint8_t)sreg;
        i->size = (uint8_t)reg_size(t);
        i->d = ref;
        return ref;
    default:
        st_syntax(ld, "impossible operand");
        return 1;
    }
}

uint32_t src(struct loader *ld, const struct operand *o, enum type t) {
    uint32_t ref = 1;

    if (!has_size(ld, t))
        return ref;
    unsigned size = register_operand(ld, o, &ref);

    if (!size)
        return other_source(ld, o, t);
    if (size != reg_size(t))
        st_syntax(ld, "a register has the wrong size");
    return ref;
}

uint32_t src_wide(struct loader *ld, const struct operand *o, enum type t) {
    uint32_t ref = 1;

    if (!has_size(ld, t))
        return ref;
    unsigned size = register_operand(ld, o, &ref);

    if (!size)
        return other_source(ld, o, t);
    if (size < reg_size(t))
        st_syntax(ld, "a register is too small");
    if (size <= reg_size(t))
        return ref;
    uint32_t narrow = new_reg(ld, reg_size(t));
    struct insn *i = emit(ld, exec_move(reg_size(t), size, false));
    i->d = narrow;
    i->a = ref;
    return narrow;
}

uint32_t dst(struct loader *ld, const struct operand *o, enum type t) {
    uint32_t ref = 0;

    if (!has_size(ld, t))
        return ref;
    if (is_sink(o))
        return new_reg(ld, reg_size(t));
    unsigned size = register_operand(ld, o, &ref);
    if (!size)
        st_syntax(ld, "the destination must be a register");
    else if (size != reg_size(t))
        st_syntax(ld, "a register has the wrong size");
    return ref;
}

uint32_t dst_wide(struct loader *ld, const struct operand *o, enum type t, struct wide *w) {
    uint32_t ref = 0;

    *w = (struct wide){0};
    if (!has_size(ld, t))
        return ref;
    if (is_sink(o))
        return new_reg(ld, reg_size(t));
    unsigned size = register_operand(ld, o, &ref);
    if (!size)
        st_syntax(ld, "the destination must be a register");
    else if (size < reg_size(t))
        st_syntax(ld, "a register is too small");
    if (size <= reg_size(t))
        return ref;
    *w =
        (struct wide){.from = new_reg(ld, reg_size(t)), .to = ref, .from_type = t, .to_size = size};
    return w->from;
}

void dst_wide_done(struct loader *ld, const struct wide *w) {
    if (!w->to_size)
        return;
    struct insn *i =
        emit(ld, exec_move(w->to_size, reg_size(w->from_type), type_signed(w->from_type)));
    i->d = w->to;
    i->a = w->from;
}

uint32_t src_pred(struct loader *ld, const struct operand *o) {
    uint32_t ref = PRED_TRUE;

    if (o->kind == OPD_INT)
        return (o->u != 0) != o->not ? PRED_TRUE : PRED_FALSE;
    struct reg *r = o->kind == OPD_NAME ? find_reg(ld, o->s, o->len, &ref) : NULL;
    if (!r || r->type != T_PRED || o->pair || o->minus || o->u)
        st_syntax(ld, "a predicate was expected");
    return o->not ? ref ^ PRED_NOT : ref;
}

uint32_t dst_pred(struct loader *ld, const char *s, size_t len) {
    uint32_t ref = 0;

    if (len == 1 && *s == '_')
        return new_pred(ld);
    struct reg *r = find_reg(ld, s, len, &ref);
    if (!r || r->type != T_PRED)
        st_syntax(ld, "a predicate was expected");
    return ref;
}

uint32_t dst_pred_operand(struct loader *ld, const struct operand *o) {
    if (o->kind == OPD_NAME && !o->pair && !o->not &&!o->minus && !o->u)
        return dst_pred(ld, o->s, o->len);
    st_syntax(ld, "a predicate was expected");
    return 0;
}

/* --- addresses --- */

enum space take_space(struct loader *ld) {
    static const struct {
        const char *name;
        enum space space;
    } names[] = {{"global", SP_GLOBAL},
                 {"const", SP_CONST},
                 {"shared", SP_SHARED},
                 {"shared::cta", SP_SHARED},
                 {"shared::cluster", SP_CLUSTER},
                 {"local", SP_LOCAL},
                 {"param", SP_PARAM},
                 {"param::entry", SP_PARAM},
                 {"param::func", SP_PARAM}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (take(ld->st, names[i].name))
            return names[i].space;
    return SP_GENERIC;
}

/* An address that names a variable. */
static struct address variable_operand(struct loader *ld, const struct operand *o,
                                       const struct var *v, enum space space) {
    struct address a = {.space = space, .imm = (int64_t)o->u, .ref = REF_NONE};
    bool matches = v->space == space || (space == SP_CLUSTER && v->space == SP_SHARED) ||
                   (space == SP_PARAM && v->in_frame) ||
                   (space == SP_GENERIC && (v->space == SP_GLOBAL || v->space == SP_CONST));

    if (!matches || !defined(ld, v)) {
        st_syntax(ld, "the variable lies in another state space");
        return a;
    }
    note_shared(ld, v);
    if (v->in_frame) {
        a.space = SP_LOCAL;
        a.ref = REF_SP;
        a.imm += (int64_t)v->offset;
    } else if (v->space == SP_PARAM) {
        a.imm += (int64_t)v->offset;
    } else if (v->is_extern) {
        a.ref = variable_address(ld, v, 8, 0);
    } else {
        a.ref = later_const(ld, v, 8, 0);
    }
    return a;
}

struct address address(struct loader *ld, const struct operand *o, enum space space) {
    struct address a = {.space = space, .imm = (int64_t)o->u, .ref = REF_NONE};

    if (o->kind != OPD_ADDR || o->not || o->elem) {
        st_syntax(ld, "an address was expected");
        return a;
    }
    if (!o->s)
        return a;
    struct reg *r = find_reg(ld, o->s, o->len, &a.ref);
    if (r) {
        if (r->type == T_PRED || reg_size(r->type) < 4)
            st_syntax(ld, "the register cannot hold an address");
        a.addr32 = reg_size(r->type) == 4;
        if (space == SP_PARAM && !ld->f->is_entry)
            a.space = SP_LOCAL;
        return a;
    }
    struct sym *sym = find_symbol(ld, o->s, o->len);
    if (sym && sym->kind == SYM_VAR)
        return variable_operand(ld, o, sym->var, space);
    st_syntax(ld, "the address names nothing that is declared");
    return a;
}

void set_address(struct insn *i, const struct address *a) {
    i->a = a->ref;
    i->imm = a->imm;
    i->space = (uint8_t)a->space;
    if (a->addr32)
        i->flags |= F_ADDR32;
}
