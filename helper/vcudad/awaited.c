// SPDX-License-Identifier: Apache-2.0
#include "awaited.h"

#include <errno.h>
#include <signal.h>

#define AWAITED_MS 3000

static bool is_ending(const struct worker *w) {
    if (w->state == RETIRED)
        return true;
    if (w->state != SERVING)
        return false;
    return w->deadline || vcuda_stats_get(&w->spawned.stats->state) == VCUDA_WORKER_ENDING ||
           (w->session.domid == VCUDA_SUPERVISE_LOCAL && kill((pid_t)w->session.pid, 0) &&
            errno == ESRCH);
}

bool awaited(struct worker *w) {
    if (!is_ending(w))
        return false;
    if (!w->awaited)
        w->awaited = loop_now() + AWAITED_MS;
    return loop_now() < w->awaited;
}
