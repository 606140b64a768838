// SPDX-License-Identifier: Apache-2.0
#include "pool.h"
#include "awaited.h"
#include "broker.h"
#include "cgroup.h"
#include "identity.h"
#include "log.h"
#include "owners.h"
#include "roster.h"
#include "status.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define STARTING_MAX 4u /* at once: each initialises a driver */
#define START_MS 120000 /* a host with eight GPUs and no persistence daemon is slow */
#define GONE_MS 3000    /* for a worker to end after its session */
#define STOP_MS 2000
#define BACKOFF_MIN_MS 1000
#define BACKOFF_MAX_MS 30000
#define WATCH_MS 250
/* How long no program must have waited for a worker before there are fewer again. */
#define CALM_MS 3000

static void fill(struct pool *pool);
static void expect_no_more(struct pool *pool);

unsigned pool_count(const struct pool *pool, enum worker_state state) {
    unsigned count = 0;

    for (const struct worker *w = pool->workers; w; w = w->next)
        count += w->state == state;
    return count;
}

unsigned pool_ending(struct pool *pool) {
    unsigned count = 0;

    /* Who finds no memory needs what those hold that nobody waits for. */
    expect_no_more(pool);
    for (struct worker *w = pool->workers; w; w = w->next)
        count += awaited(w);
    return count;
}

static unsigned queue_length(const struct pool *pool) {
    unsigned length = 0;

    for (const struct request *r = pool->queue; r; r = r->next)
        length++;
    return length;
}

static struct worker *find_worker(const struct pool *pool, enum worker_state state) {
    struct worker *w = pool->workers;

    while (w && w->state != state)
        w = w->next;
    return w;
}

static void set_deadline(struct worker *worker, uint64_t ms) {
    worker->deadline = loop_now() + ms;
    if (!worker->pool->watchdog.at)
        loop_timer_set(&worker->pool->watchdog, WATCH_MS);
}

/* Nothing is given to a worker without a socket, nor heard of it. */
static void hang_up(struct worker *worker) {
    if (worker->spawned.sock < 0)
        return;
    loop_remove(worker->spawned.sock);
    close(worker->spawned.sock);
    worker->spawned.sock = -1;
}

/* ---- Requests ------------------------------------------------------------ */

static void refuse(struct request *request, int error) {
    request->ops->refuse(request, error);
}

static void refuse_queue(struct pool *pool, int error) {
    while (pool->queue) {
        struct request *request = pool->queue;

        pool->queue = request->next;
        refuse(request, error);
    }
}

/* Resolves "all GPUs", and checks those that a policy names: 0 or -ENODEV. */
static int choose_gpus(const struct pool *pool, struct vcuda_supervise_session *session) {
    if (!session->gpu_count) {
        session->gpu_count =
            pool->devices < VCUDA_SUPERVISE_GPUS_MAX ? pool->devices : VCUDA_SUPERVISE_GPUS_MAX;
        for (uint32_t i = 0; i < session->gpu_count; i++)
            session->gpus[i] = i;
    }
    for (uint32_t i = 0; i < session->gpu_count; i++) {
        if (session->gpus[i] < pool->devices)
            continue;
        vcuda_log(VCUDA_LOG_ERROR,
                  "domain %u is to have GPU %u, but the driver shows %u (numbers start at 0); "
                  "change its policy and attach it anew",
                  session->domid, session->gpus[i], pool->devices);
        return -ENODEV;
    }
    return 0;
}

static void leave_owner(struct worker *worker) {
    if (worker->owner)
        owners_leave(worker->owner, &worker->session);
    worker->owner = NULL;
}

/* The worker serves: 0; -EPIPE: it turned out to be dead; or an error of the request's. */
static int give(struct worker *worker, struct request *request, int fd) {
    struct owner *owner;
    int error;

    owner = owners_enter(&request->session, &error);
    if (!owner)
        return error;
    worker->owner = owner;
    worker->session = request->session;
    roster_write(worker->pool, worker);
    error = vcuda_supervise_give(worker->spawned.sock, &request->session, fd, owners_fd(owner));
    worker->deadline = 0;
    if (error) {
        vcuda_log(VCUDA_LOG_WARNING, "worker %d took no session: %s", worker->spawned.pid,
                  strerror(-error));
        hang_up(worker);
        kill(worker->spawned.pid, SIGKILL);
        worker->state = RETIRED;
        leave_owner(worker);
        return -EPIPE;
    }
    worker->state = SERVING;
    worker->since = time(NULL);
    vcuda_log(VCUDA_LOG_INFO, "worker %d serves session %u of %s %u", worker->spawned.pid,
              request->session.session,
              request->session.domid == VCUDA_SUPERVISE_LOCAL ? "process" : "domain",
              request->session.domid == VCUDA_SUPERVISE_LOCAL ? request->session.pid
                                                              : request->session.domid);
    return 0;
}

