/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real vcudad in a folder of its own, and a local client of it. Everything
 * here fails the running test when it does not work within its time.
 */
#ifndef VCUDAD_TESTS_DAEMON_H
#define VCUDAD_TESTS_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

struct daemon {
    char dir[64];
    char socket[96];
    char log[96];
    pid_t pid;
};

/* What daemon_start() takes. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

/* Makes the folder. */
void daemon_init(struct daemon *daemon);
/* Starts vcudad with these arguments (ended by NULL) besides the folder's and --xen off. */
void daemon_start(struct daemon *daemon, const char *const *arguments);
/* Waits for the end of vcudad: its wait status. */
int daemon_wait(struct daemon *daemon);
/* SIGTERM, and the end with status 0. */
void daemon_stop(struct daemon *daemon);
/* Removes the folder; ends what runs still. */
void daemon_finish(struct daemon *daemon);

/* Waits until the status file has text. */
void daemon_expect_status(const struct daemon *daemon, const char *text);
/* The number behind name, after the first place that has text, in the status file now. */
long daemon_status_number(const struct daemon *daemon, const char *text, const char *name);
/* Waits until that number is more than 0. */
void daemon_expect_counted(const struct daemon *daemon, const char *text, const char *name);
/* Waits until the log has text. */
void daemon_expect_log(const struct daemon *daemon, const char *text);
/* How often text is in the log now. */
unsigned daemon_count_log(const struct daemon *daemon, const char *text);
/* A worker that was started besides the one given. */
pid_t daemon_other_worker(const struct daemon *daemon, pid_t worker);

/* Waits until the worker runs its own program, of that name. */
void daemon_expect_program(pid_t worker, const char *name);

/* A client that says nothing yet. */
int client_connect_silent(const struct daemon *daemon);
/* A connection that has sent LOCAL_OPEN. */
int client_connect(const struct daemon *daemon);
/* The status that LOCAL_OPENED brings; end of file counts as -EPIPE. */
int client_opened(int fd);
/* Whether the peer has closed the connection within a second. */
bool client_sees_end(int fd);

/* Whether the process exists, within a second of waiting for its end. */
bool process_ends(pid_t pid);

#endif
