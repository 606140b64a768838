// SPDX-License-Identifier: Apache-2.0
/* What a domain may use, and its text form: lines "key = value". */
#include "schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct limit {
    const char *key;
    size_t offset;
    uint32_t min, max;
};

static const struct limit limits[] = {
    {"max-sessions", offsetof(struct vcuda_policy, max_sessions), 1, VCUDA_SESSIONS_MAX},
    {"max-pages", offsetof(struct vcuda_policy, max_pages), 1, VCUDA_PAGES_MAX},
    {"max-gpu-mib", offsetof(struct vcuda_policy, max_gpu_mib), 0, VCUDA_GPU_MIB_MAX},
};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

struct span {
    const char *text;
    size_t len;
};

void vcuda_policy_defaults(struct vcuda_policy *policy) {
    *policy = (struct vcuda_policy){
        .gpus = {.count = 1, .index = {0}},
        .max_sessions = VCUDA_SESSIONS_DEFAULT,
        .max_pages = VCUDA_PAGES_DEFAULT,
    };
}

static int set_limit(struct vcuda_policy *policy, const struct limit *limit, const char *text,
                     size_t len) {
    uint32_t value;
    int err = vcuda_parse_u32(text, len, &value);

    if (err)
        return err;
    if (value < limit->min || value > limit->max)
        return -ERANGE;
    memcpy((char *)policy + limit->offset, &value, sizeof(value));
    return 0;
}

int vcuda_policy_set(struct vcuda_policy *policy, const char *key, const char *text, size_t len) {
    if (strcmp(key, "gpus") == 0)
        return vcuda_parse_gpus(text, len, &policy->gpus);
    for (size_t i = 0; i < LIMITS; i++)
        if (strcmp(key, limits[i].key) == 0)
            return set_limit(policy, &limits[i], text, len);
    return -ENOENT;
}

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s) {
    while (s.len && blank(s.text[0]))
        s = (struct span){s.text + 1, s.len - 1};
    while (s.len && blank(s.text[s.len - 1]))
        s.len--;
    return s;
}

/* The part of s before the first c, and in *rest what follows it, if c is there. */
static struct span cut(struct span s, char c, struct span *rest) {
    const char *at = s.len ? memchr(s.text, c, s.len) : NULL;
    size_t len = at ? (size_t)(at - s.text) : s.len;

    *rest = at ? (struct span){at + 1, s.len - len - 1} : (struct span){NULL, 0};
    return (struct span){s.text, len};
}

__attribute__((format(printf, 3, 4))) static int refuse(struct vcuda_policy_error *error,
                                                        unsigned line, const char *format, ...) {
    va_list args;

    error->line = line;
    va_start(args, format);
    vsnprintf(error->what, sizeof(error->what), format, args);
    va_end(args);
    return -EINVAL;
}

/* Longer than any key of ours. */
#define KEY_SIZE 16

/* A key that cannot be ours (too long, NUL within) becomes "", which is no key either. */
static void key_string(struct span s, char key[KEY_SIZE]) {
    memset(key, 0, KEY_SIZE);
    if (s.len < KEY_SIZE)
        memcpy(key, s.text, s.len);
    if (strlen(key) != s.len)
        key[0] = '\0';
}

static int parse_line(struct span s, unsigned line, struct vcuda_policy *policy,
                      struct vcuda_policy_error *error) {
    struct span value, comment;
    char key[KEY_SIZE];

    s = trim(cut(s, '#', &comment));
    if (!s.len)
        return 0;
    s = trim(cut(s, '=', &value));
    if (!value.text)
        return refuse(error, line, "expected KEY = VALUE");
    value = trim(value);
    key_string(s, key);
    switch (vcuda_policy_set(policy, key, value.text, value.len)) {
    case 0:
        return 0;
    case -ENOENT:
        return refuse(error, line,
                      "unknown key (known: gpus, max-sessions, max-pages, max-gpu-mib)");
    case -ERANGE:
        return refuse(error, line, "%s is out of range", key);
    default:
        return refuse(error, line, "%s: not a valid value", key);
    }
}

int vcuda_policy_parse(const char *text, size_t len, struct vcuda_policy *policy,
                       struct vcuda_policy_error *error) {
    struct vcuda_policy draft = *policy;
    struct span rest = {text, len};

    for (unsigned line = 1; rest.len; line++) {
        struct span s = cut(rest, '\n', &rest);
        int err = parse_line(s, line, &draft, error);

        if (err)
            return err;
    }
    *policy = draft;
    return 0;
}

int vcuda_policy_format(const struct vcuda_policy *policy, char *text, size_t size) {
    char gpus[VCUDA_GPUS_TEXT_MAX];
    int len;

    vcuda_format_gpus(&policy->gpus, ' ', gpus);
    len = snprintf(text, size, "gpus = %s\nmax-sessions = %u\nmax-pages = %u\nmax-gpu-mib = %u\n",
                   gpus, policy->max_sessions, policy->max_pages, policy->max_gpu_mib);
    return (size_t)len < size ? len : -ENOSPC;
}

bool vcuda_name_ok(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.+:@";
    size_t len = strnlen(name, VCUDA_NAME_MAX + 1);

    return len > 0 && len <= VCUDA_NAME_MAX && name[0] != '.' && strspn(name, allowed) == len;
}
