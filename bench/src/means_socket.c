// SPDX-License-Identifier: Apache-2.0
/* Records over connected stream sockets, with one system call for each on the caller's side. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "means.h"

#define BUFFER (256u * 1024)

static void set_busy(int fd, bool busy) {
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, busy ? flags | O_NONBLOCK : flags & ~O_NONBLOCK))
        means_fail("fcntl");
}

/* Some bytes; a socket that does not block is asked until it has some. */
static uint32_t receive(int fd, void *buffer, uint32_t room) {
    for (;;) {
        ssize_t n = recv(fd, buffer, room, 0);

        if (n > 0)
            return (uint32_t)n;
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            means_fail("recv");
        __builtin_ia32_pause();
    }
}

static void send_all(int fd, const void *data, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes;) {
        ssize_t n = send(fd, (const uint8_t *)data + at, bytes - at, MSG_NOSIGNAL);

        if (n > 0)
            at += (uint32_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            means_fail("send");
    }
}

/* Takes as many records at once as there are, as a server would that wants to be fast. */
static void serve(const struct means_order *o, void *arg) {
    static uint8_t buffer[BUFFER];
    uint8_t answer[MEANS_CALL_BYTES] = {0};
    uint32_t have = 0;
    int fd = *(int *)arg;

    set_busy(fd, o->busy);
    for (uint32_t left = o->count; left;) {
        uint32_t at = 0;

        have += receive(fd, buffer + have, BUFFER - have);
        while (have - at >= sizeof(struct vcuda_rec)) {
            const struct vcuda_rec *head = (const struct vcuda_rec *)(buffer + at);

            if (head->len > have - at)
                break;
            if (head->tag)
                send_all(fd, answer, sizeof(answer));
            at += head->len;
            left--;
        }
        memmove(buffer, buffer + at, have - at);
        have -= at;
    }
}

static void turn(struct means *m, bool busy, uint32_t count) {
    set_busy(m->fd, busy);
    means_order(m, busy, count);
}

static void call(struct means *m) {
    struct {
        struct vcuda_rec head;
        uint64_t slot;
    } record = {{.len = MEANS_CALL_BYTES, .tag = 1}, 0};
    uint8_t answer[MEANS_CALL_BYTES];

    send_all(m->fd, &record, sizeof(record));
    for (uint32_t have = 0; have < sizeof(answer);)
        have += receive(m->fd, answer + have, (uint32_t)sizeof(answer) - have);
}

static void post(struct means *m, uint32_t params) {
    struct {
        struct vcuda_rec head;
        uint8_t body[VCUDA_REC_MAX - sizeof(struct vcuda_rec)];
    } record;

    record.head = (struct vcuda_rec){.len = MEANS_LAUNCH_BYTES + params};
    memset(record.body, 0, record.head.len - sizeof(record.head));
    send_all(m->fd, &record, record.head.len);
}

static void open_means(struct means *m, const char *name, int client, int server) {
    int *peer = malloc(sizeof(*peer));

    if (!peer)
        means_fail("malloc");
    *peer = server;
    *m = (struct means){.name = name,
                        .looks = true,
                        .sleeps = true,
                        .turn = turn,
                        .call = call,
                        .post = post,
                        .fd = client};
    means_fork(m, serve, peer);
    close(server);
    free(peer);
}

void means_unix(struct means *m) {
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        means_fail("socketpair");
    open_means(m, "Unix socket", fds[0], fds[1]);
}

void means_tcp(struct means *m) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    int server, one = 1;

    if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &len) ||
        connect(client, (struct sockaddr *)&at, len))
        means_fail("TCP on the loopback");
    server = accept(listener, NULL, NULL);
    if (server < 0 || setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
        means_fail("TCP on the loopback");
    close(listener);
    open_means(m, "TCP", client, server);
}
