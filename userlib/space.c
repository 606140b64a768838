// SPDX-License-Identifier: Apache-2.0
#include "space.h"

#include <stddef.h>
#include <stdlib.h>

/* In address order; no two touch. */
struct run {
    struct run *next;
    uint64_t from, to;
};

static struct run all = {NULL, SPACE_BASE, SPACE_END};
static struct run *runs = &all;

static void drop(struct run **at) {
    struct run *gone = *at;

    *at = gone->next;
    if (gone != &all)
        free(gone);
}

uint64_t space_take(uint64_t bytes) {
    for (struct run **at = &runs; *at; at = &(*at)->next) {
        uint64_t from = (*at)->from;

        if ((*at)->to - from < bytes)
            continue;
        (*at)->from += bytes;
        if ((*at)->from == (*at)->to)
            drop(at);
        return from;
    }
    return 0;
}

void space_give(uint64_t address, uint64_t bytes) {
    struct run **at = &runs, *fresh;

    while (*at && (*at)->to < address)
        at = &(*at)->next;
    if (*at && (*at)->to == address) {
        struct run *next = (*at)->next;

        (*at)->to += bytes;
        if (next && next->from == (*at)->to) {
            next->from = (*at)->from;
            drop(at);
        }
        return;
    }
    if (*at && (*at)->from == address + bytes) {
        (*at)->from = address;
        return;
    }
    fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return; /* these addresses are not used again */
    *fresh = (struct run){*at, address, address + bytes};
    *at = fresh;
}