/* Gives the first request to an idle worker: false when one of them is missing. */
static bool match(struct pool *pool) {
    struct request *request = pool->queue;
    struct worker *worker = find_worker(pool, IDLE);
    int fd, error;

    if (!request || !worker)
        return false;
    fd = choose_gpus(pool, &request->session);
    if (!fd)
        fd = request->ops->claim(request);
    error = fd < 0 ? fd : give(worker, request, fd);
    if (fd >= 0 && error == -EPIPE) /* another worker's turn */
        return true;
    pool->queue = request->next;
    if (error)
        refuse(request, error);
    else
        request->ops->given(request);
    return true;
}

/* A program has to wait: another may come as soon after it as it came after the one before. */
static void expect_more(struct pool *pool) {
    if (!pool->options->warm)
        return;
    if (pool->more < pool->options->burst)
        pool->more++;
    loop_timer_set(&pool->calm, CALM_MS);
}

static void expect_no_more(struct pool *pool) {
    pool->more = 0;
    loop_timer_clear(&pool->calm);
    fill(pool);
}

static void calm_down(struct loop_timer *timer) {
    expect_no_more((struct pool *)((char *)timer - __builtin_offsetof(struct pool, calm)));
}

void pool_submit(struct pool *pool, struct request *request) {
    struct request **end = &pool->queue;

    if (pool->stopping) {
        refuse(request, -ESHUTDOWN);
        return;
    }
    if (pool->retry.at && !find_worker(pool, IDLE) && !find_worker(pool, STARTING)) {
        vcuda_log(VCUDA_LOG_INFO, "refused a session: %s", pool->failure);
        refuse(request, -ENODEV);
        return;
    }
    while (*end)
        end = &(*end)->next;
    request->next = NULL;
    *end = request;
    if (!find_worker(pool, IDLE))
        expect_more(pool);
    fill(pool);
}

bool pool_cancel(struct pool *pool, const struct request *request) {
    for (struct request **r = &pool->queue; *r; r = &(*r)->next) {
        if (*r == request) {
            *r = request->next;
            return true;
        }
    }
    return false;
}

struct request *pool_waiting(const struct pool *pool, uint32_t domid, uint32_t session) {
    struct request *r = pool->queue;

    while (r && (r->session.domid != domid || r->session.session != session))
        r = r->next;
    return r;
}

unsigned pool_sessions_of(const struct pool *pool, uint32_t uid) {
    unsigned count = 0;

    for (const struct request *r = pool->queue; r; r = r->next)
        count += r->session.domid == VCUDA_SUPERVISE_LOCAL && r->session.uid == uid;
    for (const struct worker *w = pool->workers; w; w = w->next)
        count += w->state == SERVING && w->session.domid == VCUDA_SUPERVISE_LOCAL &&
                 w->session.uid == uid;
    return count;
}

void pool_session_gone(struct pool *pool, uint32_t domid, uint32_t session) {
    for (struct worker *w = pool->workers; w; w = w->next) {
        if (w->state == SERVING && w->session.domid == domid && w->session.session == session)
            set_deadline(w, GONE_MS);
    }
}

/* ---- Workers that start --------------------------------------------------- */

/* Says it once for each reason, not once for each try. */
static void failure(struct pool *pool, const char *text) {
    bool news = strcmp(text, pool->failure) != 0;

    snprintf(pool->failure, sizeof(pool->failure), "%s", text);
    pool->backoff = pool->backoff ? pool->backoff * 2 : BACKOFF_MIN_MS;
    if (pool->backoff > BACKOFF_MAX_MS)
        pool->backoff = BACKOFF_MAX_MS;
    loop_timer_set(&pool->retry, pool->backoff);
    vcuda_log(news ? VCUDA_LOG_ERROR : VCUDA_LOG_INFO, "no worker: %s; next try in %" PRIu64 " s",
              text, pool->backoff / 1000);
    if (!find_worker(pool, STARTING) && !find_worker(pool, IDLE))
        refuse_queue(pool, -ENODEV);
    status_changed();
}

