// SPDX-License-Identifier: Apache-2.0
#include "hostfunc.h"

#include <time.h>

#include "answers.h"
#include "barrier.h"
#include "messages.h"
#include "worker.h"

/*
 * The executor wakes who waits here. It may itself stand in the driver, behind what only moves on
 * when the function has run: so each looks for itself too, this often.
 */
#define LOOK_MIN_NS 1000000
#define LOOK_MAX_NS 16000000

static struct {
    struct worker *worker;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a place is free, or functions have run */
    const uint32_t *done;   /* the guest's words, one a place */
    bool taken[VCUDA_HOST_PLACES];
    uint32_t serials[VCUDA_HOST_PLACES];
    uint32_t waiting;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void hostfunc_start(struct worker *w) {
    calls.worker = w;
    calls.done = (const uint32_t *)((const uint8_t *)w->link.rings + VCUDA_HOST_DONE_OFFSET);
}

static bool say(enum vcuda_message message, const uint64_t *slots, uint32_t count) {
    if (!messages_say(message, slots, count, NULL, 0))
        return false;
    answers_flush_now(calls.worker);
    return true;
}

static bool has_run(uint32_t place) {
    return vcuda_load_acquire(&calls.done[place]) == calls.serials[place];
}

/* Under the lock. */
static uint32_t take_place(void) {
    for (;;) {
        for (uint32_t i = 0; i < VCUDA_HOST_PLACES; i++) {
            if (!calls.taken[i]) {
                calls.taken[i] = true;
                /* A word's value before: whatever the guest wrote, it is not this. */
                calls.serials[i] = vcuda_load_once(&calls.done[i]) + 1;
                return i;
            }
        }
        pthread_cond_wait(&calls.changed, &calls.lock);
    }
}

/* Under the lock. */
static void sleep_until_changed(long ns) {
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ns;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&calls.changed, &calls.lock, &until);
}

/* The driver's thread stands here while the program's function runs. */
static void call(void *arg, CUresult status, bool last) {
    long nap = LOOK_MIN_NS;
    uint32_t place;

    pthread_mutex_lock(&calls.lock);
    place = take_place();
    __atomic_fetch_add(&calls.waiting, 1, __ATOMIC_RELAXED);
    const uint64_t slots[] = {hostfunc_id(arg), place, calls.serials[place], (uint64_t)status,
                              last};
    if (say(VCUDA_MESSAGE_HOST, slots, 5)) {
        while (!has_run(place)) {
            sleep_until_changed(nap);
            nap = nap < LOOK_MAX_NS ? 2 * nap : nap;
        }
    }
    calls.taken[place] = false;
    __atomic_fetch_sub(&calls.waiting, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&calls.changed);
    pthread_mutex_unlock(&calls.lock);
}

void hostfunc_once(void *arg) {
    call(arg, CUDA_SUCCESS, true);
}

void hostfunc_again(void *arg) {
    call(arg, CUDA_SUCCESS, false);
}

void hostfunc_callback(CUstream stream, CUresult status, void *arg) {
    (void)stream;
    call(arg, status, true);
}

void hostfunc_tell(void *arg) {
    const uint64_t slots[] = {hostfunc_id(arg), VCUDA_HOST_PLACES, 0, CUDA_SUCCESS, true};

    say(VCUDA_MESSAGE_HOST, slots, 5);
}

void hostfunc_notify(CUasyncNotificationInfo *info, void *arg, CUasyncCallbackHandle handle) {
    const uint64_t slots[] = {hostfunc_id(arg), info->type, info->info.overBudget.bytesOverBudget};

    (void)handle;
    /* Of another type nothing is known that could be said. */
    if (info->type == CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET)
        say(VCUDA_MESSAGE_ASYNC, slots, 3);
}

bool hostfunc_any_done(void) {
    bool any = false;

    if (!vcuda_load_once(&calls.waiting))
        return false;
    pthread_mutex_lock(&calls.lock);
    for (uint32_t i = 0; i < VCUDA_HOST_PLACES && !any; i++)
        any = calls.taken[i] && has_run(i);
    pthread_mutex_unlock(&calls.lock);
    return any;
}

void hostfunc_look(void) {
    if (hostfunc_any_done())
        pthread_cond_broadcast(&calls.changed);
}
