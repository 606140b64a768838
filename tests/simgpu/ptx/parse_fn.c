// SPDX-License-Identifier: Apache-2.0
/* Functions: the signature, the directives after it, scopes, labels and tables in the body. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* Rooms that every frame starts with: where its lanes return to. */
#define FRAME_HEADER sizeof(struct frame_header)
#define MAX_SCOPES 64

static void parse_dims3(struct loader *ld, unsigned out[3]) {
    unsigned n = 0;

    out[0] = out[1] = out[2] = 1;
    do {
        uint64_t v = 0;
        if (n == 3 || !parse_int(ld, &v) || !v || v > 1024)
            ld_syntax(ld, "impossible number of threads");
        else
            out[n++] = (unsigned)v;
    } while (ld->status == PTX_OK && ld_punct(ld, ','));
    if ((uint64_t)out[0] * out[1] * out[2] > 1024)
        ld_syntax(ld, "impossible number of threads");
}

static void skip_hint(struct loader *ld) {
    uint64_t v;
    parse_int(ld, &v);
}

static void skip_pragma(struct loader *ld) {
    do {
        if (ld->tok.kind != TOK_STR)
            ld_syntax(ld, ".pragma needs a string");
        ld_advance(ld);
    } while (ld_punct(ld, ','));
    ld_expect(ld, ';');
}

/* .maxntid, .noreturn... between the parameters and the body */
static void parse_hints(struct loader *ld, struct func *f) {
    while (ld->status == PTX_OK && ld->tok.kind == TOK_DOT) {
        if (ld_dot(ld, "maxntid")) {
            parse_dims3(ld, f->maxntid);
            f->max_threads = f->maxntid[0] * f->maxntid[1] * f->maxntid[2];
        } else if (ld_dot(ld, "reqntid")) {
            parse_dims3(ld, f->reqntid);
            f->max_threads = f->reqntid[0] * f->reqntid[1] * f->reqntid[2];
        } else if (ld_dot(ld, "reqnctapercluster")) {
            parse_dims3(ld, f->cluster);
        } else if (ld_dot(ld, "explicitcluster")) {
            f->explicit_cluster = true;
        } else if (ld_dot(ld, "maxclusterrank") || ld_dot(ld, "minnctapersm") ||
                   ld_dot(ld, "maxnctapersm") || ld_dot(ld, "maxnreg") ||
                   ld_dot(ld, "abi_preserve") || ld_dot(ld, "abi_preserve_control")) {
            skip_hint(ld);
        } else if (ld_dot(ld, "pragma")) {
            skip_pragma(ld);
        } else if (!ld_dot(ld, "noreturn")) {
            ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED, "directive .%.*s is not executed here",
                     (int)(ld->tok.len < 40 ? ld->tok.len : 40), ld->tok.s);
        }
    }
}

static struct func *new_func(struct loader *ld, bool is_entry) {
    struct ptx_module *m = ld->m;

    if (!ld_grow(ld, &m->funcs, &m->func_cap, m->func_count + 1, sizeof(*m->funcs)))
        return NULL;
    struct func *f = calloc(1, sizeof(*f));
    if (!f) {
        ld_error(ld, ld->tok.line, PTX_ERR_NOMEM, "out of memory");
        return NULL;
    }
    f->index = (uint32_t)m->func_count;
    f->module = m;
    f->is_entry = is_entry;
    f->max_threads = 1024;
    m->funcs[m->func_count++] = f;
    return f;
}

static bool same_formals(const struct formal *a, const struct formal *b, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (a[i].is_reg != b[i].is_reg || a[i].var.size != b[i].var.size ||
            a[i].var.offset != b[i].var.offset || a[i].ref != b[i].ref)
            return false;
    return true;
}

bool same_shape(const struct func *a, const struct func *b) {
    return a->param_count == b->param_count && a->result_count == b->result_count &&
           same_formals(a->params, b->params, a->param_count) &&
           same_formals(a->results, b->results, a->result_count);
}

/* The declared function of that name, or this one under that name. */
static struct func *bind_name(struct loader *ld, struct func *f, const struct token *name) {
    struct sym *sym = map_find(&ld->globals, name->s, name->len);
    if (sym) {
        struct func *old = sym->kind == SYM_FUNC ? sym->func : NULL;
        if (!old || old->is_entry != f->is_entry) {
            ld_syntax(ld, "%.*s is declared twice", (int)(name->len < 80 ? name->len : 80),
                      name->s);
            return NULL;
        }
        return old;
    }
    sym = ld_sym(ld, &ld->globals, name->s, name->len, SYM_FUNC);
    f->name = ld_own(ld, name->len + 1);
    if (!sym || !f->name)
        return NULL;
    memcpy(f->name, name->s, name->len);
    sym->func = f;
    return f;
}

