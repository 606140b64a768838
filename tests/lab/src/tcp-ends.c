// SPDX-License-Identifier: Apache-2.0
/*
 * Both ends of what vcuda is compared with: TCP over netfront and netback, as anybody would write
 * it (one connection, TCP_NODELAY).
 *
 *   tcp-ends serve PORT                        dom0: a process for each connection
 *   tcp-ends [OPTION...] ping HOST PORT N      a message there and 64 bytes back, N times
 *   tcp-ends [OPTION...] up|down HOST PORT BYTES   a stream to the server, or from it
 *
 *   -a SECONDS       begins at that second of the day, so that several begin together
 *   -b               both ends of a ping look for bytes without pause instead of sleeping in read
 *   -m BYTES         of each message: of a ping (64), of what is given to send at once in a stream
 *                    (256 KiB)
 *   -p MICROSECONDS  pause after each ping, so that the other end sleeps when the next one comes
 *   -t MILLISECONDS  again and again for that long, over the same connection
 *
 * An eighth goes first and is not measured. ping prints the samples' line (samples.h), up and down
 * "bytes=N ns=N", with -t all "times=N ns=N".
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

#define ANSWER 64
#define CHUNK (256 << 10)
#define LARGEST (16 << 20)

enum mode { PING = 'p', UP = 'u', DOWN = 'd' };

/* What the client wants of the server next. */
struct wish {
    char mode;
    char busy;
    char pad[6];
    long amount;  /* pings, or bytes of a stream */
    long message; /* bytes */
};

static char *buffer;
static long room;

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

/* Touched already: no page fault is measured. */
static void make_room(long message) {
    long wanted = message > CHUNK ? message : CHUNK;

    if (room >= wanted)
        return;
    free(buffer);
    buffer = malloc((size_t)wanted);
    if (!buffer)
        die("memory");
    memset(buffer, 1, (size_t)wanted);
    room = wanted;
}

static void put_all(int fd, long bytes, long message) {
    for (long size; bytes > 0; bytes -= size) {
        size = bytes < message ? bytes : message;
        put(fd, buffer, (size_t)size);
    }
}

/* As much at once as has come, however it was sent. */
static void get_all(int fd, long bytes) {
    while (bytes > 0) {
        ssize_t n = recv(fd, buffer, (size_t)(bytes < room ? bytes : room), 0);

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

static void answer(int fd, const struct wish *wish) {
    for (long i = 0; i < wish->amount; i++) {
        if (!get(fd, buffer, (size_t)wish->message, wish->busy))
            return;
        put(fd, buffer, ANSWER);
    }
}

static void serve_one(int fd) {
    struct wish wish;

    no_delay(fd);
    while (get(fd, &wish, sizeof(wish), 0) && wish.message > 0 && wish.message <= LARGEST) {
        make_room(wish.message);
        switch (wish.mode) {
        case PING:
            answer(fd, &wish);
            break;
        case UP:
            get_all(fd, wish.amount);
            put(fd, "!", 1); /* all of it has arrived */
            break;
        case DOWN:
            put_all(fd, wish.amount, wish.message);
            break;
        }
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

static int reach(const char *host, const char *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (!inet_aton(host, &at.sin_addr) || connect(fd, (struct sockaddr *)&at, sizeof(at)))
        die(host);
    no_delay(fd);
    return fd;
}

static void ping(int fd, const struct wish *wish, unsigned int pause_us, struct samples *s) {
    for (long i = 0; i < wish->amount; i++) {
        long begun = samples_now_ns();

        put(fd, buffer, (size_t)wish->message);
        if (!get(fd, buffer, ANSWER, wish->busy))
            die("the server has gone");
        samples_add(s, begun);
        if (pause_us)
            usleep(pause_us);
    }
}

static void stream(int fd, const struct wish *wish) {
    if (wish->mode == DOWN) {
        get_all(fd, wish->amount);
        return;
    }
    put_all(fd, wish->amount, wish->message);
    if (!get(fd, buffer, 1, 0))
        die("the server has gone");
}

/* All that is wanted, once: the nanoseconds it took. */
static long once(int fd, const struct wish *wish, unsigned int pause_us, struct samples *s) {
    long begun = samples_now_ns();

    put(fd, wish, sizeof(*wish));
    if (wish->mode == PING)
        ping(fd, wish, pause_us, s);
    else
        stream(fd, wish);
    return samples_now_ns() - begun;
}

static void measure(int fd, const struct wish *wish, unsigned int pause_us, long run_ms,
                    long begin_at) {
    struct wish first = *wish;
    long times = 0, took = 0;
    struct samples s;

    make_room(wish->message);
    first.amount = (first.amount + 7) / 8;
    samples_init(&s, first.amount);
    once(fd, &first, pause_us, &s);
    samples_init(&s, wish->mode == PING ? wish->amount : 1);
    samples_sleep_until(begin_at);
    do {
        took += once(fd, wish, pause_us, &s);
        times++;
    } while (took < run_ms * 1000000);
    if (run_ms)
        printf("times=%ld ns=%ld\n", times, took);
    else if (wish->mode == PING)
        samples_print(&s);
    else
        printf("bytes=%ld ns=%ld\n", wish->amount, took);
}

static int usage(void) {
    fprintf(stderr, "usage: tcp-ends serve PORT\n"
                    "       tcp-ends [OPTION...] ping HOST PORT N\n"
                    "       tcp-ends [OPTION...] up|down HOST PORT BYTES\n"
                    "options: -a SECONDS -b -m BYTES -p MICROSECONDS -t MILLISECONDS\n");
    return 2;
}

int main(int argc, char **argv) {
    struct wish wish = {0};
    unsigned int pause_us = 0;
    long run_ms = 0, begin_at = 0;
    int option;

    while ((option = getopt(argc, argv, "a:bm:p:t:")) != -1) {
        if (option == 'a')
            begin_at = atol(optarg);
        else if (option == 'b')
            wish.busy = 1;
        else if (option == 'm')
            wish.message = atol(optarg);
        else if (option == 'p')
            pause_us = (unsigned int)atoi(optarg);
        else if (option == 't')
            run_ms = atol(optarg);
        else
            return usage();
    }
    argv += optind;
    if (argc - optind == 2 && !strcmp(argv[0], "serve"))
        return serve(atoi(argv[1]));
    if (argc - optind != 4)
        return usage();
    wish.mode = argv[0][0];
    wish.amount = atol(argv[3]);
    if (!wish.message)
        wish.message = wish.mode == PING ? ANSWER : CHUNK;
    if (wish.amount <= 0 || wish.message < 0 || wish.message > LARGEST || !strchr("pud", wish.mode))
        return usage();
    measure(reach(argv[1], argv[2]), &wish, pause_us, run_ms, begin_at);
    return 0;
}
