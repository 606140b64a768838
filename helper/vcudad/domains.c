// SPDX-License-Identifier: Apache-2.0
#include "domains.h"
#include "log.h"
#include "owners.h"
#include "textfile.h"
#include "xen.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct totals {
    uint64_t sessions;       /* now */
    uint64_t sessions_ended; /* since vcudad started */
    uint64_t gpu_memory;     /* bytes of it that all sessions hold now, */
    uint64_t gpu_limit;      /* and that they may; 0: no limit */
    struct vcuda_stats sums; /* of the counters, and of pages now */
};

struct domain {
    uint32_t domid;
    bool gone;           /* exists no more, but a worker of it may still be ending */
    struct totals ended; /* what its ended sessions add up to */
    struct totals shown; /* what was to be written last, */
    bool written;        /* is in its file, */
    bool told;           /* and in xenstore */
    struct domain *next;
};

static char *counters_dir;
static struct domain *domains;

/* The numbers count from this vcudad's start. What is no domain's id is not ours. */
static void remove_old(void) {
    DIR *dir = opendir(counters_dir);
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        if (!entry->d_name[strspn(entry->d_name, "0123456789")])
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    closedir(dir);
}

void domains_start(const char *state_dir) {
    int error = -ENOMEM;

    if (asprintf(&counters_dir, "%s/domains", state_dir) >= 0)
        error = textfile_make_dir(counters_dir);
    if (error)
        vcuda_log(VCUDA_LOG_WARNING, "no counters for domains: %s: %s", counters_dir,
                  strerror(-error));
    else
        remove_old();
}

static struct domain *domain_of(uint32_t domid) {
    struct domain *d = domains;

    while (d && d->domid != domid)
        d = d->next;
    if (d)
        return d;
    /* Lost numbers are better than a lost session: nothing is said about no memory. */
    d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->domid = domid;
    d->shown.sessions = UINT64_MAX; /* nothing yet */
    d->written = d->told = true;
    d->next = domains;
    domains = d;
    return d;
}

static void add_counters(struct vcuda_stats *sums, const struct vcuda_stats *stats) {
#define X(name, text) sums->name += vcuda_stats_get(&stats->name);
    VCUDA_COUNTERS(X)
#undef X
}

void domains_session_ended(const struct vcuda_supervise_session *session,
                           const struct vcuda_stats *stats) {
    struct domain *d = session->domid == VCUDA_SUPERVISE_LOCAL ? NULL : domain_of(session->domid);

    if (!d)
        return;
    d->ended.sessions_ended++;
    add_counters(&d->ended.sums, stats);
}

static bool write_counters(const struct domain *d) {
    const struct totals *t = &d->shown;
    char name[16];
    char text[1024];
    int n = snprintf(text, sizeof(text), "sessions %" PRIu64 "\nsessions_ended %" PRIu64 "\n",
                     t->sessions, t->sessions_ended);

    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "gpu_memory %" PRIu64 "\ngpu_memory_limit %" PRIu64 "\n", t->gpu_memory,
                  t->gpu_limit);
    n += snprintf(text + n, sizeof(text) - (size_t)n, "pages %" PRIu64 "\n", t->sums.pages);
#define X(name, text_)                                                                             \
    n += snprintf(text + n, sizeof(text) - (size_t)n, #name " %" PRIu64 "\n", t->sums.name);
    VCUDA_COUNTERS(X)
#undef X
    snprintf(name, sizeof(name), "%u", d->domid);
    /* A full /run is told once, by the status file. */
    return !textfile_write(counters_dir, name, text, (size_t)n);
}

static void add_live(struct totals *totals, const struct worker *worker) {
    totals->sessions++;
    totals->gpu_memory = owners_held_in_all(worker->owner);
    totals->gpu_limit = worker->session.memory_limit;
    totals->sums.pages += vcuda_stats_get(&worker->spawned.stats->pages);
    add_counters(&totals->sums, worker->spawned.stats);
}

/* What is to be written of a domain differs from what was. */
static void change(struct domain *d, const struct totals *now) {
    if (!memcmp(now, &d->shown, sizeof(*now)))
        return;
    if (now->sessions != d->shown.sessions || now->sums.pages != d->shown.sums.pages ||
        now->gpu_memory != d->shown.gpu_memory)
        d->told = false;
    d->written = false;
    d->shown = *now;
}

/* True: nothing is left to be written. */
static bool publish(struct domain *d, const struct pool *pool) {
    struct totals now = d->ended;

    for (const struct worker *w = pool->workers; w; w = w->next) {
        if (w->state == SERVING && w->session.domid == d->domid)
            add_live(&now, w);
    }
    if (d->gone) {
        d->shown.sessions = now.sessions;
        return true;
    }
    change(d, &now);
    if (!d->written)
        d->written = write_counters(d);
    if (!d->told)
        d->told = xen_publish(d->domid, (uint32_t)now.sessions, now.sums.pages, now.gpu_memory);
    return d->written && d->told;
}

/* A domain's entry outlives its last worker, whose end would make a new one. */
static void drop_gone(void) {
    struct domain **link = &domains;

    while (*link) {
        struct domain *d = *link;

        if (!d->gone || d->shown.sessions) {
            link = &d->next;
            continue;
        }
        *link = d->next;
        free(d);
    }
}

bool domains_publish(const struct pool *pool) {
    bool all = true;

    for (const struct worker *w = pool->workers; w; w = w->next) {
        if (w->state == SERVING && w->session.domid != VCUDA_SUPERVISE_LOCAL)
            domain_of(w->session.domid);
    }
    for (struct domain *d = domains; d; d = d->next)
        all &= publish(d, pool);
    drop_gone();
    return all;
}

void domains_tell_anew(void) {
    for (struct domain *d = domains; d; d = d->next)
        d->told = false;
}

void domains_forget(uint32_t domid) {
    struct domain *d = domains;
    char name[16];

    snprintf(name, sizeof(name), "%u", domid);
    textfile_remove(counters_dir, name);
    while (d && d->domid != domid)
        d = d->next;
    if (d)
        d->gone = true;
}
