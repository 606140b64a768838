// SPDX-License-Identifier: Apache-2.0
/*
 * Waiter threads: make the calls that may sleep in the driver, so that the executor never does. As
 * many as there are such calls at one time, kept for the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "answers.h"
#include "barrier.h"
#include "log.h"
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
    uint32_t executor_sleeps;
    int fd;
} waiters = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

int waiters_start(struct worker *w) {
    vcuda_spin_init(&waiters.looking, LOOK_NS, w->link.elsewhere);
    waiters.todo_end = &waiters.todo;
    waiters.done_end = &waiters.done;
    waiters.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return waiters.fd < 0 ? -errno : 0;
}

int waiters_fd(void) {
    return waiters.fd;
}

bool waiters_working(void) {
    return vcuda_load_once(&waiters.busy) || vcuda_load_once(&waiters.queued);
}

static void run(struct job *job) {
    struct worker *w = job->worker;
    struct frame *f = &job->frame;

    f->status = worker_use_context(w, f->head.ctx);
    if (f->status == CUDA_SUCCESS)
        f->status = dispatch_table[f->head.call].run(w, f);
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

static void leave_to_executor(struct job *job) {
    pthread_mutex_lock(&waiters.lock);
    job->next = NULL;
    *waiters.done_end = job;
    waiters.done_end = &job->next;
    pthread_mutex_unlock(&waiters.lock);
    waiters_wake_executor();
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
        run(job);
        pthread_mutex_lock(&waiters.lock);
        /* Free for the next, which the program may send as soon as it has the answer. */
        vcuda_store_once(&waiters.busy, waiters.busy - 1);
        pthread_mutex_unlock(&waiters.lock);
        if (answers_try(job->worker, &job->frame))
            forget(job);
        else
            leave_to_executor(job);
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

void waiters_wake_executor(void) {
    uint64_t one = 1;
    bool sleeps;

    pthread_mutex_lock(&waiters.lock);
    sleeps = waiters.executor_sleeps;
    pthread_mutex_unlock(&waiters.lock);
    if (sleeps && write(waiters.fd, &one, sizeof(one)) < 0)
        return; /* cannot be: the counter is taken to 0 at each wake */
}

bool waiters_executor_sleeps(bool sleeps) {
    uint64_t count;
    bool news;

    pthread_mutex_lock(&waiters.lock);
    waiters.executor_sleeps = sleeps;
    news = waiters.done != NULL;
    pthread_mutex_unlock(&waiters.lock);
    if (!sleeps && read(waiters.fd, &count, sizeof(count)) < 0)
        return news; /* nobody had to wake us */
    return news;
}

void waiters_collect(struct worker *w) {
    struct job *job;

    /* Looked at without the lock: a missed one is found in the next round, or wakes us. */
    if (!vcuda_load_once(&waiters.done))
        return;
    pthread_mutex_lock(&waiters.lock);
    job = waiters.done;
    waiters.done = NULL;
    waiters.done_end = &waiters.done;
    pthread_mutex_unlock(&waiters.lock);
    while (job) {
        struct job *next = job->next;

        answers_put(w, &job->frame);
        forget(job);
        job = next;
    }
}
