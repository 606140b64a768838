// SPDX-License-Identifier: Apache-2.0
/* The outermost level of a module: version, target, and what is declared. */
#include "load.h"

#include <string.h>

void ld_advance(struct loader *ld) {
    if (ld->status != PTX_OK) {
        ld->tok = (struct token){.kind = TOK_EOF, .line = ld->tok.line};
        return;
    }
    ld->tok = lex_next(&ld->lx);
    if (ld->tok.kind == TOK_BAD)
        ld_syntax(ld, "unreadable character or number");
}

bool ld_punct(struct loader *ld, char c) {
    if (ld->tok.kind != TOK_PUNCT || ld->tok.c != c)
        return false;
    ld_advance(ld);
    return true;
}

bool ld_dot(struct loader *ld, const char *s) {
    if (ld->tok.kind != TOK_DOT || !tok_is(&ld->tok, s))
        return false;
    ld_advance(ld);
    return true;
}

void ld_expect(struct loader *ld, char c) {
    if (!ld_punct(ld, c))
        ld_syntax(ld, "'%c' expected", c);
}

enum type type_named(const char *s, size_t len) {
    static const char *const names[T_COUNT] = {
        [T_PRED] = "pred",  [T_B8] = "b8",         [T_B16] = "b16",     [T_B32] = "b32",
        [T_B64] = "b64",    [T_U8] = "u8",         [T_U16] = "u16",     [T_U32] = "u32",
        [T_U64] = "u64",    [T_S8] = "s8",         [T_S16] = "s16",     [T_S32] = "s32",
        [T_S64] = "s64",    [T_F16] = "f16",       [T_F16X2] = "f16x2", [T_BF16] = "bf16",
        [T_F32] = "f32",    [T_BF16X2] = "bf16x2", [T_F64] = "f64",     [T_U16X2] = "u16x2",
        [T_S16X2] = "s16x2"};

    for (int t = T_PRED; t < T_COUNT; t++)
        if (strlen(names[t]) == len && !memcmp(names[t], s, len))
            return t;
    return T_NONE;
}

struct sym *ld_sym(struct loader *ld, struct map *map, const char *s, size_t len,
                   enum sym_kind kind) {
    struct sym *sym = ld_alloc(ld, sizeof(*sym));
    if (!sym)
        return NULL;
    sym->kind = kind;
    if (!map_add(map, s, len, sym)) {
        ld_syntax(ld, "out of memory");
        return NULL;
    }
    return sym;
}

static uint64_t hundredths(const struct token *t) {
    return t->kind == TOK_FLT ? (uint64_t)(t->d * 10 + 0.5) : t->u * 10;
}

static void parse_version(struct loader *ld) {
    if (ld->tok.kind != TOK_FLT) {
        ld_syntax(ld, ".version needs major.minor");
        return;
    }
    if (!(ld->tok.d >= 6.0 && ld->tok.d < 10.0))
        ld_error(ld, ld->tok.line, PTX_ERR_VERSION, "PTX version %.1f: 6.0 to 9.x are known",
                 ld->tok.d);
    else
        ld->m->version = (int)hundredths(&ld->tok);
    ld_advance(ld);
}

/* sm_75, sm_90a */
static int target_number(const struct token *t) {
    int n = 0;
    if (t->len < 5 || t->len > 7 || memcmp(t->s, "sm_", 3))
        return 0;
    for (size_t i = 3; i < t->len; i++) {
        char c = t->s[i];
        if (c >= '0' && c <= '9')
            n = n * 10 + (c - '0');
        else if (i != t->len - 1 || (c != 'a' && c != 'f'))
            return 0;
    }
    return n;
}

