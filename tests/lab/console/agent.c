// SPDX-License-Identifier: Apache-2.0
/*
 * The guest's first program after its /init: runs commands that dom0 sends over the console, and
 * sends back output and status (wire.h). Each command has a session of its own, so that `stop`
 * reaches all its processes. A program, since starting processes is what takes time in emulation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "wire.h"

#define CONSOLE "/dev/hvc0"
#define FOLDER "/run/agent"
#define LINE_MAX_BYTES 16384

struct job {
    struct job *next;
    char id[ID_LENGTH + 1];
    pid_t pid;
    int done;
    int status; /* as the shell's $? */
};

static struct job *jobs;
static int console;

static struct job *job_of(const char *id) {
    struct job *j = jobs;

    while (j && strcmp(j->id, id))
        j = j->next;
    return j;
}

static void output_path(const struct job *j, char *path, size_t size) {
    snprintf(path, size, FOLDER "/%s", j->id);
}

static void write_all(const char *bytes, size_t size) {
    while (size) {
        ssize_t n = write(console, bytes, size);

        if (n < 0 && errno != EINTR)
            return;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

/* The output's bytes, which the caller frees. */
static uint8_t *read_output(const struct job *j, size_t *size) {
    char path[64];
    struct stat st;
    uint8_t *bytes;
    ssize_t n;
    int fd;

    *size = 0;
    output_path(j, path, sizeof(path));
    fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) || !(bytes = malloc((size_t)st.st_size + 1)))
        exit(1); /* dom0 sees the guest's kernel panic */
    while (*size < (size_t)st.st_size &&
           (n = read(fd, bytes + *size, (size_t)st.st_size - *size)) > 0)
        *size += (size_t)n;
    close(fd);
    return bytes;
}

static void send_answer(const struct job *j) {
    size_t size;
    uint8_t *bytes = read_output(j, &size);
    char *line = malloc(wire_encoded(size) + 64);
    int at;

    if (!line)
        exit(1);
    at = sprintf(line, "@%s %d %08x ", j->id, j->status, wire_crc32(bytes, size));
    wire_encode(line + at, bytes, size);
    at += (int)wire_encoded(size);
    memcpy(line + at, " .\n", 3);
    write_all(line, (size_t)at + 3);
    free(line);
    free(bytes);
}

/* In the child: never returns. */
static void become(const struct job *j, const char *command) {
    sigset_t none;
    char path[64];
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out;

    output_path(j, path, sizeof(path));
    out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static void run(const char *id, const char *text) {
    char command[LINE_MAX_BYTES];
    long size = wire_decode((uint8_t *)command, text, strlen(text));
    struct job *j;

    if (size < 0 || job_of(id))
        return; /* damaged: dom0 will see no answer; or sent twice */
    command[size] = '\0';
    j = calloc(1, sizeof(*j));
    if (!j)
        exit(1);
    strcpy(j->id, id);
    j->next = jobs;
    jobs = j;
    j->pid = fork();
    if (!j->pid)
        become(j, command);
}

static void obey(char *line) {
    char verb[8], id[ID_LENGTH + 1];
    int at = 0;
    struct job *j;

    if (sscanf(line, "%7s %16s %n", verb, id, &at) != 2 || strlen(id) != ID_LENGTH)
        return;
    j = job_of(id);
    if (!strcmp(verb, "run"))
        run(id, line + at);
    else if (!strcmp(verb, "again") && j && j->done)
        send_answer(j);
    else if (!strcmp(verb, "stop") && j && !j->done)
        kill(-j->pid, SIGKILL);
}

/* Takes the bytes that have come apart into lines. */
static void hear(void) {
    static char line[LINE_MAX_BYTES];
    static size_t length;
    char bytes[1024];
    ssize_t n = read(console, bytes, sizeof(bytes));

    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            line[length] = '\0';
            obey(line);
            length = 0;
        } else if (length < sizeof(line) - 1) {
            line[length++] = bytes[i];
        }
    }
}

/* Whose parents have ended are the first process's, too. */
static void reap(void) {
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (struct job *j = jobs; j; j = j->next) {
            if (j->pid != pid || j->done)
                continue;
            j->done = 1;
            j->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            send_answer(j);
        }
    }
}

/* Raw lines both ways; what children print goes elsewhere. */
static void open_console(void) {
    struct termios t;

    console = open(CONSOLE, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (console < 0 || tcgetattr(console, &t))
        exit(1);
    cfmakeraw(&t);
    if (tcsetattr(console, TCSANOW, &t))
        exit(1);
}

int main(void) {
    struct signalfd_siginfo info;
    struct pollfd p[2];
    sigset_t child;

    mkdir(FOLDER, 0700);
    open_console();
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    p[0] = (struct pollfd){.fd = console, .events = POLLIN};
    p[1] = (struct pollfd){.fd = signalfd(-1, &child, SFD_CLOEXEC), .events = POLLIN};
    write_all("@ready\n", 7);
    for (;;) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents && read(p[1].fd, &info, sizeof(info)) > 0)
            reap();
        if (p[0].revents)
            hear();
    }
}
