// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answers.h"
#include "barrier.h"
#include "bundle.h"
#include "log.h"
#include "messages.h"
#include "spin.h"
#include "worker.h"

#define LANES_MAX 8u
/* As many processors a lane: one for it, and others for the program's threads. */
#define PROCESSORS_A_LANE 4
/* Records that a lane is given in advance, and the longest, in bytes. */
#define PLACES 32u
#define RECORD_MAX 512u
/* How long a lane looks for its next record before it sleeps, at most. */
#define LOOK_NS 200000u
/* After so many records of one thread's it is taken for the only one that calls. */
#define ALONE_AFTER 64u
/* Threads of the program, by their numbers. */
#define THREADS 64u

struct lane {
    _Alignas(VCUDA_CACHE_LINE) uint32_t given; /* by the executor */
    uint32_t sleeps;
    _Alignas(VCUDA_CACHE_LINE) uint32_t made;
    struct worker *worker;
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct vcuda_spin looking;
    struct {
        _Alignas(VCUDA_CACHE_LINE) uint8_t record[RECORD_MAX];
        uint32_t len;
    } places[PLACES];
};

/* Of the executor. */
static struct lane *lanes[LANES_MAX];
static uint32_t lanes_max, lanes_there;
static bool any_given;       /* since the last drain */
static uint32_t last_thread; /* who called last */
static uint32_t others;      /* 0: that thread seems to be alone */
static struct lane *lane_of[THREADS];

void lanes_start(void) {
    const char *fixed = getenv("VCUDA_LANES");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    lanes_max = fixed ? (uint32_t)atoi(fixed) : (uint32_t)(processors / PROCESSORS_A_LANE);
    if (lanes_max > LANES_MAX)
        lanes_max = LANES_MAX;
    if (lanes_max < 2)
        lanes_max = 0;
}

static uint32_t waiting(const struct lane *l) {
    return vcuda_load_acquire(&l->given) - l->made;
}

/* Whether there was any: makes calls for as long as there are records, some at a time. */
static bool make_some(struct lane *l) {
    uint32_t there = waiting(l);

    for (uint32_t i = 0; i < there; i++) {
        uint32_t place = l->made % PLACES;

        worker_make_call(l->worker, l->places[place].record, l->places[place].len);
        if (i == there - 1)
            bundle_make(l->worker);
        vcuda_store_release(&l->made, l->made + 1);
    }
    return there != 0;
}

/* Until there is a record, or for `ns` at most; -1: no end. */
static void lane_sleep(struct lane *l, int64_t ns) {
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (end.tv_nsec + ns) / 1000000000;
    end.tv_nsec = (end.tv_nsec + ns) % 1000000000;
    pthread_mutex_lock(&l->lock);
    vcuda_store_once(&l->sleeps, 1);
    vcuda_full_barrier(); /* the executor gives, then looks whether we sleep */
    if (!waiting(l)) {
        if (ns < 0)
            pthread_cond_wait(&l->news, &l->lock);
        else
            pthread_cond_timedwait(&l->news, &l->lock, &end);
    }
    vcuda_store_once(&l->sleeps, 0);
    pthread_mutex_unlock(&l->lock);
}

/* Looks for a record for as long as that was worth it lately, and sleeps then. */
static void await(struct lane *l, uint64_t *since) {
    int64_t pause = pending_pause();
    uint64_t now = vcuda_now_ns();

    bundle_begin();
    if (!*since)
        *since = now;
    if (!pause)
        return; /* the GPU is asked again at once */
    if (now - *since >= l->looking.limit)
        lane_sleep(l, pause);
    else
        for (int i = 0; i < 32 && !waiting(l); i++)
            __builtin_ia32_pause();
}

static void *run(void *arg) {
    struct lane *l = arg;
    uint64_t since = 0;

    answers_from_lane();
    pending_start(l->worker);
    while (!vcuda_load_once(&l->worker->over)) {
        bool made = make_some(l);

        if (pending_any())
            pending_poll(l->worker);
        if (!made) {
            await(l, &since);
        } else if (since) {
            vcuda_spin_learn(&l->looking, vcuda_now_ns() - since);
            since = 0;
        }
    }
    return NULL;
}