static void parse_target(struct loader *ld) {
    do {
        if (ld->tok.kind != TOK_ID) {
            ld_syntax(ld, ".target needs a name");
            return;
        }
        int n = target_number(&ld->tok);
        if (n)
            ld->m->target = n;
        else if (!tok_is(&ld->tok, "debug"))
            ld_error(ld, ld->tok.line, PTX_ERR_VERSION, "unknown target %.*s",
                     (int)(ld->tok.len < 40 ? ld->tok.len : 40), ld->tok.s);
        ld_advance(ld);
    } while (ld_punct(ld, ','));
    if (ld->m->target && ld->m->target < 30)
        ld_error(ld, ld->tok.line, PTX_ERR_VERSION, "unknown target sm_%d", ld->m->target);
    if (ld->m->target > PTX_TARGET_MAX)
        ld_error(ld, ld->tok.line, PTX_ERR_SYNTAX, "sm_%d is newer than this device",
                 ld->m->target);
}

static void parse_address_size(struct loader *ld) {
    if (ld->tok.kind != TOK_INT)
        ld_syntax(ld, ".address_size needs a number");
    else if (ld->tok.u != 64)
        ld_error(ld, ld->tok.line, PTX_ERR_UNSUPPORTED, "only 64-bit addresses are executed here");
    ld_advance(ld);
}

/* .section .debug_x { ... } */
static void skip_section(struct loader *ld) {
    while (ld->tok.kind != TOK_EOF && !(ld->tok.kind == TOK_PUNCT && ld->tok.c == '{'))
        ld_advance(ld);
    ld_expect(ld, '{');
    while (ld->tok.kind != TOK_EOF && !ld_punct(ld, '}'))
        ld_advance(ld);
}

static void skip_line(struct loader *ld) {
    lex_skip_line(&ld->lx);
    ld_advance(ld);
}

static bool next_is(const struct loader *ld, const char *s) {
    return ld->tok.kind == TOK_DOT && tok_is(&ld->tok, s);
}

static void refuse_directive(struct loader *ld) {
    static const char *const known[] = {"tex",    "samplerref",    "alias",
                                        "common", "branchtargets", "blocksareclusters"};
    const struct token *t = &ld->tok;
    enum ptx_status status = PTX_ERR_SYNTAX;

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (tok_is(t, known[i]))
            status = PTX_ERR_UNSUPPORTED;
    ld_error(ld, t->line, status, "%s directive .%.*s",
             status == PTX_ERR_SYNTAX ? "unknown" : "not executed here:",
             (int)(t->len < 40 ? t->len : 40), t->s);
}

static void parse_directive(struct loader *ld) {
    bool is_extern = false;

    for (;;) {
        if (ld_dot(ld, "extern"))
            is_extern = true;
        else if (!ld_dot(ld, "visible") && !ld_dot(ld, "weak"))
            break;
    }
    if (next_is(ld, "entry") || next_is(ld, "func"))
        parse_function(ld, is_extern);
    else if (next_is(ld, "global") || next_is(ld, "const") || next_is(ld, "shared"))
        parse_variable(ld, is_extern);
    else if (next_is(ld, "file") || next_is(ld, "loc"))
        skip_line(ld);
    else if (ld_dot(ld, "section"))
        skip_section(ld);
    else if (ld_dot(ld, "pragma")) {
        while (ld->tok.kind == TOK_STR || ld_punct(ld, ','))
            if (ld->tok.kind == TOK_STR)
                ld_advance(ld);
        ld_expect(ld, ';');
    } else if (ld->tok.kind == TOK_DOT) {
        refuse_directive(ld);
    } else {
        ld_syntax(ld, "a directive was expected");
    }
}

void parse_module(struct loader *ld) {
    ld_advance(ld);
    if (!ld_dot(ld, "version"))
        ld_syntax(ld, ".version must come first");
    parse_version(ld);
    if (!ld_dot(ld, "target"))
        ld_syntax(ld, ".target must follow .version");
    parse_target(ld);
    if (ld_dot(ld, "address_size"))
        parse_address_size(ld);
    while (ld->status == PTX_OK && ld->tok.kind != TOK_EOF)
        parse_directive(ld);
}
