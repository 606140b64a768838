// SPDX-License-Identifier: Apache-2.0
#include "sleep.h"

#include "worker.h"

static struct {
    pthread_mutex_t lock; /* guards the wait word */
    bool asleep;
} executor = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sleep_for(struct worker *w, uint32_t what, bool (*nothing_yet)(struct worker *w), int64_t ns) {
    pthread_mutex_lock(&executor.lock);
    executor.asleep = true;
    vcuda_wait_begin(&w->duplex, what);
    pthread_mutex_unlock(&executor.lock);
    if (nothing_yet(w)) {
        vcuda_stats_add(&w->stats->slept, 1);
        if (!w->link.sleep(&w->link, ns))
            w->over = true;
    }
    pthread_mutex_lock(&executor.lock);
    executor.asleep = false;
    vcuda_wait_end(&w->duplex);
    pthread_mutex_unlock(&executor.lock);
}

void sleep_asks_for_room(struct worker *w) {
    pthread_mutex_lock(&executor.lock);
    if (executor.asleep)
        vcuda_wait_begin(&w->duplex, VCUDA_WAIT_DATA | VCUDA_WAIT_SPACE);
    pthread_mutex_unlock(&executor.lock);
}