/* (results) name (parameters); `f` gets everything but the name, which is returned. */
static struct token parse_signature(struct loader *ld, struct func *f) {
    f->frame_size = FRAME_HEADER;
    if (!f->is_entry && ld_punct(ld, '('))
        parse_formals(ld, f, &f->results, &f->result_count);
    struct token name = ld->tok;
    if (name.kind != TOK_ID)
        ld_syntax(ld, "a function's name was expected");
    ld_advance(ld);
    if (ld_punct(ld, '('))
        parse_formals(ld, f, &f->params, &f->param_count);
    return name;
}

/* --- bodies --- */

static void declare_formals(struct loader *ld, struct formal *list, unsigned count) {
    for (unsigned i = 0; i < count && ld->status == PTX_OK; i++) {
        struct formal *fm = &list[i];
        if (fm->name_len == 1 && *fm->name == '_')
            continue;
        if (map_find_here(&ld->locals, fm->name, fm->name_len))
            ld_syntax(ld, "a parameter is declared twice");
        struct sym *sym =
            ld_sym(ld, &ld->locals, fm->name, fm->name_len, fm->is_reg ? SYM_REG : SYM_VAR);
        if (!sym)
            return;
        if (fm->is_reg)
            sym->reg = (struct reg){.type = fm->var.type, .ref = fm->ref};
        else
            sym->var = &fm->var;
    }
}

/* Settles the jumps since `first` whose labels this scope knows; the others stay. */
static void settle_jumps(struct loader *ld, size_t first) {
    size_t kept = first;

    for (size_t i = first; i < ld->pending_count; i++) {
        struct pending *p = &ld->pending[i];
        struct sym *sym = map_find(&ld->locals, p->s, p->len);
        if (sym && sym->kind == SYM_LABEL) {
            if (p->slot)
                *p->slot = sym->label.pc;
            else
                ld->m->code[p->insn].target = sym->label.pc;
        } else {
            ld->pending[kept++] = *p;
        }
    }
    ld->pending_count = kept;
}

void jump_to(struct loader *ld, const struct operand *o, uint32_t insn) {
    if (o->kind != OPD_NAME) {
        st_syntax(ld, "a label was expected");
        return;
    }
    if (ld_grow(ld, &ld->pending, &ld->pending_cap, ld->pending_count + 1, sizeof(*ld->pending)))
        ld->pending[ld->pending_count++] =
            (struct pending){.s = o->s, .len = o->len, .insn = insn, .line = ld->st->line};
}

static void parse_branch_targets(struct loader *ld, struct sym *sym) {
    size_t n = 0, first = ld->pending_count;

    do {
        if (ld->tok.kind != TOK_ID) {
            ld_syntax(ld, "a label was expected");
            break;
        }
        if (!ld_grow(ld, &ld->pending, &ld->pending_cap, ld->pending_count + 1,
                     sizeof(*ld->pending)))
            break;
        ld->pending[ld->pending_count++] =
            (struct pending){.s = ld->tok.s, .len = ld->tok.len, .line = ld->tok.line};
        n++;
        ld_advance(ld);
    } while (ld_punct(ld, ','));
    sym->kind = SYM_LIST;
    sym->targets = ld_own(ld, sizeof(*sym->targets));
    uint32_t *pc = ld_own(ld, n * sizeof(*pc));
    if (!sym->targets || !pc)
        return;
    *sym->targets = (struct targets){.pc = pc, .count = (uint32_t)n};
    for (size_t i = 0; i < n && first + i < ld->pending_count; i++)
        ld->pending[first + i].slot = &pc[i];
}

/* label: .callprototype (results) _ (parameters); */
static void parse_prototype(struct loader *ld, struct sym *sym) {
    struct func *outer = ld->f;
    struct func *shape = ld_own(ld, sizeof(*shape));

    if (!shape)
        return;
    ld->f = shape;
    parse_signature(ld, shape);
    ld->f = outer;
    ld_dot(ld, "noreturn");
    sym->kind = SYM_PROTO;
    sym->func = shape;
}

/* label: .calltargets f, g; the shape is that of the first */
static void parse_call_targets(struct loader *ld, struct sym *sym) {
    sym->kind = SYM_PROTO;
    sym->func = NULL;
    do {
        struct sym *fn =
            ld->tok.kind == TOK_ID ? map_find(&ld->globals, ld->tok.s, ld->tok.len) : NULL;
        if (!fn || fn->kind != SYM_FUNC || fn->func->is_entry ||
            (sym->func && !same_shape(sym->func, fn->func))) {
            ld_syntax(ld, ".calltargets needs functions of one shape");
            return;
        }
        sym->func = fn->func;
        ld_advance(ld);
    } while (ld_punct(ld, ','));
}

static void parse_label(struct loader *ld, const struct token *name) {
    struct stmt st = {.line = name->line, .guard = PRED_TRUE};

    if (map_find_here(&ld->locals, name->s, name->len)) {
        ld_error(ld, name->line, PTX_ERR_SYNTAX, "label %.*s is declared twice",
                 (int)(name->len < 80 ? name->len : 80), name->s);
        return;
    }
    struct sym *sym = ld_sym(ld, &ld->locals, name->s, name->len, SYM_LABEL);
    if (!sym)
        return;
    bool table = true;
    if (ld_dot(ld, "branchtargets"))
        parse_branch_targets(ld, sym);
    else if (ld_dot(ld, "calltargets"))
        parse_call_targets(ld, sym);
    else if (ld_dot(ld, "callprototype"))
        parse_prototype(ld, sym);
    else
        table = false;
    if (table) {
        ld_expect(ld, ';');
        return;
    }
    ld->st = &st;
    sym->label.pc = (uint32_t)ld->m->code_count;
    emit(ld, exec_label);
    ld->st = NULL;
}

