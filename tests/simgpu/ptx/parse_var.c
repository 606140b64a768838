// SPDX-License-Identifier: Apache-2.0
/* Declarations of variables and of registers, and the initial values of variables. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHARED (48u << 10) /* static: what every GPU gives without an opt-in */
#define MAX_LOCAL (512u << 10) /* for a lane */
#define MAX_FRAME (64u << 20)  /* registers of a warp */
#define LOCAL_ALIGN 64

struct decl {
    enum space space;
    bool is_extern, is_param, managed, texref, surfref;
    enum type type;
    unsigned lanes; /* .v2, .v4 */
    uint64_t align;
};

bool parse_int(struct loader *ld, uint64_t *v) {
    bool minus = ld_punct(ld, '-');

    if (!minus)
        ld_punct(ld, '+');
    if (ld->tok.kind != TOK_INT) {
        ld_syntax(ld, "a number was expected");
        *v = 0;
        return false;
    }
    *v = minus ? -ld->tok.u : ld->tok.u;
    ld_advance(ld);
    return true;
}

static void parse_attribute(struct loader *ld) {
    ld_expect(ld, '(');
    if (!ld_dot(ld, "managed"))
        ld_syntax(ld, "unknown attribute");
    ld_expect(ld, ')');
}

/* .align, .attribute, .v2, .type in any order */
static void parse_decl(struct loader *ld, struct decl *d) {
    d->lanes = 1;
    d->align = 0;
    while (ld->tok.kind == TOK_DOT) {
        enum type t = type_named(ld->tok.s, ld->tok.len);
        if (ld_dot(ld, "align")) {
            if (!parse_int(ld, &d->align) || !d->align || d->align > 4096 ||
                (d->align & (d->align - 1)))
                ld_syntax(ld, "impossible alignment");
        } else if (ld_dot(ld, "attribute")) {
            parse_attribute(ld);
            d->managed = true;
        } else if (ld_dot(ld, "v2")) {
            d->lanes = 2;
        } else if (ld_dot(ld, "v4")) {
            d->lanes = 4;
        } else if (ld_dot(ld, "ptr")) { /* of a parameter: a hint about what it points to */
            if (!ld_dot(ld, "global") && !ld_dot(ld, "const") && !ld_dot(ld, "shared"))
                ld_dot(ld, "local");
        } else if (d->type == T_NONE && (d->texref = ld_dot(ld, "texref"))) {
            d->type = T_B64;
        } else if (d->type == T_NONE && (d->surfref = ld_dot(ld, "surfref"))) {
            d->type = T_B64;
        } else if (t != T_NONE && d->type == T_NONE) {
            d->type = t;
            ld_advance(ld);
        } else {
            ld_syntax(ld, "unexpected .%.*s in a declaration",
                      (int)(ld->tok.len < 40 ? ld->tok.len : 40), ld->tok.s);
            return;
        }
    }
    if (d->type == T_NONE || d->type == T_PRED)
        ld_syntax(ld, "a type was expected");
    if ((d->texref || d->surfref) && (d->space != SP_GLOBAL || d->is_param))
        ld_syntax(ld, "references are .global");
    uint64_t natural = type_size(d->type) * d->lanes;
    if (!d->align)
        d->align = natural ? natural : 1;
}

/* The name and its dimensions; 0 elements for `name[]`. */
static uint64_t parse_dims(struct loader *ld, const struct decl *d) {
    uint64_t n = (uint64_t)type_size(d->type) * d->lanes;

    while (ld_punct(ld, '[')) {
        uint64_t dim = 0;
        if (!ld_punct(ld, ']')) {
            parse_int(ld, &dim);
            ld_expect(ld, ']');
        }
        if (__builtin_mul_overflow(n, dim, &n) || n > (1ull << 46)) {
            ld_syntax(ld, "the variable is too large");
            return 0;
        }
    }
    return n;
}

static uint64_t align_up(uint64_t v, uint64_t align) {
    return (v + align - 1) & ~(align - 1);
}

/* Takes the next place in a block of variables. */
static uint64_t place(struct loader *ld, uint64_t *end, const struct var *v, uint64_t limit) {
    uint64_t at = align_up(*end, v->align);
    if (v->size > limit || at > limit - v->size) {
        ld_syntax(ld, "too much memory is declared (the limit is %llu bytes)",
                  (unsigned long long)limit);
        return 0;
    }
    *end = at + v->size;
    return at;
}

