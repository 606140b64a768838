// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct counters counters;
bool counters_each;

void counters_start(void) {
    const char *stats = getenv("VCUDA_STATS");

    counters_each = stats && !strcmp(stats, "calls");
}

static uint64_t sum(const uint64_t *of_calls) {
    uint64_t all = 0;

    for (int i = 0; i < VCUDA_CALLS; i++)
        all += of_calls[i];
    return all;
}

static int compare(const void *a, const void *b) {
    const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    const uint64_t of_x = counters.posted[x] + counters.waited[x];
    const uint64_t of_y = counters.posted[y] + counters.waited[y];

    return of_x < of_y ? 1 : of_x > of_y ? -1 : x - y;
}

/* The commonest first. */
static void print_each(void) {
    uint16_t calls[VCUDA_CALLS];

    for (int i = 0; i < VCUDA_CALLS; i++)
        calls[i] = (uint16_t)i;
    qsort(calls, VCUDA_CALLS, sizeof(*calls), compare);
    for (int i = 0; i < VCUDA_CALLS; i++) {
        uint64_t posted = counters.posted[calls[i]], waited = counters.waited[calls[i]];

        if (!posted && !waited)
            break;
        fprintf(stderr, "vcuda: pid=%d call=%s posted=%lu waited=%lu us=%lu\n", getpid(),
                vcuda_call_name(calls[i]), posted, waited, counters.ns[calls[i]] / 1000);
    }
}

void counters_print(const char *transport) {
    uint64_t posted = sum(counters.posted), waited = sum(counters.waited);

    if (!getenv("VCUDA_STATS"))
        return;
    fprintf(
        stderr,
        "vcuda: pid=%d transport=%s calls=%lu posted=%lu waited=%lu told=%lu "
        "slept=%lu notifications=%lu pinned=%lu pageable=%lu staged=%lu inline=%lu images=%lu\n",
        getpid(), transport, posted + waited, posted, waited, counters.told, counters.slept,
        counters.notifications, counters.bytes_moved_pinned, counters.bytes_moved_pageable,
        counters.bytes_staged, counters.bytes_inline, counters.bytes_image);
    if (counters_each)
        print_each();
}
