// SPDX-License-Identifier: Apache-2.0
/*
 * Waiter threads: make the calls that may sleep in the driver, so that the executor never does. As
 * many as there are such calls at one time, kept for the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "barrier.h"
#include "log.h"
#include "sleep.h"
#include "spin.h"
#include "worker.h"

/*
 * About as many as a program has threads that wait. Beyond that a call fails for want of memory: it
 * must not queue behind others that may wait for it. vcudad's limit of a worker's threads is
 * higher.
 */
#define WAITERS_MAX 4096

/* How long a thread looks for its next job before it sleeps, at most. */
#define LOOK_NS 200000u

struct job {
    struct job *next;
    struct worker *worker;
    struct frame frame;
    uint64_t record[]; /* what the frame points into */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job *todo, **todo_end;
    struct job *done, **done_end; /* for whose answers the ring had no room */
    unsigned int threads, busy, queued;
    bool one_looks; /* awake without a job: needs no signal for the next */
    struct vcuda_spin looking;
} waiters = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

void waiters_start(struct worker *w) {
    vcuda_spin_init(&waiters.looking, LOOK_NS, w->link.elsewhere);
    waiters.todo_end = &waiters.todo;
    waiters.done_end = &waiters.done;
}

bool waiters_working(void) {
    return vcuda_load_once(&waiters.busy) || vcuda_load_once(&waiters.queued);
}

/* Under the lock. With few processors the executor's and the program's looking is enough. */
static bool may_look(void) {
    return !waiters.one_looks && waiters.looking.ceiling > waiters.looking.floor;
}

/*
 * Under the lock, which it gives up meanwhile: a call that blocks is often followed by another, and
 * a wake costs more than most of them. One thread looks, the others sleep.
 */
static void look_for_job(void) {
    uint64_t since = vcuda_now_ns(), waited;

    waiters.one_looks = true;
    pthread_mutex_unlock(&waiters.lock);
    do {
        for (int i = 0; i < 32 && !vcuda_load_once(&waiters.todo); i++)
            __builtin_ia32_pause();
        waited = vcuda_now_ns() - since;
    } while (!vcuda_load_once(&waiters.todo) && waited < waiters.looking.limit);
    pthread_mutex_lock(&waiters.lock);
    vcuda_spin_learn(&waiters.looking, waiters.todo ? waited : waiters.looking.ceiling + 1);
    waiters.one_looks = false;
}

static void forget(struct job *job) {
    frame_close(&job->frame);
    free(job);
}

static void leave(struct job *job) {
    pthread_mutex_lock(&waiters.lock);
    job->next = NULL;
    *waiters.done_end = job;
    waiters.done_end = &job->next;
    pthread_mutex_unlock(&waiters.lock);
}

static struct job *take_left(void) {
    struct job *job;

    pthread_mutex_lock(&waiters.lock);
    job = waiters.done;
    if (job)
        waiters.done = job->next;
    if (!waiters.done)
        waiters.done_end = &waiters.done;
    pthread_mutex_unlock(&waiters.lock);
    return job;
}

/*
 * Sends the answer, or leaves it to the executor. Whoever takes one from there and cannot send it
 * leaves it there and asks once more: the executor may have slept meanwhile without knowing of it.
 */
static void send(struct job *job) {
    struct worker *w = job->worker;

    while (job && !answers_try(w, &job->frame)) {
        leave(job);
        sleep_asks_for_room(w);
        if (!answers_have_room(w))
            return;
        job = take_left();
    }
    if (job)
        forget(job);
}

static void *waiter(void *unused) {
    bool looked = false;

    (void)unused;
    pthread_mutex_lock(&waiters.lock);
    for (;;) {
        struct job *job = waiters.todo;

        if (!job && !looked && may_look()) {
            look_for_job();
            looked = true;
            continue;
        }
        looked = false;
        if (!job) {
            pthread_cond_wait(&waiters.work, &waiters.lock);
            continue;
        }
        waiters.todo = job->next;
        vcuda_store_once(&waiters.queued, waiters.queued - 1);
        vcuda_store_once(&waiters.busy, waiters.busy + 1);
        if (!waiters.todo)
            waiters.todo_end = &waiters.todo;
        pthread_mutex_unlock(&waiters.lock);
        job->frame.status = worker_run_call(job->worker, &job->frame);
        pthread_mutex_lock(&waiters.lock);
        /* Free for the next, which the program may send as soon as it has the answer. */
        vcuda_store_once(&waiters.busy, waiters.busy - 1);
        pthread_mutex_unlock(&waiters.lock);
        send(job);
        pthread_mutex_lock(&waiters.lock);
    }
    return NULL;
}

/* Under the lock: threads that have no job. */
static unsigned int free_threads(void) {
    return waiters.threads - waiters.busy;
}

/* Under the lock: one thread more, unless there are all that may be. */
static void add_thread(void) {
    static bool said;
    pthread_t thread;
    int error =
        waiters.threads < WAITERS_MAX ? pthread_create(&thread, NULL, waiter, NULL) : EAGAIN;

    if (!error) {
        pthread_detach(thread);
        waiters.threads++;
    } else if (!said) { /* the program hears "out of memory", which says nothing of threads */
        said = true;
        vcuda_log(VCUDA_LOG_WARNING, "no thread beyond %u for a call that waits: %s",
                  waiters.threads, strerror(error));
    }
}

/* Queues a job for a thread of its own: it may sleep until another job has been done. */
static bool give(struct job *job) {
    bool ok;

    job->next = NULL;
    pthread_mutex_lock(&waiters.lock);
    if (waiters.queued >= free_threads())
        add_thread();
    ok = waiters.queued < free_threads();
    if (ok) {
        vcuda_store_once(&waiters.queued, waiters.queued + 1);
        *waiters.todo_end = job;
        waiters.todo_end = &job->next;
        if (!waiters.one_looks || waiters.queued > 1)
            pthread_cond_signal(&waiters.work);
    }
    pthread_mutex_unlock(&waiters.lock);
    return ok;
}

bool waiters_run(struct worker *w, const void *record, uint32_t len) {
    struct job *job = malloc(sizeof(*job) + len);
    const struct vcuda_rec *head = record;

    if (!job)
        return false;
    job->worker = w;
    memcpy(job->record, record, len);
    if (frame_open(&job->frame, job->record, len, dispatch_table[head->call].slots) && give(job))
        return true;
    free(job);
    return false;
}

bool waiters_any_left(void) {
    return vcuda_load_once(&waiters.done) != NULL;
}

void waiters_collect(struct worker *w) {
    struct job *job;

    while (waiters_any_left() && (job = take_left())) {
        answers_put(w, &job->frame);
        forget(job);
    }
}