static void place_in_frame(struct loader *ld, struct var *v) {
    uint64_t end = ld->f->local_size;
    if (v->align > LOCAL_ALIGN)
        ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED,
                 "local variables aligned to more than %d bytes are not executed here",
                 LOCAL_ALIGN);
    v->in_frame = true;
    v->offset = place(ld, &end, v, MAX_LOCAL);
    ld->f->local_size = (uint32_t)end;
}

static void place_shared(struct loader *ld, struct var *v) {
    struct ptx_module *m = ld->m;
    if (v->is_extern)
        return;
    if (ld->f && ld->f->is_entry) {
        v->owner = ld->f;
        v->offset = place(ld, &ld->f->own_shared, v, MAX_SHARED);
    } else {
        v->offset = place(ld, &m->shared_size, v, 1u << 30); /* checked for each kernel */
        v->shared_index = (uint32_t)ld->shared_count;
        if (ld_grow(ld, &ld->shared_vars, &ld->shared_cap, ld->shared_count + 1, sizeof(v)))
            ld->shared_vars[ld->shared_count++] = v;
    }
}

static void place_variable(struct loader *ld, struct var *v) {
    switch (v->space) {
    case SP_GLOBAL:
        if (!v->managed || !ld->m->mem.managed)
            v->offset = place(ld, &ld->m->global_size, v, 1ull << 46);
        break;
    case SP_CONST:
        v->offset = place(ld, &ld->m->const_size, v, 11 * (64u << 10));
        break;
    case SP_SHARED:
        place_shared(ld, v);
        break;
    default:
        place_in_frame(ld, v);
    }
}

struct init {
    struct var *var;
    const struct decl *decl;
    uint64_t at; /* bytes from the variable's start */
};

static void put_bytes(struct loader *ld, struct init *in, uint64_t bits) {
    unsigned n = type_size(in->decl->type);
    uint64_t need = in->at + n;
    struct var *v = in->var;

    if (in->at > v->size || n > v->size - in->at) {
        ld_syntax(ld, "more initial values than the variable holds");
        return;
    }
    if (!bits || !ld_grow(ld, &v->init, &v->init_cap, need, 1))
        return;
    if (v->init_len < need) {
        memset(v->init + v->init_len, 0, need - v->init_len);
        v->init_len = need;
    }
    memcpy(v->init + in->at, &bits, n);
}

static void put_symbol(struct loader *ld, struct init *in, uint64_t mask) {
    const struct sym *sym = NULL;
    bool generic = ld->tok.kind == TOK_ID && tok_is(&ld->tok, "generic");

    if (generic) {
        ld_advance(ld);
        ld_expect(ld, '(');
    }
    if (ld->tok.kind == TOK_ID)
        sym = map_find(&ld->globals, ld->tok.s, ld->tok.len);
    if (!sym || (sym->kind != SYM_VAR && sym->kind != SYM_FUNC) ||
        (sym->kind == SYM_VAR && sym->var->space != SP_GLOBAL && sym->var->space != SP_CONST)) {
        ld_syntax(ld, "unknown name in an initial value");
        return;
    }
    ld_advance(ld);
    if (generic)
        ld_expect(ld, ')');
    uint64_t addend = 0;
    if (ld->tok.kind == TOK_PUNCT && (ld->tok.c == '+' || ld->tok.c == '-'))
        parse_int(ld, &addend);
    unsigned width = type_size(in->decl->type);
    if (in->at > in->var->size || width > in->var->size - in->at || (width != 8 && !~mask))
        ld_syntax(ld, "an address does not fit here");
    if (!ld_grow(ld, &ld->relocs, &ld->reloc_cap, ld->reloc_count + 1, sizeof(*ld->relocs)))
        return;
    ld->relocs[ld->reloc_count++] =
        (struct reloc){.at = in->var,
                       .offset = in->at,
                       .width = width,
                       .mask = mask,
                       .addend = addend,
                       .var = sym->kind == SYM_VAR ? sym->var : NULL,
                       .func = sym->kind == SYM_FUNC ? sym->func : NULL};
}

static uint64_t float_bits(const struct decl *d, const struct token *t, bool minus) {
    double v = minus ? -t->d : t->d;
    uint64_t bits = 0;

    if (d->type == T_F32) {
        float f = (float)v;
        memcpy(&bits, &f, sizeof(f));
    } else if (d->type == T_F64) {
        memcpy(&bits, &v, sizeof(v));
    } else {
        bits = t->u;
    }
    return bits;
}

