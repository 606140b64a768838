/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process did, counted; printed at exit where VCUDA_STATS is set, with each call's own
 * numbers where it is `calls`.
 */
#ifndef VCUDA_USERLIB_COUNTERS_H
#define VCUDA_USERLIB_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"

struct counters {
    uint64_t posted[VCUDA_CALLS];  /* records sent, without a completion */
    uint64_t waited[VCUDA_CALLS];  /* with an answer */
    uint64_t ns[VCUDA_CALLS];      /* that threads waited for these, if counters_each */
    uint64_t told;                 /* waits whose answer was the GPU's word, without a completion */
    uint64_t slept;                /* times a thread went to sleep for a completion or for space */
    uint64_t notifications;        /* sent to the worker */
    uint64_t bytes_moved_pinned;   /* asked for by copies from or to pinned memory */
    uint64_t bytes_moved_pageable; /* from or to other host memory */
    uint64_t bytes_staged;         /* copied by us through the arena */
    uint64_t bytes_image;          /* module images, copied by us into the arena */
    uint64_t bytes_inline;         /* copied by us into the ring */
};

extern struct counters counters;

/* Whether each call's numbers are wanted. */
extern bool counters_each;

/* Once, at the start: whether VCUDA_STATS asks for each call's numbers. */
void counters_start(void);

/* What VCUDA_STATS asks for, on stderr. */
void counters_print(const char *transport);

#define COUNT(field, n) __atomic_fetch_add(&counters.field, n, __ATOMIC_RELAXED)

#endif
