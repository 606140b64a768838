// SPDX-License-Identifier: Apache-2.0
#include "status.h"
#include "domains.h"
#include "log.h"
#include "owners.h"
#include "roster.h"
#include "textfile.h"
#include "xen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "status"
#define SOON_MS 20 /* several changes at once are written once */
#define WHILE_BUSY_MS 1000

static const struct options *options;
static const struct pool *pool;
static struct loop_timer timer;
static time_t started;
static int last_error;

static void put_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < ' ' || *c >= 0x7f)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void put_session(FILE *out, const struct worker *worker) {
    const struct vcuda_supervise_session *s = &worker->session;
    const struct vcuda_stats *stats = worker->spawned.stats;

    fprintf(out, "    {\"session\": %u, ", s->session);
    if (s->domid == VCUDA_SUPERVISE_LOCAL)
        fprintf(out, "\"transport\": \"local\", \"pid\": %u, \"uid\": %u, ", s->pid, s->uid);
    else
        fprintf(out, "\"transport\": \"xen\", \"domid\": %u, ", s->domid);
    fprintf(out, "\"worker\": %d, \"seconds\": %ld, \"gpus\": [", worker->spawned.pid,
            (long)(time(NULL) - worker->since));
    for (uint32_t i = 0; i < s->gpu_count; i++)
        fprintf(out, "%s%u", i ? ", " : "", s->gpus[i]);
    fprintf(out, "],\n     \"gpu_memory\": %" PRIu64 ", \"gpu_memory_limit\": %" PRIu64 ",",
            owners_held(worker->owner, s), s->memory_limit);
    fprintf(out, "\n     \"last_call\": %" PRIu64 ", \"pages\": %" PRIu64,
            vcuda_stats_get(&stats->last_call), vcuda_stats_get(&stats->pages));
#define X(name, text) fprintf(out, ", \"" #name "\": %" PRIu64, vcuda_stats_get(&stats->name));
    VCUDA_COUNTERS(X)
#undef X
    fputc('}', out);
}

static void put_driver(FILE *out) {
    fprintf(out,
            "  \"driver\": {\"version\": %u, \"devices\": %u, \"failure\": ", pool->driver_version,
            pool->devices);
    if (pool->failure[0])
        put_string(out, pool->failure);
    else
        fputs("null", out);
    fputs("},\n", out);
}

static void put_transports(FILE *out) {
    fputs("  \"local\": ", out);
    if (options->local)
        put_string(out, options->socket);
    else
        fputs("null", out);
    fputs(",\n  \"xen\": ", out);
    put_string(out, xen_state());
    fputs(",\n", out);
}

static void put_all(FILE *out) {
    const char *separator = "\n";

    fprintf(out, "{\n  \"version\": \"" VCUDA_RELEASE "\", \"pid\": %d, \"started\": %lld,\n",
            (int)getpid(), (long long)started);
    put_driver(out);
    put_transports(out);
    fprintf(out, "  \"workers\": {\"starting\": %u, \"ready\": %u, \"serving\": %u},\n",
            pool_count(pool, STARTING), pool_count(pool, IDLE), pool_count(pool, SERVING));
    fputs("  \"sessions\": [", out);
    for (const struct worker *w = pool->workers; w; w = w->next) {
        if (w->state != SERVING)
            continue;
        fputs(separator, out);
        put_session(out, w);
        separator = ",\n";
    }
    fputs("]\n}\n", out);
}

static int write_status(void) {
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int error;

    if (!out)
        return -errno;
    put_all(out);
    if (fclose(out))
        return -errno;
    error = textfile_write(options->state_dir, NAME, text, length);
    free(text);
    return error;
}

static void update(struct loop_timer *unused) {
    int error = write_status();
    bool told = domains_publish(pool);

    (void)unused;
    if (error && error != last_error)
        vcuda_log(VCUDA_LOG_WARNING, "cannot write %s/" NAME ": %s", options->state_dir,
                  strerror(-error));
    last_error = error;
    roster_refresh(pool);
    if (pool_count(pool, SERVING) || !told)
        loop_timer_set(&timer, WHILE_BUSY_MS);
}

void status_start(const struct options *use, const struct pool *show) {
    options = use;
    pool = show;
    started = time(NULL);
    timer.fire = update;
    textfile_remove(options->state_dir, NAME); /* of one that was killed */
    domains_start(options->state_dir);
}

void status_changed(void) {
    if (!timer.at || timer.at > loop_now() + SOON_MS)
        loop_timer_set(&timer, SOON_MS);
}

void status_session_ended(const struct vcuda_supervise_session *session,
                          const struct vcuda_stats *stats) {
    domains_session_ended(session, stats);
    status_changed();
}

void status_stop(void) {
    loop_timer_clear(&timer);
    domains_publish(pool);
    textfile_remove(options->state_dir, NAME);
}
