// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"
#include "local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 5000
#define STEP_MS 10
#define ARGUMENTS_MAX 24

void daemon_init(struct daemon *daemon) {
    *daemon = (struct daemon){.pid = -1};
    /* Workers whose vcudad was killed come to us, so that we see their end. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    strcpy(daemon->dir, "/tmp/vcudad-test-XXXXXX");
    assert_non_null(mkdtemp(daemon->dir));
    snprintf(daemon->socket, sizeof(daemon->socket), "%s/vcudad.sock", daemon->dir);
    snprintf(daemon->log, sizeof(daemon->log), "%s/log", daemon->dir);
}

void daemon_start(struct daemon *daemon, const char *const *arguments) {
    /* As many workers as the test says, and no more. */
    const char *line[ARGUMENTS_MAX] = {VCUDAD,        "-vv",       "--xen",    "off",
                                       "--state-dir", daemon->dir, "--worker", PROBE_WORKER,
                                       "--burst",     "0"};
    int count = 10;

    while (*arguments && count < ARGUMENTS_MAX - 1)
        line[count++] = *arguments++;
    daemon->pid = fork();
    assert_true(daemon->pid >= 0);
    if (daemon->pid)
        return;

    int log = open(daemon->log, O_WRONLY | O_CREAT | O_APPEND, 0644);

    dup2(log, STDERR_FILENO);
    execv(VCUDAD, (char **)line);
    _exit(127);
}

/* PATIENCE_MS for a child's end; -1 if it goes on. */
static int wait_for_child(pid_t pid) {
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        int status;

        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        usleep(STEP_MS * 1000);
    }
    return -1;
}

int daemon_wait(struct daemon *daemon) {
    int status = wait_for_child(daemon->pid);

    assert_int_not_equal(status, -1);
    daemon->pid = -1;
    return status;
}

void daemon_stop(struct daemon *daemon) {
    assert_int_equal(kill(daemon->pid, SIGTERM), 0);
    assert_int_equal(daemon_wait(daemon), 0);
}

void daemon_finish(struct daemon *daemon) {
    char command[128];

    if (daemon->pid > 0) {
        kill(daemon->pid, SIGTERM);
        if (wait_for_child(daemon->pid) == -1)
            kill(daemon->pid, SIGKILL);
    }
    snprintf(command, sizeof(command), "rm -rf %s", daemon->dir);
    assert_int_equal(system(command), 0);
}

static char *read_file(const char *path) {
    static char text[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = 0;
    return text;
}

static void expect(const char *path, const char *text) {
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        if (strstr(read_file(path), text))
            return;
        usleep(STEP_MS * 1000);
    }
    fail_msg("no '%s' in %s:\n%s", text, path, read_file(path));
}

void daemon_expect_status(const struct daemon *daemon, const char *text) {
    char path[96];

    snprintf(path, sizeof(path), "%s/status", daemon->dir);
    expect(path, text);
}

long daemon_status_number(const struct daemon *daemon, const char *text, const char *name) {
    char path[96];
    const char *at;

    snprintf(path, sizeof(path), "%s/status", daemon->dir);
    at = strstr(read_file(path), text);
    at = at ? strstr(at, name) : NULL;
    if (!at)
        fail_msg("no %s after %s in the status", name, text);
    return atol(at + strlen(name));
}

void daemon_expect_counted(const struct daemon *daemon, const char *text, const char *name) {
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        if (daemon_status_number(daemon, text, name) > 0)
            return;
        usleep(STEP_MS * 1000);
    }
    fail_msg("%s after %s in the status stays 0", name, text);
}

void daemon_expect_log(const struct daemon *daemon, const char *text) {
    expect(daemon->log, text);
}

unsigned daemon_count_log(const struct daemon *daemon, const char *text) {
    unsigned count = 0;

    for (const char *at = read_file(daemon->log); (at = strstr(at, text)); at++)
        count++;
    return count;
}

pid_t daemon_other_worker(const struct daemon *daemon, pid_t worker) {
    int other = -1;

    for (const char *at = read_file(daemon->log); (at = strstr(at, ": worker ")); at++) {
        int pid;
        int end = 0;

        if (sscanf(at, ": worker %d starts%n", &pid, &end) == 1 && end && pid != worker)
            other = pid;
    }
    assert_true(other > 0);
    return other;
}

void daemon_expect_program(pid_t worker, const char *name) {
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        char link[32], path[256];
        ssize_t length;

        snprintf(link, sizeof(link), "/proc/%d/exe", (int)worker);
        length = readlink(link, path, sizeof(path) - 1);
        assert_true(length > 0);
        path[length] = 0;
        if (strstr(path, name))
            return;
        usleep(STEP_MS * 1000);
    }
    fail_msg("worker %d does not run %s", (int)worker, name);
}

/* vcudad may not listen yet. */
static int connect_soon(const struct sockaddr_un *address) {
    for (int waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        assert_true(fd >= 0);
        if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
            return fd;
        close(fd);
        usleep(STEP_MS * 1000);
    }
    fail_msg("cannot connect to %s: %s", address->sun_path, strerror(errno));
    return -1;
}

int client_connect_silent(const struct daemon *daemon) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(address.sun_path, daemon->socket);
    return connect_soon(&address);
}

int client_connect(const struct daemon *daemon) {
    struct vcuda_local_msg open = {.op = VCUDA_LOCAL_OPEN, .version = 1};
    int fd = client_connect_silent(daemon);

    assert_int_equal(send(fd, &open, sizeof(open), MSG_NOSIGNAL), sizeof(open));
    return fd;
}

static bool readable(int fd, int ms) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, ms) == 1;
}

int client_opened(int fd) {
    struct vcuda_local_msg opened;
    ssize_t got;

    assert_true(readable(fd, PATIENCE_MS));
    got = recv(fd, &opened, sizeof(opened), 0);
    if (got <= 0)
        return -EPIPE;
    assert_int_equal(got, sizeof(opened));
    assert_int_equal(opened.op, VCUDA_LOCAL_OPENED);
    return opened.status;
}

bool client_sees_end(int fd) {
    char byte;

    return readable(fd, 1000) && recv(fd, &byte, 1, 0) <= 0;
}

bool process_ends(pid_t pid) {
    for (int waited = 0; waited < 1000; waited += STEP_MS) {
        waitpid(pid, NULL, WNOHANG); /* ours, once its vcudad is gone */
        if (kill(pid, 0) && errno == ESRCH)
            return true;
        usleep(STEP_MS * 1000);
    }
    return false;
}
