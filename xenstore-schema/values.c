// SPDX-License-Identifier: Apache-2.0
/* Strict parsers of node values; the text may come from a hostile guest. */
#include "schema.h"

#include <errno.h>
#include <string.h>

/* "4294967295" */
#define U32_DIGITS 10

static const char *const state_names[] = {
    "Unknown", "Initialising", "InitWait",      "Initialised",  "Connected",
    "Closing", "Closed",       "Reconfiguring", "Reconfigured",
};

#define STATES (sizeof(state_names) / sizeof(state_names[0]))

int vcuda_parse_u32(const char *text, size_t len, uint32_t *value) {
    uint64_t sum = 0;

    if (len == 0 || (len > 1 && text[0] == '0'))
        return -EINVAL;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        if (i < U32_DIGITS)
            sum = sum * 10 + (uint64_t)(text[i] - '0');
    }
    if (len > U32_DIGITS || sum > UINT32_MAX)
        return -ERANGE;
    *value = (uint32_t)sum;
    return 0;
}

int vcuda_parse_domid(const char *text, size_t len, uint32_t *value) {
    uint32_t domid;
    int err = vcuda_parse_u32(text, len, &domid);

    if (err)
        return err;
    if (domid > VCUDA_DOMID_MAX)
        return -ERANGE;
    *value = domid;
    return 0;
}

enum vcuda_state vcuda_parse_state(const char *text, size_t len) {
    uint32_t state;

    if (vcuda_parse_u32(text, len, &state) || state >= STATES)
        return VCUDA_STATE_UNKNOWN;
    return (enum vcuda_state)state;
}

const char *vcuda_state_name(enum vcuda_state state) {
    return (unsigned)state < STATES ? state_names[state] : state_names[VCUDA_STATE_UNKNOWN];
}

static bool has_gpu(const struct vcuda_gpus *gpus, uint32_t index) {
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->index[i] == index)
            return true;
    return false;
}

static int add_gpu(struct vcuda_gpus *gpus, const char *text, size_t len) {
    uint32_t index;
    int err = vcuda_parse_u32(text, len, &index);

    if (err)
        return err;
    if (index > VCUDA_GPU_INDEX_MAX || gpus->count == VCUDA_GPUS_MAX)
        return -ERANGE;
    if (has_gpu(gpus, index))
        return -EINVAL;
    gpus->index[gpus->count++] = index;
    return 0;
}

int vcuda_parse_gpus(const char *text, size_t len, struct vcuda_gpus *gpus) {
    struct vcuda_gpus list = {.count = 0};
    size_t start = 0;

    for (size_t i = 0; i <= len; i++) {
        int err;

        if (i < len && text[i] != ' ' && text[i] != ',')
            continue;
        err = add_gpu(&list, text + start, i - start);
        if (err)
            return err;
        start = i + 1;
    }
    *gpus = list;
    return 0;
}

static size_t put_number(char *text, uint32_t number) {
    char digits[U32_DIGITS];
    size_t len = 0;

    do {
        digits[len++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (size_t i = 0; i < len; i++)
        text[i] = digits[len - 1 - i];
    return len;
}

size_t vcuda_format_gpus(const struct vcuda_gpus *gpus, char sep, char text[VCUDA_GPUS_TEXT_MAX]) {
    size_t len = 0;

    for (uint32_t i = 0; i < gpus->count; i++) {
        if (i)
            text[len++] = sep;
        len += put_number(text + len, gpus->index[i]);
    }
    text[len] = '\0';
    return len;
}