static void parse_value(struct loader *ld, struct init *in) {
    if (ld->tok.kind == TOK_ID) {
        put_symbol(ld, in, ~0ull);
    } else {
        bool minus = ld_punct(ld, '-');
        struct token t = ld->tok;
        ld_advance(ld);
        if (t.kind == TOK_FLT) {
            put_bytes(ld, in, float_bits(in->decl, &t, minus));
        } else if (t.kind != TOK_INT) {
            ld_syntax(ld, "an initial value was expected");
        } else if (ld_punct(ld, '(')) { /* 0xff00(name): one byte of an address */
            put_symbol(ld, in, t.u);
            ld_expect(ld, ')');
        } else if (in->decl->type == T_F32 || in->decl->type == T_F64) {
            t.d = (double)t.u;
            put_bytes(ld, in, float_bits(in->decl, &t, minus));
        } else {
            put_bytes(ld, in, minus ? -t.u : t.u);
        }
    }
    in->at += type_size(in->decl->type);
}

static void parse_init(struct loader *ld, struct init *in, unsigned depth) {
    if (!ld_punct(ld, '{')) {
        parse_value(ld, in);
        return;
    }
    if (depth > 8)
        ld_syntax(ld, "initial values are nested too deeply");
    if (ld_punct(ld, '}'))
        return;
    do {
        parse_init(ld, in, depth + 1);
    } while (ld->status == PTX_OK && ld_punct(ld, ','));
    ld_expect(ld, '}');
}

static struct var *declare(struct loader *ld, const struct decl *d) {
    bool module_wide = d->space == SP_GLOBAL || d->space == SP_CONST;
    struct map *map = ld->f ? &ld->locals : &ld->globals;
    struct var *v = module_wide ? ld_own(ld, sizeof(*v)) : ld_alloc(ld, sizeof(*v));

    if (ld->tok.kind != TOK_ID) {
        ld_syntax(ld, "a name was expected");
        return NULL;
    }
    struct sym *old = map_find_here(map, ld->tok.s, ld->tok.len);
    if (old && !(old->kind == SYM_VAR && old->var->is_extern)) {
        ld_syntax(ld, "%.*s is declared twice", (int)(ld->tok.len < 80 ? ld->tok.len : 80),
                  ld->tok.s);
        return NULL;
    }
    struct sym *sym = ld_sym(ld, map, ld->tok.s, ld->tok.len, SYM_VAR);
    char *name = ld_own(ld, ld->tok.len + 1);
    if (!v || !sym || !name)
        return NULL;
    memcpy(name, ld->tok.s, ld->tok.len);
    *v = (struct var){.name = name,
                      .space = d->space,
                      .type = d->type,
                      .align = d->align,
                      .is_extern = d->is_extern,
                      .managed = d->managed && d->space == SP_GLOBAL,
                      .texref = d->texref,
                      .surfref = d->surfref};
    sym->var = v;
    ld_advance(ld);
    return v;
}

static void parse_one(struct loader *ld, const struct decl *d) {
    struct var *v = declare(ld, d);
    struct ptx_module *m = ld->m;
    if (!v)
        return;
    v->size = parse_dims(ld, d);
    if (!v->size && d->space != SP_SHARED && !d->is_extern && !d->is_param)
        ld_syntax(ld, "the variable has no size");
    if (d->space == SP_SHARED && !v->size)
        v->is_extern = true;
    if (v->is_extern && d->space != SP_SHARED)
        return; /* an error only where it is used */
    place_variable(ld, v);
    if (d->space == SP_GLOBAL || d->space == SP_CONST) {
        v->owner = ld->f;
        if (ld_grow(ld, &m->vars, &m->var_cap, m->var_count + 1, sizeof(*m->vars)))
            m->vars[m->var_count++] = v;
    }
    if (ld_punct(ld, '=')) {
        struct init in = {.var = v, .decl = d};
        if (d->space == SP_GLOBAL || d->space == SP_CONST)
            parse_init(ld, &in, 0);
        else
            ld_syntax(ld, "only .global and .const variables have initial values");
    }
}

