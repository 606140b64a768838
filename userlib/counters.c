// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <stdio.h>
#include <unistd.h>

struct counters counters;

void counters_print(const char *transport) {
    fprintf(stderr,
            "vcuda: pid=%d transport=%s calls=%lu posted=%lu waited=%lu slept=%lu "
            "notifications=%lu pinned=%lu pageable=%lu staged=%lu inline=%lu images=%lu\n",
            getpid(), transport, counters.posted + counters.waited, counters.posted,
            counters.waited, counters.slept, counters.notifications, counters.bytes_moved_pinned,
            counters.bytes_moved_pageable, counters.bytes_staged, counters.bytes_inline,
            counters.bytes_image);
}
