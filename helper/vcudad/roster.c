// SPDX-License-Identifier: Apache-2.0
#include "roster.h"
#include "owners.h"

/* Its entry in a roster; 0 as long as it is not known, or for a session without a program. */
static uint64_t entry_of(const struct worker *w) {
    const struct vcuda_stats *stats = w->spawned.stats;
    uint32_t program = (uint32_t)vcuda_stats_get(&stats->program);

    return program && !vcuda_stats_get(&stats->light) ? (uint64_t)w->spawned.pid << 32 | program
                                                      : 0;
}

void roster_write(const struct pool *pool, struct worker *worker) {
    uint64_t *roster = worker->spawned.page->roster;
    unsigned count = 0;

    for (const struct worker *w = pool->workers; w && count < VCUDA_ROSTER_MAX; w = w->next) {
        uint64_t entry =
            w->state == SERVING && owners_same(&w->session, &worker->session) ? entry_of(w) : 0;

        if (entry)
            vcuda_stats_set(&roster[count++], entry);
    }
    while (count < VCUDA_ROSTER_MAX)
        vcuda_stats_set(&roster[count++], 0);
}

void roster_refresh(const struct pool *pool) {
    for (struct worker *w = pool->workers; w; w = w->next) {
        if (w->state == SERVING)
            roster_write(pool, w);
    }
}
