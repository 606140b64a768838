// SPDX-License-Identifier: Apache-2.0
/* Functions that no module defines: what printf and assert call on a GPU. */
#include <stdio.h>

#include "flow.h"

#define MAX_TEXT 4096

struct text {
    char bytes[MAX_TEXT];
    size_t n;
};

/* The bytes of an argument or of the room for a result. */
static char *argument(struct warp *w, const struct copy *c, int lane) {
    if (!c->caller_reg)
        return lane_local(w, lane) + (uint32_t)w->frame + c->caller;
    return (char *)at(w, c->caller) + (size_t)lane * c->size;
}

static uint64_t argument_value(struct warp *w, const struct call *call, unsigned k, int lane) {
    uint64_t v = 0;
    memcpy(&v, argument(w, &call->in[k], lane), call->in[k].size);
    return v;
}

/* Copies a string of the device; what is too long is cut, what cannot be read ends it. */
static void device_string(struct warp *w, int lane, uint64_t addr, char *out, size_t size) {
    size_t n = 0;

    while (addr && n + 1 < size) {
        const char *p = lane_pointer(w, lane, addr + n, 1);
        if (!p || !*p)
            break;
        out[n++] = *p;
    }
    out[n] = '\0';
}

static void put(struct text *t, const char *s, size_t n) {
    if (n > MAX_TEXT - t->n)
        n = MAX_TEXT - t->n;
    memcpy(t->bytes + t->n, s, n);
    t->n += n;
}

struct varargs {
    struct warp *w;
    int lane;
    uint64_t addr;
    bool failed;
    int count;
};

static uint64_t next_arg(struct varargs *v, size_t size) {
    uint64_t value = 0;

    v->addr = (v->addr + size - 1) & ~(uint64_t)(size - 1);
    const char *p = lane_pointer(v->w, v->lane, v->addr, size);
    if (p)
        memcpy(&value, p, size);
    else
        v->failed = true;
    v->addr += size;
    v->count++;
    return value;
}

/* One conversion, checked: % flags width .precision and its letter. */
struct conversion {
    char spec[32]; /* without the length and the letter */
    size_t n;
    bool wide;
    char letter;
};

static void spec_number(struct conversion *c, const char **f, struct varargs *v) {
    unsigned number = 0;

    if (**f == '*') {
        (*f)++;
        number = (unsigned)next_arg(v, 4) % 512;
    } else {
        for (; **f >= '0' && **f <= '9'; (*f)++)
            number = (number * 10 + (unsigned)(**f - '0')) % 512;
    }
    c->n += (size_t)snprintf(c->spec + c->n, sizeof(c->spec) - c->n, "%u", number);
}

static void parse_conversion(struct conversion *c, const char **f, struct varargs *v) {
    *c = (struct conversion){.spec = "%", .n = 1};
    while (**f && strchr("-+ #0", **f) && c->n < 8)
        c->spec[c->n++] = *(*f)++;
    if (**f == '*' || (**f >= '1' && **f <= '9'))
        spec_number(c, f, v);
    if (**f == '.') {
        c->spec[c->n++] = *(*f)++;
        spec_number(c, f, v);
    }
    for (; **f && strchr("hlLzjt", **f); (*f)++)
        c->wide = c->wide || **f != 'h';
    c->letter = **f;
    if (**f)
        (*f)++;
}

