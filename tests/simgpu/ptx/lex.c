// SPDX-License-Identifier: Apache-2.0
#include "lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c) {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static char peek(const struct lexer *lx, size_t ahead) {
    return (size_t)(lx->end - lx->p) > ahead ? lx->p[ahead] : '\0';
}

/* Skips blanks and comments; false: a comment without an end. */
static bool skip_blanks(struct lexer *lx) {
    for (;;) {
        char c = peek(lx, 0);
        if (c == '\n') {
            lx->line++;
            lx->p++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lx->p++;
        } else if (c == '/' && peek(lx, 1) == '/') {
            while (lx->p < lx->end && *lx->p != '\n')
                lx->p++;
        } else if (c == '/' && peek(lx, 1) == '*') {
            lx->p += 2;
            while (!(peek(lx, 0) == '*' && peek(lx, 1) == '/')) {
                if (lx->p >= lx->end)
                    return false;
                if (*lx->p == '\n')
                    lx->line++;
                lx->p++;
            }
            lx->p += 2;
        } else {
            return true;
        }
    }
}

void lex_skip_line(struct lexer *lx) {
    while (lx->p < lx->end && *lx->p != '\n')
        lx->p++;
}

/* 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX */
static bool lex_hex_float(struct lexer *lx, struct token *t) {
    char kind = peek(lx, 1) | 0x20;
    size_t digits = kind == 'f' ? 8 : 16;
    uint64_t v = 0;

    for (size_t i = 0; i < digits; i++) {
        int h = hex_value(peek(lx, 2 + i));
        if (h < 0)
            return false;
        v = v << 4 | (unsigned)h;
    }
    lx->p += 2 + digits;
    t->kind = TOK_FLT;
    t->u = v;
    t->single = kind == 'f';
    if (t->single) {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof(f));
        t->d = f;
    } else {
        memcpy(&t->d, &v, sizeof(t->d));
    }
    return true;
}

static bool lex_decimal_float(struct lexer *lx, struct token *t) {
    char buf[64];
    size_t n = 0;

    while (n < sizeof(buf) - 1) {
        char c = peek(lx, n);
        bool sign = (c == '+' || c == '-') && n && (buf[n - 1] | 0x20) == 'e';
        if (!is_digit(c) && c != '.' && (c | 0x20) != 'e' && !sign)
            break;
        buf[n++] = c;
    }
    buf[n] = '\0';
    char *end;
    t->d = strtod(buf, &end);
    if (*end)
        return false;
    memcpy(&t->u, &t->d, sizeof(t->u));
    t->kind = TOK_FLT;
    lx->p += n;
    return true;
}

static bool lex_integer(struct lexer *lx, struct token *t) {
    unsigned base = 10;

    if (peek(lx, 0) == '0') {
        char c = peek(lx, 1) | 0x20;
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        if (base != 8)
            lx->p += 2;
    }
    const char *start = lx->p;
    uint64_t v = 0;
    for (; lx->p < lx->end; lx->p++) {
        int h = hex_value(*lx->p);
        if (h < 0 || (unsigned)h >= base)
            break;
        if (v > (UINT64_MAX - (unsigned)h) / base)
            return false;
        v = v * base + (unsigned)h;
    }
    if (lx->p == start)
        return false;
    if (peek(lx, 0) == 'U')
        lx->p++;
    t->kind = TOK_INT;
    t->u = v;
    return !is_name(peek(lx, 0));
}

static bool lex_number(struct lexer *lx, struct token *t) {
    char c = peek(lx, 1) | 0x20;

    if (peek(lx, 0) == '0' && (c == 'f' || c == 'd'))
        return lex_hex_float(lx, t);
    size_t n = 0;
    while (is_digit(peek(lx, n)))
        n++;
    if ((peek(lx, n) == '.' && is_digit(peek(lx, n + 1))) || (peek(lx, n) | 0x20) == 'e')
        if (!(peek(lx, 0) == '0' && c == 'x'))
            return lex_decimal_float(lx, t);
    return lex_integer(lx, t);
}

static bool lex_string(struct lexer *lx, struct token *t) {
    t->s = ++lx->p;
    while (lx->p < lx->end && *lx->p != '"') {
        if (*lx->p == '\n')
            return false;
        lx->p++;
    }
    if (lx->p >= lx->end)
        return false;
    t->len = (size_t)(lx->p - t->s);
    t->kind = TOK_STR;
    lx->p++;
    return true;
}

static void lex_name(struct lexer *lx, struct token *t, bool dotted) {
    t->s = lx->p;
    if (!dotted)
        lx->p++;
    for (;;) {
        if (is_name(peek(lx, 0)))
            lx->p++;
        else if (dotted && peek(lx, 0) == ':' && peek(lx, 1) == ':' && is_name(peek(lx, 2)))
            lx->p += 2;
        else
            break;
    }
    t->len = (size_t)(lx->p - t->s);
    t->kind = dotted ? TOK_DOT : TOK_ID;
}

struct token lex_next(struct lexer *lx) {
    struct token t = {.kind = TOK_BAD};
    bool ok = skip_blanks(lx);

    t.line = lx->line;
    t.s = lx->p;
    if (!ok)
        return t;
    char c = peek(lx, 0);
    if (lx->p >= lx->end || c == '\0') {
        lx->end = lx->p;
        t.kind = TOK_EOF;
    } else if (is_digit(c)) {
        if (!lex_number(lx, &t))
            t.kind = TOK_BAD;
    } else if (is_name(c) || (c == '%' && is_name(peek(lx, 1)))) {
        lex_name(lx, &t, false);
    } else if (c == '.' && is_name(peek(lx, 1))) {
        lx->p++;
        lex_name(lx, &t, true);
    } else if (c == '"') {
        if (!lex_string(lx, &t))
            t.kind = TOK_BAD;
    } else if (strchr("{}[](),;:@!+-<>=|*~", c)) {
        t.kind = TOK_PUNCT;
        t.c = c;
        lx->p++;
    }
    return t;
}
