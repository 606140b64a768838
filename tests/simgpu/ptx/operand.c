// SPDX-License-Identifier: Apache-2.0
/* Statements as written: opcode, modifiers, operands; then the opcode's builder. */
#include "load.h"

#include <string.h>

static struct operand *scratch(struct loader *ld, unsigned n) {
    unsigned size = sizeof(ld->scratch) / sizeof(*ld->scratch);
    if (ld->scratch_used + n > size) {
        ld_syntax(ld, "too many operands");
        return NULL;
    }
    struct operand *o = &ld->scratch[ld->scratch_used];
    ld->scratch_used += n;
    return o;
}

/* { a, b, c } after the brace */
static bool parse_vector(struct loader *ld, struct operand *o) {
    o->kind = OPD_VEC;
    o->elem = scratch(ld, MAX_VECTOR);
    if (!o->elem)
        return false;
    do {
        if (o->count == MAX_VECTOR) {
            ld_syntax(ld, "the vector is too long");
            return false;
        }
        struct operand *e = &o->elem[o->count++];
        if (!parse_operand(ld, e) ||
            (e->kind != OPD_NAME && e->kind != OPD_INT && e->kind != OPD_FLT)) {
            ld_syntax(ld, "vectors hold registers and numbers");
            return false;
        }
    } while (ld_punct(ld, ','));
    ld_expect(ld, '}');
    return true;
}

static void parse_offset(struct loader *ld, uint64_t *u) {
    if (ld->tok.kind == TOK_PUNCT && ld->tok.c == '-') {
        parse_int(ld, u);
    } else if (ld_punct(ld, '+')) {
        parse_int(ld, u);
    }
}

/* [ base + offset ] or [ texture, coordinates ] after the bracket */
static bool parse_address_operand(struct loader *ld, struct operand *o) {
    o->kind = OPD_ADDR;
    if (ld->tok.kind == TOK_ID) {
        o->s = ld->tok.s;
        o->len = ld->tok.len;
        ld_advance(ld);
        parse_offset(ld, &o->u);
    } else {
        parse_int(ld, &o->u);
    }
    if (ld_punct(ld, ',')) {
        o->elem = scratch(ld, 1);
        if (!o->elem || !parse_operand(ld, o->elem))
            return false;
    }
    ld_expect(ld, ']');
    return true;
}

static void parse_name(struct loader *ld, struct operand *o) {
    o->kind = OPD_NAME;
    o->s = ld->tok.s;
    o->len = ld->tok.len;
    ld_advance(ld);
    if (ld->tok.kind == TOK_DOT && ld->tok.len == 1 && strchr("xyzw", *ld->tok.s)) {
        o->dim = *ld->tok.s;
        ld_advance(ld);
    }
    if (ld_punct(ld, '|')) {
        if (ld->tok.kind != TOK_ID) {
            ld_syntax(ld, "a register was expected after '|'");
            return;
        }
        o->pair = ld->tok.s;
        o->pair_len = ld->tok.len;
        ld_advance(ld);
    }
    parse_offset(ld, &o->u);
}

bool parse_operand(struct loader *ld, struct operand *o) {
    *o = (struct operand){0};
    o->not = ld_punct(ld, '!');
    if (ld_punct(ld, '{'))
        return parse_vector(ld, o);
    if (ld_punct(ld, '['))
        return parse_address_operand(ld, o);
    o->minus = ld_punct(ld, '-');
    switch (ld->tok.kind) {
    case TOK_ID:
        parse_name(ld, o);
        return true;
    case TOK_INT:
        o->kind = OPD_INT;
        o->u = o->minus ? -ld->tok.u : ld->tok.u;
        ld_advance(ld);
        return true;
    case TOK_FLT:
        o->kind = OPD_FLT;
        o->single = ld->tok.single;
        o->u = ld->tok.u;
        o->f = ld->tok.d;
        if (o->minus) {
            o->f = -o->f;
            o->u ^= o->single ? 1ull << 31 : 1ull << 63;
        }
        ld_advance(ld);
        return true;
    default:
        ld_syntax(ld, "an operand was expected");
        return false;
    }
}

/* The guard after '@'. */
uint32_t parse_reg_guard(struct loader *ld) {
    bool not = ld_punct(ld, '!');
    uint32_t ref = 0;
    const struct reg *r = NULL;

    if (ld->tok.kind == TOK_ID)
        r = find_reg(ld, ld->tok.s, ld->tok.len, &ref);
    if (!r || r->type != T_PRED)
        ld_syntax(ld, "a predicate was expected after '@'");
    ld_advance(ld);
    return not ? ref | PRED_NOT : ref;
}

static const char *const refused[] = {
    "tld4",          "txq",          "sured",     "suq",
    "istypep",       "wmma",         "mma",       "wgmma",
    "ldmatrix",      "stmatrix",     "movmatrix", "mbarrier",
    "tensormap",     "tcgen05",      "multimem",  "clusterlaunchcontrol",
    "setmaxnreg",    "createpolicy", "alloca",    "stacksave",
    "stackrestore",  "vadd",         "vsub",      "vabsdiff",
    "vmin",          "vmax",         "vshl",      "vshr",
    "vmad",          "vset",         "vadd2",     "vsub2",
    "vavrg2",        "vabsdiff2",    "vmin2",     "vmax2",
    "vset2",         "vadd4",        "vsub4",     "vavrg4",
    "vmin4",         "vmax4",        "vset4",     "elect",
    "st.async",      "red.async",    "fns",       "pmevent",
    "applypriority", "discard"};

static void unknown_opcode(struct loader *ld) {
    const struct stmt *st = ld->st;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        if (strlen(refused[i]) == st->name_len && !memcmp(refused[i], st->name, st->name_len)) {
            st_refuse(ld, "");
            return;
        }
    st_syntax(ld, "unknown instruction");
}

static void parse_modifiers(struct loader *ld, struct stmt *st) {
    while (ld->tok.kind == TOK_DOT) {
        if (st->mod_count == MAX_MODS) {
            ld_syntax(ld, "too many modifiers");
            return;
        }
        st->mods[st->mod_count++] = ld->tok;
        ld_advance(ld);
    }
}

void parse_statement(struct loader *ld, const struct token *name, uint32_t guard) {
    struct stmt st = {.name = name->s, .name_len = name->len, .guard = guard, .line = name->line};

    if (name->kind != TOK_ID) {
        ld_syntax(ld, "an instruction was expected");
        return;
    }
    ld->st = &st;
    ld->scratch_used = 0;
    parse_modifiers(ld, &st);
    const struct opcode *op = find_opcode(st.name, st.name_len);
    if (!op) {
        unknown_opcode(ld);
    } else if (tok_is(name, "call")) {
        parse_call(ld, &st);
    } else {
        if (!ld_punct(ld, ';')) {
            do {
                if (st.op_count == MAX_OPERANDS)
                    ld_syntax(ld, "too many operands");
                else
                    parse_operand(ld, &st.op[st.op_count++]);
            } while (ld->status == PTX_OK && ld_punct(ld, ','));
            ld_expect(ld, ';');
        }
        if (ld->status == PTX_OK)
            op->build(ld, &st);
    }
    for (unsigned i = 0; i < st.mod_count && ld->status == PTX_OK; i++)
        if (!st.taken[i])
            st_refuse(ld, "a modifier is unknown or does not belong here");
    ld->st = NULL;
}