static void is_ready(struct worker *worker, const struct vcuda_supervise_ready *ready) {
    struct pool *pool = worker->pool;

    worker->state = IDLE;
    worker->deadline = 0;
    if (pool->failure[0] || ready->driver_version != pool->driver_version ||
        ready->devices != pool->devices)
        vcuda_log(VCUDA_LOG_NOTICE, "driver %u.%u with %u GPU%s is ready",
                  ready->driver_version / 1000, ready->driver_version % 1000 / 10, ready->devices,
                  ready->devices == 1 ? "" : "s");
    pool->driver_version = ready->driver_version;
    pool->devices = ready->devices;
    pool->failure[0] = 0;
    pool->backoff = 0;
    loop_timer_clear(&pool->retry);
    fill(pool);
}

/* What is left of the worker is for pool_reap(). */
static void give_up(struct worker *worker, const char *text) {
    hang_up(worker);
    worker->failed = true;
    worker->state = RETIRED;
    set_deadline(worker, STOP_MS);
    failure(worker->pool, text);
}

/* Of a worker that has no session yet. */
static void hear(struct worker *worker) {
    union vcuda_supervise_report report;
    int error = vcuda_supervise_receive(worker->spawned.sock, &report);

    if (error == -EAGAIN)
        return;
    if (error == -EPIPE) {
        hang_up(worker); /* it is ending: pool_reap() will know how */
        set_deadline(worker, STOP_MS);
    } else if (error) {
        give_up(worker, "vcuda-worker speaks another language; install both from one build");
    } else if (report.op == VCUDA_SUPERVISE_FAILED) {
        give_up(worker, report.failed.text);
    } else if (worker->state == STARTING) {
        is_ready(worker, &report.ready);
    }
}

static void worker_speaks(struct loop_source *source, uint32_t events) {
    struct worker *worker = (struct worker *)source;

    (void)events;
    if (worker->state != SERVING)
        hear(worker);
    else if (!broker_serve(worker))
        hang_up(worker);
}

static int start_worker(struct pool *pool) {
    struct worker *worker = calloc(1, sizeof(*worker));
    int error = -ENOMEM;

    if (worker)
        error = spawn_worker(pool->options, pool->drop, ++pool->last_number, &worker->spawned);
    if (error) {
        char text[128];

        free(worker);
        snprintf(text, sizeof(text), "cannot start a process: %s", strerror(-error));
        failure(pool, text);
        return error;
    }
    worker->pool = pool;
    worker->number = pool->last_number;
    worker->source.ready = worker_speaks;
    worker->next = pool->workers;
    pool->workers = worker;
    loop_add(worker->spawned.sock, &worker->source, EPOLLIN);
    set_deadline(worker, START_MS);
    vcuda_log(VCUDA_LOG_DEBUG, "worker %d starts", worker->spawned.pid);
    return 0;
}

/* Serves who waits, then brings the number of ready workers to what it should be. */
static void fill(struct pool *pool) {
    unsigned wanted;

    if (pool->stopping)
        return;
    while (match(pool))
        ;
    wanted = pool->options->warm + pool->more + queue_length(pool);
    while (!pool->retry.at && pool_count(pool, STARTING) < STARTING_MAX &&
           pool_count(pool, STARTING) + pool_count(pool, IDLE) < wanted) {
        if (start_worker(pool))
            break;
    }
    while (pool_count(pool, IDLE) > wanted) {
        struct worker *worker = find_worker(pool, IDLE);

        hang_up(worker);
        worker->state = RETIRED;
        set_deadline(worker, STOP_MS);
    }
    status_changed();
}

/* ---- Workers that end ------------------------------------------------------ */