static struct lane *new_lane(struct worker *w) {
    struct lane *l = aligned_alloc(VCUDA_CACHE_LINE, sizeof(*l));
    pthread_condattr_t clock;
    pthread_t thread;

    if (!l)
        return NULL;
    memset(l, 0, sizeof(*l));
    l->worker = w;
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->news, &clock);
    pthread_condattr_destroy(&clock);
    vcuda_spin_init(&l->looking, LOOK_NS, w->link.elsewhere);
    if (pthread_create(&thread, NULL, run, l)) {
        free(l);
        return NULL;
    }
    pthread_detach(thread);
    return l;
}

/* All at once: which lane a stream has must not change. */
static bool have_lanes(struct worker *w) {
    while (lanes_there < lanes_max) {
        lanes[lanes_there] = new_lane(w);
        if (!lanes[lanes_there]) {
            vcuda_log(VCUDA_LOG_WARNING,
                      "no thread for a lane beyond %u: fewer calls are made beside others",
                      lanes_there);
            lanes_max = lanes_there;
        } else {
            lanes_there++;
        }
    }
    return lanes_there != 0;
}

static bool busy(const struct lane *l) {
    return l->given != vcuda_load_acquire(&l->made);
}

static void wait_for(struct worker *w, const struct lane *l) {
    bundle_make(w); /* what a full queue of the lane's waits for may be held here */
    for (uint32_t i = 0; busy(l); i++) {
        if (i % 64) {
            __builtin_ia32_pause();
            continue;
        }
        /* It may stand in the driver until a host function has run. */
        if (messages_any())
            answers_flush_now(w);
        if (i > 1024)
            sched_yield();
    }
}

void lanes_drain(struct worker *w) {
    if (!any_given)
        return;
    for (uint32_t i = 0; i < lanes_there; i++)
        wait_for(w, lanes[i]);
    any_given = false;
}

/* Whether a record of another thread waits already. Asked for only where there is another. */
static bool crowded(struct worker *w, const struct vcuda_rec *record) {
    const struct vcuda_duplex *d = &w->duplex;
    const struct vcuda_rec *next = (const void *)(d->rx + (d->cons & (d->rx_size - 1)));

    if (record->status != last_thread)
        others = ALONE_AFTER;
    else if (others)
        others--;
    last_thread = record->status;
    /* A guess: whatever stands there, each stream keeps its order. */
    return others && vcuda_rx_ready(&w->duplex) == 1 &&
           vcuda_load_once(&next->status) != record->status;
}

static void give(struct lane *l, const struct vcuda_rec *record, uint32_t len) {
    uint32_t place = l->given % PLACES;

    bundle_make(l->worker); /* which may be of this stream */
    memcpy(l->places[place].record, record, len);
    l->places[place].len = len;
    vcuda_store_release(&l->given, l->given + 1);
    any_given = true;
    vcuda_full_barrier(); /* it says that it sleeps, then looks for records */
    if (vcuda_load_once(&l->sleeps)) {
        pthread_mutex_lock(&l->lock);
        pthread_cond_signal(&l->news);
        pthread_mutex_unlock(&l->lock);
    }
}

bool lanes_take(struct worker *w, const struct vcuda_rec *record, uint32_t len, uint64_t stream) {
    bool beside = crowded(w, record);
    struct lane **own = &lane_of[record->status % THREADS], *l;

    if (!lanes_there && (!beside || !have_lanes(w)))
        return false;
    l = lanes[vcuda_name_index(stream) % lanes_there];
    /* Errors of what a thread posted are told to its next call: that must come after it. */
    if (*own && *own != l && busy(*own))
        wait_for(w, *own);
    if (busy(l) && len <= RECORD_MAX && l->given - vcuda_load_acquire(&l->made) < PLACES)
        beside = true; /* behind what it has */
    else if (busy(l))
        wait_for(w, l);
    if (!beside || len > RECORD_MAX)
        return false;
    *own = l;
    give(l, record, len);
    vcuda_stats_count(&w->stats->beside);
    return true;
}
