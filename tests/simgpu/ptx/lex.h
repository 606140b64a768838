/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text to tokens. Nothing is copied: tokens point into the text. */
#ifndef PTX_LEX_H
#define PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tok_kind {
    TOK_EOF,
    TOK_ID,    /* name, %name, $name, _ */
    TOK_DOT,   /* .name: s and len without the dot */
    TOK_INT,   /* u */
    TOK_FLT,   /* d */
    TOK_STR,   /* s and len without the quotes */
    TOK_PUNCT, /* c */
    TOK_BAD,
};

struct token {
    enum tok_kind kind;
    char c;
    bool single; /* of TOK_FLT: written as 0f..., u holds the 32 bits */
    unsigned line;
    size_t len;
    const char *s;
    uint64_t u; /* of 0d... the 64 bits */
    double d;
};

struct lexer {
    const char *p, *end;
    unsigned line;
};

/* The next token; at the end TOK_EOF again and again. */
struct token lex_next(struct lexer *lx);

/* Skips the rest of the line (.loc and .file have no semicolon). */
void lex_skip_line(struct lexer *lx);

static inline bool tok_is(const struct token *t, const char *s) {
    size_t n = __builtin_strlen(s);
    return t->len == n && !__builtin_memcmp(t->s, s, n);
}

#endif
