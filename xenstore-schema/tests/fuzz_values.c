// SPDX-License-Identifier: Apache-2.0
/* libFuzzer: every parser of text, and what a parsed value must satisfy. */
#include "schema.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

static void numbers(const char *text, size_t len) {
    uint32_t value;

    if (!vcuda_parse_u32(text, len, &value))
        require(len <= 10 && (len == 1 || text[0] != '0'));
    if (!vcuda_parse_domid(text, len, &value))
        require(value <= VCUDA_DOMID_MAX);
    require(vcuda_state_name(vcuda_parse_state(text, len))[0] != '\0');
}

static void gpus(const char *text, size_t len) {
    struct vcuda_gpus list, again;
    char canonical[VCUDA_GPUS_TEXT_MAX];

    memset(&list, 0, sizeof(list));
    memset(&again, 0, sizeof(again));
    if (vcuda_parse_gpus(text, len, &list))
        return;
    require(list.count >= 1 && list.count <= VCUDA_GPUS_MAX);
    require(!vcuda_parse_gpus(canonical, vcuda_format_gpus(&list, ' ', canonical), &again));
    require(!memcmp(&list, &again, sizeof(list)));
}

static void policy(const char *text, size_t len) {
    struct vcuda_policy_error error = {.what = ""};
    struct vcuda_policy parsed, again;
    char canonical[1024];
    int size;

    vcuda_policy_defaults(&parsed);
    if (vcuda_policy_parse(text, len, &parsed, &error)) {
        require(error.line > 0 && error.what[0]);
        return;
    }
    require(parsed.max_pages >= 1 && parsed.max_pages <= VCUDA_PAGES_MAX);
    require(parsed.max_sessions >= 1 && parsed.max_sessions <= VCUDA_SESSIONS_MAX);
    size = vcuda_policy_format(&parsed, canonical, sizeof(canonical));
    require(size > 0);
    vcuda_policy_defaults(&again);
    require(!vcuda_policy_parse(canonical, (size_t)size, &again, &error));
    require(!memcmp(&parsed, &again, sizeof(parsed)));
}

static void name(const char *text, size_t len) {
    char copy[VCUDA_NAME_MAX + 8] = "";

    memcpy(copy, text, len < sizeof(copy) - 1 ? len : sizeof(copy) - 1);
    if (vcuda_name_ok(copy))
        require(!strchr(copy, '/') && copy[0] != '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;

    numbers(text, size);
    gpus(text, size);
    policy(text, size);
    name(text, size);
    return 0;
}
