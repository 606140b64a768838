// SPDX-License-Identifier: Apache-2.0
#include "loop.h"
#include "log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

/* What a handler may sleep for a peer's sake. */
#define NUDGE_US 2000

static int loop_fd = -1;
static struct loop_timer *timers;
static bool quitting;

static void die(const char *what) {
    vcuda_log(VCUDA_LOG_ERROR, "%s: %s", what, strerror(errno));
    exit(1);
}

void loop_add(int fd, struct loop_source *source, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (loop_fd < 0)
        loop_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop_fd < 0)
        die("epoll_create1");
    if (epoll_ctl(loop_fd, EPOLL_CTL_ADD, fd, &event))
        die("epoll_ctl");
}

void loop_remove(int fd) {
    epoll_ctl(loop_fd, EPOLL_CTL_DEL, fd, NULL);
}

uint64_t loop_now(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void loop_timer_set(struct loop_timer *timer, uint64_t ms) {
    timer->at = loop_now() + ms;
    if (timer->known)
        return;
    timer->known = true;
    timer->next = timers;
    timers = timer;
}

void loop_timer_clear(struct loop_timer *timer) {
    timer->at = 0;
}

/* Milliseconds until the next timer, as epoll_wait wants them. */
static int until_next(void) {
    uint64_t now = loop_now();
    uint64_t least = UINT64_MAX;

    for (struct loop_timer *t = timers; t; t = t->next) {
        if (t->at && t->at < least)
            least = t->at;
    }
    if (least == UINT64_MAX)
        return -1;
    if (least <= now)
        return 0;
    return least - now > INT_MAX ? INT_MAX : (int)(least - now);
}

static void fire_due(void) {
    uint64_t now = loop_now();

    for (struct loop_timer *t = timers; t; t = t->next) {
        if (t->at && t->at <= now) {
            t->at = 0;
            t->fire(t);
        }
    }
}

/* That it comes is all. */
static void nudged(int signal) {
    (void)signal;
}

/*
 * While handlers run a signal comes again and again. Who closes a socket last also ends the
 * descriptors that lie unread in it, and a peer may have made one of them linger: a close that
 * sleeps for as long as the peer said (SO_LINGER), unless there is a signal. Calls that may be
 * restarted are.
 */
void loop_nudge(bool on) {
    const struct sigaction action = {.sa_handler = nudged, .sa_flags = SA_RESTART};
    const struct timeval step = {0, on ? NUDGE_US : 0};

    if (on)
        sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){step, step}, NULL);
}

void loop_run(void) {
    while (!quitting) {
        /* One at a time: a handler may free the source of the next event. */
        struct epoll_event event;
        int got = epoll_wait(loop_fd, &event, 1, until_next());

        if (got < 0 && errno != EINTR)
            die("epoll_wait");
        loop_nudge(true);
        if (got == 1) {
            struct loop_source *source = event.data.ptr;

            source->ready(source, event.events);
        }
        fire_due();
        loop_nudge(false);
    }
}

void loop_quit(void) {
    quitting = true;
}
