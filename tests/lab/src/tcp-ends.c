// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of what vcuda is compared with: TCP over netfront and netback, as anybody would write
 * it (one connection, TCP_NODELAY).
 *
 *   tcp-ends serve PORT                            dom0: a process for each connection
 *   tcp-ends [-b] [-p MICROSECONDS] ping HOST PORT N   64 bytes there and back, N times
 *   tcp-ends up|down HOST PORT BYTES               a stream to the server, or from it
 *
 *   -b  both ends look for bytes without pause instead of sleeping in read
 *   -p  pause after each ping, so that the other end sleeps when the next one comes
 *
 * ping prints the samples' line (samples.h), up and down "bytes=N ns=N".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "samples.h"

#define MESSAGE 64
#define CHUNK (256 << 10)

enum mode { PING = 'p', UP = 'u', DOWN = 'd' };

/* What the client wants of the server: the first bytes of a connection. */
struct wish {
    char mode;
    char busy;
    char pad[6];
    long bytes;
};

static char buffer[CHUNK];

static void die(const char *what) {
    fprintf(stderr, "tcp-ends: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Exactly size bytes; false when the other end has closed first. */
static int get(int fd, void *to, size_t size, int busy) {
    size_t at = 0;

    while (at < size) {
        ssize_t n = recv(fd, (char *)to + at, size - at, busy ? MSG_DONTWAIT : 0);

        if (n == 0)
            return 0;
        if (n > 0)
            at += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            die("recv");
    }
    return 1;
}

static void put(int fd, const void *from, size_t size) {
    size_t at = 0;

    while (at < size) {
        ssize_t n = send(fd, (const char *)from + at, size - at, MSG_NOSIGNAL);

        if (n > 0)
            at += (size_t)n;
        else if (errno != EINTR)
            die("send");
    }
}

static void put_all(int fd, long bytes) {
    for (long size; bytes > 0; bytes -= size) {
        size = bytes < CHUNK ? bytes : CHUNK;
        put(fd, buffer, (size_t)size);
    }
}

static void get_all(int fd, long bytes) {
    while (bytes > 0) {
        ssize_t n = recv(fd, buffer, CHUNK, 0);

        if (n > 0)
            bytes -= n;
        else if (n == 0 || errno != EINTR)
            die("recv");
    }
}

static void no_delay(int fd) {
    int one = 1;

    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
        die("TCP_NODELAY");
}

/* ---- dom0's end ---------------------------------------------------------- */

static void serve_one(int fd) {
    char message[MESSAGE];
    struct wish wish;

    no_delay(fd);
    if (!get(fd, &wish, sizeof(wish), 0))
        return;
    switch (wish.mode) {
    case PING:
        while (get(fd, message, sizeof(message), wish.busy))
            put(fd, message, sizeof(message));
        break;
    case UP:
        get_all(fd, wish.bytes);
        put(fd, "!", 1); /* all of it has arrived */
        break;
    case DOWN:
        put_all(fd, wish.bytes);
        break;
    }
}

static int serve(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 4))
        die("listen");
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            continue;
        if (!fork()) {
            serve_one(fd);
            _exit(0);
        }
        close(fd);
    }
}

/* ---- the guest's end ----------------------------------------------------- */

static int ask(const char *host, const char *port, const struct wish *wish) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (!inet_aton(host, &at.sin_addr) || connect(fd, (struct sockaddr *)&at, sizeof(at)))
        die(host);
    no_delay(fd);
    put(fd, wish, sizeof(*wish));
    return fd;
}

static void ping(int fd, long count, int busy, unsigned int pause_us) {
    char message[MESSAGE] = {0};
    struct samples s;

    samples_init(&s, count);
    for (long i = -count / 10; i < count; i++) {
        long begun = samples_now_ns();

        put(fd, message, sizeof(message));
        if (!get(fd, message, sizeof(message), busy))
            die("the server has gone");
        if (i >= 0)
            samples_add(&s, begun);
        if (pause_us)
            usleep(pause_us);
    }
    samples_print(&s);
}

static void stream(int fd, const struct wish *wish) {
    long begun = samples_now_ns();

    if (wish->mode == UP) {
        put_all(fd, wish->bytes);
        if (!get(fd, buffer, 1, 0))
            die("the server has gone");
    } else {
        get_all(fd, wish->bytes);
    }
    printf("bytes=%ld ns=%ld\n", wish->bytes, samples_now_ns() - begun);
}

static int usage(void) {
    fprintf(stderr, "usage: tcp-ends serve PORT\n"
                    "       tcp-ends [-b] [-p MICROSECONDS] ping HOST PORT N\n"
                    "       tcp-ends up|down HOST PORT BYTES\n");
    return 2;
}

int main(int argc, char **argv) {
    struct wish wish = {0};
    unsigned int pause_us = 0;
    int option, fd;
    long number;

    vcuda_clock_start();
    while ((option = getopt(argc, argv, "bp:")) != -1) {
        if (option == 'b')
            wish.busy = 1;
        else if (option == 'p')
            pause_us = (unsigned int)atoi(optarg);
        else
            return usage();
    }
    argv += optind;
    if (argc - optind == 2 && !strcmp(argv[0], "serve"))
        return serve(atoi(argv[1]));
    if (argc - optind != 4)
        return usage();
    wish.mode = argv[0][0];
    number = atol(argv[3]);
    if (number <= 0 || !strchr("pud", wish.mode))
        return usage();
    wish.bytes = number;
    fd = ask(argv[1], argv[2], &wish);
    if (wish.mode == PING)
        ping(fd, number, wish.busy, pause_us);
    else
        stream(fd, &wish);
    close(fd);
    return 0;
}
