// SPDX-License-Identifier: Apache-2.0
/*
 * dom0's side of a guest's agent (wire.h):
 *
 *   ask GUEST SECONDS COMMAND
 *
 * runs COMMAND with sh in the guest, prints its output and ends with its status; with 124 when it
 * took longer than SECONDS, with 125 when the guest's console is gone. /run/lab/GUEST.terminal
 * names the console's terminal, /run/lab/GUEST.console is where somebody drains it to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

#define TOO_LONG 124
#define GONE 125
#define ASK_AGAIN_MS 5000
#define LOOK_MS 250 /* should a change have been missed */

static const char *guest;
static char id[ID_LENGTH + 1];

/* What has come since we asked. */
static struct {
    char *text;
    size_t size, room;
    off_t from;
    int fd;
} heard;

static void die(const char *what) {
    fprintf(stderr, "ask: %s: %s\n", what, strerror(errno));
    exit(GONE);
}

static long now_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void path_of(char *path, size_t size, const char *what) {
    snprintf(path, size, "/run/lab/%s.%s", guest, what);
}

static int terminal(void) {
    char path[256], name[256] = "";
    FILE *in;
    int fd;

    path_of(path, sizeof(path), "terminal");
    in = fopen(path, "re");
    if (!in || !fgets(name, sizeof(name), in))
        die(path);
    fclose(in);
    name[strcspn(name, "\n")] = '\0';
    fd = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        die(name);
    return fd;
}

/* One line to the agent; two writers must not mix. */
static void say(const char *verb, const char *rest) {
    char path[256];
    int lock, fd = terminal();

    path_of(path, sizeof(path), "lock");
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX))
        die(path);
    if (dprintf(fd, "%s %s %s\n", verb, id, rest) < 0)
        die("the console");
    close(fd);
    close(lock);
}

static void hear(void) {
    ssize_t n;

    do {
        if (heard.room - heard.size < 65536) {
            heard.room = heard.room ? heard.room * 2 : 131072;
            heard.text = realloc(heard.text, heard.room);
            if (!heard.text)
                die("memory");
        }
        n = pread(heard.fd, heard.text + heard.size, heard.room - heard.size - 1,
                  heard.from + (off_t)heard.size);
        for (ssize_t i = 0; i < n; i++) /* a text for strstr() whatever comes */
            if (!heard.text[heard.size + (size_t)i])
                heard.text[heard.size + (size_t)i] = ' ';
        heard.size += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    heard.text[heard.size] = '\0';
}

/* The answer that begins at `line`, if it is whole and undamaged: prints it and ends. */
static void take(const char *line) {
    unsigned int crc;
    int status, at = 0;
    const char *end;
    uint8_t *output;
    long size;

    if (sscanf(line + 1 + ID_LENGTH, "%d %x %n", &status, &crc, &at) != 2 || !at)
        return;
    line += 1 + ID_LENGTH + at;
    /* An empty output has one blank only, which %n has passed. */
    end = *line == '.' ? line : strstr(line, " .");
    if (!end)
        return;
    output = malloc((size_t)(end - line) + 1);
    if (!output)
        die("memory");
    size = wire_decode(output, line, (size_t)(end - line));
    if (size >= 0 && wire_crc32(output, (size_t)size) == crc) {
        fwrite(output, 1, (size_t)size, stdout);
        exit(fflush(stdout) ? GONE : status);
    }
    free(output);
}

static void look(void) {
    char mark[ID_LENGTH + 3];

    hear();
    snprintf(mark, sizeof(mark), "@%s ", id);
    for (const char *at = heard.text; (at = strstr(at, mark)); at++)
        take(at);
}

static void make_id(void) {
    uint8_t bytes[ID_LENGTH / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        die("getrandom");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* Wakes us when the console's file grows. */
static int watch_console(void) {
    char path[256];
    struct stat st;
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    path_of(path, sizeof(path), "console");
    heard.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (heard.fd < 0 || fstat(heard.fd, &st) || fd < 0 ||
        inotify_add_watch(fd, path, IN_MODIFY) < 0)
        die(path);
    heard.from = st.st_size;
    return fd;
}

static void wait_for_answer(int watch, long end) {
    long asked = now_ms();
    char events[4096];

    for (;;) {
        struct pollfd p = {.fd = watch, .events = POLLIN};

        poll(&p, 1, LOOK_MS);
        while (read(watch, events, sizeof(events)) > 0)
            ;
        look();
        if (now_ms() >= end)
            return;
        if (now_ms() - asked >= ASK_AGAIN_MS) {
            say("again", "");
            asked = now_ms();
        }
    }
}

int main(int argc, char **argv) {
    char *text;
    size_t length;
    int watch;

    if (argc != 4) {
        fprintf(stderr, "usage: ask GUEST SECONDS COMMAND\n");
        return 2;
    }
    guest = argv[1];
    length = strlen(argv[3]);
    text = calloc(1, wire_encoded(length) + 1);
    if (!text)
        die("memory");
    wire_encode(text, (const uint8_t *)argv[3], length);
    make_id();
    watch = watch_console();
    say("run", text);
    wait_for_answer(watch, now_ms() + 1000 * atol(argv[2]));
    say("stop", "");
    return TOO_LONG;
}