void parse_variable(struct loader *ld, bool is_extern) {
    struct decl d = {.is_extern = is_extern};

    if (ld_dot(ld, "global"))
        d.space = SP_GLOBAL;
    else if (ld_dot(ld, "const"))
        d.space = SP_CONST;
    else if (ld_dot(ld, "shared"))
        d.space = SP_SHARED;
    else if (ld_dot(ld, "local"))
        d.space = SP_LOCAL;
    else if (ld_dot(ld, "param"))
        d.space = SP_LOCAL, d.is_param = true;
    parse_decl(ld, &d);
    do {
        parse_one(ld, &d);
    } while (ld->status == PTX_OK && ld_punct(ld, ','));
    ld_expect(ld, ';');
}

/* .reg .b32 %r<9>, %x; */
void parse_registers(struct loader *ld) {
    enum type t = ld->tok.kind == TOK_DOT ? type_named(ld->tok.s, ld->tok.len) : T_NONE;

    if (t == T_NONE) {
        ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED, "registers of type .%.*s",
                 (int)(ld->tok.len < 40 ? ld->tok.len : 40), ld->tok.s);
        return;
    }
    ld_advance(ld);
    do {
        struct token name = ld->tok;
        if (name.kind != TOK_ID) {
            ld_syntax(ld, "a register's name was expected");
            return;
        }
        ld_advance(ld);
        uint64_t count = 0;
        if (ld_punct(ld, '<')) {
            parse_int(ld, &count);
            ld_expect(ld, '>');
            if (!count)
                continue;
        }
        uint64_t each = t == T_PRED ? 4 : reg_size(t) * WARP;
        uint64_t bytes = (count ? count : 1) * each;
        if (count > MAX_FRAME || ld->f->frame_size + bytes > MAX_FRAME) {
            ld_syntax(ld, "too many registers");
            return;
        }
        if (map_find_here(&ld->locals, name.s, name.len)) {
            ld_syntax(ld, "a register is declared twice");
            return;
        }
        struct sym *sym = ld_sym(ld, &ld->locals, name.s, name.len, SYM_REG);
        if (!sym)
            return;
        sym->reg = (struct reg){.type = t, .ref = ld->f->frame_size, .count = (uint32_t)count};
        ld->f->frame_size = (uint32_t)align_up(ld->f->frame_size + bytes, 64);
    } while (ld_punct(ld, ','));
    ld_expect(ld, ';');
}

/*
 * ( .param .b32 a, .reg .b32 b ): the parameters or the results of a function. Those of a kernel
 * lie in its packed buffer; those of a .func in its frame.
 */
void parse_formals(struct loader *ld, struct func *f, struct formal **list, unsigned *count) {
    size_t cap = 0, n = 0;
    struct formal *formals = NULL;

    *count = 0;
    *list = NULL;
    if (ld_punct(ld, ')'))
        return;
    do {
        struct decl d = {.space = f->is_entry ? SP_PARAM : SP_LOCAL, .is_param = true};
        bool is_reg = ld_dot(ld, "reg");
        if (!is_reg && !ld_dot(ld, "param"))
            ld_syntax(ld, ".param was expected");
        if (is_reg && f->is_entry)
            ld_syntax(ld, "a kernel has no .reg parameters");
        parse_decl(ld, &d);
        if (!ld_grow(ld, &formals, &cap, n + 1, sizeof(*formals)))
            break;
        struct formal *fm = &formals[n++];
        *fm = (struct formal){.is_reg = is_reg};
        struct token name = ld->tok;
        if (name.kind != TOK_ID) {
            ld_syntax(ld, "a parameter's name was expected");
            break;
        }
        ld_advance(ld);
        fm->name = name.s;
        fm->name_len = name.len;
        fm->var = (struct var){.space = d.space, .type = d.type, .align = d.align};
        fm->var.size = parse_dims(ld, &d);
        if (f->is_entry) {
            fm->var.offset = place(ld, &f->param_bytes, &fm->var, 32764);
        } else if (is_reg) {
            fm->ref = new_reg(ld, reg_size(d.type));
            fm->var.size = reg_size(d.type);
        } else {
            place_in_frame(ld, &fm->var);
        }
    } while (ld->status == PTX_OK && ld_punct(ld, ','));
    ld_expect(ld, ')');
    *list = ld_own(ld, n * sizeof(*formals));
    if (*list && n) {
        memcpy(*list, formals, n * sizeof(*formals));
        *count = (unsigned)n;
    }
    free(formals);
}