/* "ended with status 1", "was ended by signal 11 (Segmentation fault)" */
static void describe_end(char *text, size_t size, int status) {
    if (WIFSIGNALED(status))
        snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

static void ended(struct worker *worker, int status) {
    struct pool *pool = worker->pool;
    char how[96];
    char text[VCUDA_SUPERVISE_TEXT_MAX];

    describe_end(how, sizeof(how), status);
    if (worker->state == SERVING) {
        vcuda_log(status && !pool->stopping ? VCUDA_LOG_WARNING : VCUDA_LOG_INFO,
                  "worker %d of %s %u %s; its last call was %" PRIu64, worker->spawned.pid,
                  worker->session.domid == VCUDA_SUPERVISE_LOCAL ? "process" : "domain",
                  worker->session.domid == VCUDA_SUPERVISE_LOCAL ? worker->session.pid
                                                                 : worker->session.domid,
                  how, vcuda_stats_get(&worker->spawned.stats->last_call));
        status_session_ended(&worker->session, worker->spawned.stats);
        leave_owner(worker);
    } else if (worker->state != RETIRED && !pool->stopping) {
        snprintf(text, sizeof(text), "vcuda-worker %s while it %s", how,
                 worker->state == STARTING ? "loaded the driver" : "waited for a session");
        worker->state = RETIRED;
        failure(pool, text);
    }
}

/* A last word may still be in the socket when SIGCHLD comes first. */
static void hear_last_word(struct worker *worker) {
    if (worker->state == STARTING && worker->spawned.sock >= 0)
        hear(worker);
}

void pool_reap(struct pool *pool) {
    struct worker **link = &pool->workers;

    while (*link) {
        struct worker *worker = *link;
        int status;

        if (waitpid(worker->spawned.pid, &status, WNOHANG) != worker->spawned.pid) {
            link = &worker->next;
            continue;
        }
        *link = worker->next;
        hear_last_word(worker);
        hang_up(worker);
        ended(worker, status);
        cgroup_remove(worker->number);
        spawn_release(&worker->spawned);
        free(worker);
        link = &pool->workers; /* a handler may have changed the list */
    }
    if (pool->stopping && !pool->workers)
        loop_quit();
    fill(pool);
}

static void kill_overdue(struct loop_timer *timer) {
    struct pool *pool = (struct pool *)((char *)timer - __builtin_offsetof(struct pool, watchdog));
    uint64_t now = loop_now();
    bool more = false;

    for (struct worker *w = pool->workers; w; w = w->next) {
        if (w->deadline && w->deadline <= now) {
            vcuda_log(VCUDA_LOG_WARNING, "worker %d does not end by itself, killed",
                      w->spawned.pid);
            kill(w->spawned.pid, SIGKILL);
            w->deadline = 0;
        }
        more |= w->deadline != 0;
    }
    if (more)
        loop_timer_set(timer, WATCH_MS);
}

/* ---- All of them ------------------------------------------------------------ */

static void retry(struct loop_timer *timer) {
    fill((struct pool *)((char *)timer - __builtin_offsetof(struct pool, retry)));
}

void pool_start(struct pool *pool, const struct options *options) {
    *pool = (struct pool){
        .options = options,
        .drop = identity_drop(options),
        .retry.fire = retry,
        .watchdog.fire = kill_overdue,
        .calm.fire = calm_down,
    };
    cgroup_start();
    fill(pool);
}

void pool_retry(struct pool *pool) {
    pool->backoff = 0;
    loop_timer_clear(&pool->retry);
    fill(pool);
}

void pool_stop(struct pool *pool) {
    int signal = pool->stopping ? SIGKILL : SIGTERM;

    pool->stopping = true;
    loop_timer_clear(&pool->retry);
    refuse_queue(pool, -ESHUTDOWN);
    for (struct worker *w = pool->workers; w; w = w->next) {
        hang_up(w);
        kill(w->spawned.pid, signal);
        set_deadline(w, STOP_MS);
    }
    if (!pool->workers)
        loop_quit();
}

void pool_log(const struct pool *pool) {
    vcuda_log(VCUDA_LOG_NOTICE, "%u starting, %u ready, %u serving, %u waiting%s%s",
              pool_count(pool, STARTING), pool_count(pool, IDLE), pool_count(pool, SERVING),
              queue_length(pool), pool->failure[0] ? "; no worker: " : "", pool->failure);
    for (const struct worker *w = pool->workers; w; w = w->next) {
        const struct vcuda_stats *s = w->spawned.stats;

        if (w->state == SERVING)
            vcuda_log(VCUDA_LOG_NOTICE,
                      "worker %d: domain %d session %u process %u uid %u, %ld s, %" PRIu64
                      " calls, %" PRIu64 " errors, last call %" PRIu64,
                      w->spawned.pid, (int)w->session.domid, w->session.session, w->session.pid,
                      w->session.uid, (long)(time(NULL) - w->since), vcuda_stats_get(&s->calls),
                      vcuda_stats_get(&s->errors), vcuda_stats_get(&s->last_call));
    }
}