static bool parse_declaration(struct loader *ld) {
    static const char *const spaces[] = {"local", "shared", "param", "global", "const"};

    if (ld->tok.kind != TOK_DOT)
        return false;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (tok_is(&ld->tok, spaces[i])) {
            parse_variable(ld, false);
            return true;
        }
    if (ld_dot(ld, "reg")) {
        parse_registers(ld);
    } else if (tok_is(&ld->tok, "loc") || tok_is(&ld->tok, "file")) {
        lex_skip_line(&ld->lx);
        ld_advance(ld);
    } else if (ld_dot(ld, "pragma")) {
        skip_pragma(ld);
    } else {
        ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED, "directive .%.*s is not executed here",
                 (int)(ld->tok.len < 40 ? ld->tok.len : 40), ld->tok.s);
    }
    return true;
}

static void parse_line(struct loader *ld) {
    if (parse_declaration(ld))
        return;
    if (ld_punct(ld, '@')) {
        uint32_t guard = parse_reg_guard(ld);
        struct token name = ld->tok;
        ld_advance(ld);
        parse_statement(ld, &name, guard);
        return;
    }
    if (ld_punct(ld, ';'))
        return;
    struct token name = ld->tok;
    if (name.kind != TOK_ID) {
        ld_syntax(ld, "an instruction was expected");
        return;
    }
    ld_advance(ld);
    if (ld_punct(ld, ':'))
        parse_label(ld, &name);
    else
        parse_statement(ld, &name, PRED_TRUE);
}

/* The body from its brace on, with the scopes in it. */
static void parse_scopes(struct loader *ld) {
    size_t first[MAX_SCOPES];
    unsigned depth = 0;

    ld_expect(ld, '{');
    first[0] = ld->pending_count;
    while (ld->status == PTX_OK) {
        if (ld_punct(ld, '{')) {
            if (++depth == MAX_SCOPES) {
                ld_syntax(ld, "scopes are nested too deeply");
                return;
            }
            first[depth] = ld->pending_count;
            map_push(&ld->locals);
        } else if (ld_punct(ld, '}')) {
            settle_jumps(ld, first[depth]);
            if (!depth)
                return;
            depth--;
            map_pop(&ld->locals);
        } else if (ld->tok.kind == TOK_EOF) {
            ld_syntax(ld, "the text ends inside of a function");
        } else {
            parse_line(ld);
        }
    }
}

static void parse_body(struct loader *ld, struct func *f) {
    struct stmt end = {.guard = PRED_TRUE};

    map_free(&ld->locals);
    declare_formals(ld, f->results, f->result_count);
    declare_formals(ld, f->params, f->param_count);
    ld->pending_count = 0;
    ld->use_count = 0;
    f->start = (uint32_t)ld->m->code_count;
    parse_scopes(ld);
    if (ld->status == PTX_OK && ld->pending_count)
        ld_error(ld, ld->pending[0].line, PTX_ERR_SYNTAX, "unknown label %.*s",
                 (int)(ld->pending[0].len < 80 ? ld->pending[0].len : 80), ld->pending[0].s);
    end.line = ld->tok.line;
    ld->st = &end;
    emit(ld, exec_ret); /* control never runs into the next function */
    ld->st = NULL;
    f->end = (uint32_t)ld->m->code_count;
    f->reg_units = count_registers(ld);
}

/* --- functions --- */

void parse_function(struct loader *ld, bool is_extern) {
    bool is_entry = ld_dot(ld, "entry");
    if (!is_entry)
        ld_dot(ld, "func");
    if (ld_dot(ld, "attribute"))
        ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED, "function attributes");
    struct func *f = new_func(ld, is_entry);
    if (!f)
        return;
    ld->f = f;
    struct token name = parse_signature(ld, f);
    struct func *known = ld->status == PTX_OK ? bind_name(ld, f, &name) : NULL;
    if (!known)
        return;
    if (known != f) { /* declared before: both must agree, and calls were built for the first */
        if (!same_shape(known, f))
            ld_syntax(ld, "%s is declared with other parameters", known->name);
        f->name = known->name;
        known->frame_size = f->frame_size;
        known->local_size = f->local_size;
        known->params = f->params; /* the names may differ */
        known->results = f->results;
        known->param_bytes = f->param_bytes;
        f = ld->f = known;
    }
    parse_hints(ld, f);
    if (ld_punct(ld, ';')) {
        ld->f = NULL;
        return;
    }
    if (f->has_body || is_extern)
        ld_syntax(ld, "%s has a second body", f->name);
    f->has_body = true;
    parse_body(ld, f);
    ld->f = NULL;
}
