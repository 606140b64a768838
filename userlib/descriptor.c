// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barrier.h"
#include "wire.h"

/* What lies in the queue. It tells other sockets apart, and other releases. */
static const char magic[12] = "vcuda share1";

struct message {
    char magic[sizeof(magic)];
    uint32_t kind;
    struct descriptor_token token;
};

/* The library's end of one. */
struct kept {
    int fd;
    struct descriptor_token token;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int watch = -1; /* tells which ends have lost their peers */
static uint32_t count;

/* Under the lock. */
static bool keep(int fd, const struct descriptor_token *token) {
    struct epoll_event event = {0};
    struct kept *k;

    if (watch < 0)
        watch = epoll_create1(EPOLL_CLOEXEC);
    k = watch < 0 ? NULL : malloc(sizeof(*k));
    if (!k)
        return false;
    *k = (struct kept){fd, *token};
    event.data.ptr = k; /* the end of the peer is told unasked */
    if (!epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event)) {
        vcuda_store_once(&count, count + 1);
        return true;
    }
    free(k);
    return false;
}

int descriptor_make(enum descriptor_kind kind, const struct descriptor_token *token) {
    struct message m = {.kind = kind, .token = *token};
    int ends[2];
    bool ok;

    memcpy(m.magic, magic, sizeof(magic));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -1;
    pthread_mutex_lock(&lock);
    ok = send(ends[1], &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m) && keep(ends[1], token);
    pthread_mutex_unlock(&lock);
    if (ok)
        return ends[0];
    close(ends[0]);
    close(ends[1]);
    return -1;
}

enum descriptor_kind descriptor_read(int fd, struct descriptor_token *token) {
    struct message m;
    ssize_t n;

    do
        n = recv(fd, &m, sizeof(m), MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    if (n != sizeof(m) || memcmp(m.magic, magic, sizeof(magic)) ||
        (m.kind != DESCRIPTOR_MEMORY && m.kind != DESCRIPTOR_POOL))
        return DESCRIPTOR_NONE;
    *token = m.token;
    return m.kind;
}

/* One whose last copy is closed, out of the list; NULL: none. */
static struct kept *next_closed(void) {
    struct epoll_event event;
    struct kept *k = NULL;

    pthread_mutex_lock(&lock);
    if (epoll_wait(watch, &event, 1, 0) == 1) {
        k = event.data.ptr;
        epoll_ctl(watch, EPOLL_CTL_DEL, k->fd, NULL);
        close(k->fd);
        vcuda_store_once(&count, count - 1);
    }
    pthread_mutex_unlock(&lock);
    return k;
}

bool descriptor_sweep(struct thread *t) {
    bool any = false;
    struct kept *k;

    if (!vcuda_load_once(&count))
        return false;
    while ((k = next_closed())) {
        wire_share_end(t, &k->token, sizeof(k->token));
        free(k);
        any = true;
    }
    return any;
}