static void put_conversion(struct text *t, struct conversion *c, struct varargs *v) {
    char out[600], str[512];
    char *end = c->spec + c->n;
    int n = 0;

    if (strchr("di", c->letter) && c->letter) {
        int64_t x = c->wide ? (int64_t)next_arg(v, 8) : (int32_t)next_arg(v, 4);
        memcpy(end, "lld", 4);
        n = snprintf(out, sizeof(out), c->spec, (long long)x);
    } else if (c->letter && strchr("ouxX", c->letter)) {
        uint64_t x = next_arg(v, c->wide ? 8 : 4);
        memcpy(end, (char[]){'l', 'l', c->letter, 0}, 4);
        n = snprintf(out, sizeof(out), c->spec, (unsigned long long)x);
    } else if (c->letter && strchr("fFeEgGaA", c->letter)) {
        uint64_t bits = next_arg(v, 8);
        double x;
        memcpy(&x, &bits, sizeof(x));
        memcpy(end, (char[]){c->letter, 0}, 2);
        n = snprintf(out, sizeof(out), c->spec, x);
    } else if (c->letter == 'c') {
        memcpy(end, "c", 2);
        n = snprintf(out, sizeof(out), c->spec, (int)next_arg(v, 4));
    } else if (c->letter == 's') {
        device_string(v->w, v->lane, next_arg(v, 8), str, sizeof(str));
        memcpy(end, "s", 2);
        n = snprintf(out, sizeof(out), c->spec, str);
    } else if (c->letter == 'p') {
        memcpy(end, "p", 2);
        n = snprintf(out, sizeof(out), c->spec, (void *)(uintptr_t)next_arg(v, 8));
    } else {
        out[0] = c->letter;
        n = c->letter != 0;
    }
    put(t, out, n < 0 ? 0 : (size_t)n < sizeof(out) ? (size_t)n : sizeof(out) - 1);
}

static enum step exec_vprintf(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct call *call = i->info;
    const struct ptx_launch *launch = w->grid->launch;
    char format[MAX_TEXT];

    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct varargs v = {.w = w, .lane = l, .addr = argument_value(w, call, 1, l)};
        struct conversion c;
        struct text t = {.n = 0};
        device_string(w, l, argument_value(w, call, 0, l), format, sizeof(format));
        for (const char *f = format; *f;) {
            size_t plain = strcspn(f, "%");
            put(&t, f, plain);
            f += plain;
            if (!*f)
                break;
            f++;
            parse_conversion(&c, &f, &v);
            put_conversion(&t, &c, &v);
        }
        if (v.failed)
            return fault(w, i, l, PTX_ERR_ILLEGAL_ADDRESS, "the arguments of printf");
        if (launch->print)
            launch->print(launch->print_opaque, t.bytes, t.n, false);
        memcpy(argument(w, &call->out[0], l), &v.count, sizeof(v.count));
    }
    return STEP_NEXT;
}

static enum step exec_assertfail(struct warp *w, const struct insn *i, uint32_t mask) {
    const struct call *call = i->info;
    const struct ptx_launch *launch = w->grid->launch;
    char what[512], file[512], function[512], out[2048];
    int l = __builtin_ctz(mask);

    device_string(w, l, argument_value(w, call, 0, l), what, sizeof(what));
    device_string(w, l, argument_value(w, call, 1, l), file, sizeof(file));
    device_string(w, l, argument_value(w, call, 3, l), function, sizeof(function));
    int n = snprintf(out, sizeof(out),
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                     file, (unsigned)argument_value(w, call, 2, l), function, w->block->ctaid[0],
                     w->block->ctaid[1], w->block->ctaid[2], w->tid[0][l], w->tid[1][l],
                     w->tid[2][l], what);
    if (launch->print)
        launch->print(launch->print_opaque, out, (size_t)n < sizeof(out) ? (size_t)n : sizeof(out),
                      true);
    return fault(w, i, l, PTX_ERR_ASSERT, "assertion `%s` failed", what);
}

px_exec find_system_call(const struct func *f) {
    static const struct {
        const char *name;
        px_exec exec;
        unsigned results, params;
        uint8_t size[5];
    } calls[] = {
        {"vprintf", exec_vprintf, 1, 2, {8, 8}},
        {"__assertfail", exec_assertfail, 0, 5, {8, 8, 4, 8, 8}},
    };

    for (size_t k = 0; k < sizeof(calls) / sizeof(*calls); k++) {
        if (strcmp(f->name, calls[k].name) || f->param_count != calls[k].params ||
            f->result_count != calls[k].results)
            continue;
        for (unsigned p = 0; p < f->param_count; p++)
            if (f->params[p].var.size != calls[k].size[p])
                return NULL;
        return f->result_count && f->results[0].var.size != 4 ? NULL : calls[k].exec;
    }
    return NULL;
}
