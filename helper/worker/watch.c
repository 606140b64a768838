// SPDX-License-Identifier: Apache-2.0
/*
 * A program's end must give back what it held even where the executor is stuck in the driver (seen:
 * making a stream may wait for a kernel, and that for a program that is gone).
 */
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "worker.h"

/* For the executor to end by itself, which it does unless it is stuck. */
static const struct timespec grace = {0, 500000000};

static void *watch(void *arg) {
    struct worker *w = arg;
    struct pollfd fd = {w->link.life_fd, 0, 0};

    while (poll(&fd, 1, -1) <= 0 || !(fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
        ;
    nanosleep(&grace, NULL);
    vcuda_log(VCUDA_LOG_INFO, "the program is gone, call %lu is not waited for",
              (unsigned long)vcuda_stats_get(&w->stats->last_call));
    _exit(0);
}

bool worker_watch(struct worker *w) {
    pthread_t thread;

    return !pthread_create(&thread, NULL, watch, w) && !pthread_detach(thread);
}
