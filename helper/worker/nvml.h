/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's NVML, asked for one session: only for the devices that it has, and nothing of what
 * other domains do with them. Where the host has none, all queries are not supported.
 */
#ifndef VCUDA_WORKER_NVML_H
#define VCUDA_WORKER_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_types.h"

struct worker;

/* A query on its way to the host's function. */
struct nvml_question {
    void *function;
    nvmlDevice_t device, other; /* the host's; NULL where the query takes none */
    uint64_t numbers[3];
    const void *in; /* in_bytes of the query */
    void *answer;   /* zeroed, answer_bytes of the query */
};

/* What may be asked: made from protocol/nvml.tbl. */
struct nvml_query {
    const char *name;
    unsigned int (*ask)(const struct nvml_question *q);
    uint32_t in_bytes;
    uint32_t answer_bytes;
    bool device, other; /* which devices it takes */
};

/* NULL for a name that is not in the table. */
const struct nvml_query *nvml_query_find(const char *name);

/* A list's number: how many entries there is room for; bit 32 is set where there is an array. */
static inline bool nvml_wants_list(uint64_t number) {
    return number >> 32 & 1;
}

static inline unsigned int nvml_list_room(uint64_t number, unsigned int most) {
    unsigned int room = (unsigned int)number;

    return room < most ? room : most;
}

/* Finds the host's NVML, while its file may still be read: before privileges are given up. */
void nvml_load(const struct worker *w);

/* Starts it at the first call: whether there is one. Any thread. */
bool nvml_start(const struct worker *w);

/* A function of the host's NVML, or NULL. */
void *nvml_function(const char *name);

/* The host's handle of the guest's device, or NULL. */
nvmlDevice_t nvml_device(const struct worker *w, int guest_device);

#endif
