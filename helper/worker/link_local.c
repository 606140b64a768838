// SPDX-License-Identifier: Apache-2.0
/* The local transport, see protocol/local.h. */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "layout.h"
#include "local.h"
#include "packet.h"

#define FDS 3
/* A client that says nothing must not keep a worker. */
#define OPEN_SECONDS 5

/* A message and exactly so many descriptors, which are the caller's: 0 or -errno. */
static int receive(int sock, struct vcuda_local_msg *m, int *fds, unsigned want, int flags) {
    size_t bytes = sizeof(*m);
    int r = vcuda_packet_receive(sock, m, &bytes, fds, want, flags);

    if (r)
        return r;
    if (bytes == sizeof(*m) && fds[want - 1] >= 0)
        return 0;
    for (unsigned i = 0; i < want && fds[i] >= 0; i++)
        close(fds[i]);
    return -EPROTO;
}

/* Maps a client's memory, after making sure that it can never shrink under us. */
static int map_sealed(int fd, uint64_t bytes, void *fixed, void **out) {
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    void *p;

    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) || (uint64_t)st.st_size != bytes)
        return -EINVAL;
    p = mmap(fixed, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fixed ? MAP_FIXED_NOREPLACE : 0),
             fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    *out = p;
    return 0;
}

/*
 * The last message that is there, and its descriptor: the client sent it right before the record
 * that brought us here. Those before it were of regions that came to nothing. 0 or -errno.
 */
static int newest(int sock, struct vcuda_local_msg *m, int *fd) {
    int next, r;

    *fd = -1;
    while (!(r = receive(sock, m, &next, 1, MSG_DONTWAIT))) {
        if (*fd >= 0)
            close(*fd);
        *fd = next;
    }
    if (r == -EAGAIN && *fd >= 0)
        return 0;
    if (*fd >= 0)
        close(*fd);
    return r;
}

static int local_map(struct link *l, uint32_t region, void *address, uint64_t bytes) {
    struct vcuda_local_msg m;
    int fd, r = newest(l->life_fd, &m, &fd);
    void *unused;

    if (r)
        return r;
    r = -EPROTO;
    if (m.op == VCUDA_LOCAL_REGION && m.region == region && m.bytes == bytes)
        r = map_sealed(fd, bytes, address, &unused);
    close(fd);
    return r;
}

static void local_drop(struct link *l) {
    struct vcuda_local_msg m;
    int fd;

    if (!newest(l->life_fd, &m, &fd))
        close(fd);
}

/* Which of the two it is that local_sleep() hears of. */
enum { NEWS, LIFE };

static bool local_sleep(struct link *l, int64_t ns) {
    struct epoll_event event;
    int n;

    if (ns >= 0 && !link_ready(l->wait_fd, ns))
        return true;
    n = epoll_wait(l->wait_fd, &event, 1, ns < 0 ? -1 : 0);
    if (n < 0)
        return errno == EINTR;
    return n == 0 || event.data.u32 == NEWS;
}

static bool watch(int epoll, int fd, uint32_t events, uint32_t which) {
    struct epoll_event event = {.events = events, .data.u32 = which};

    return !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/*
 * The eventfd is never read: its edges are what counts, one for each write, and one that comes
 * between two sleeps is kept. The client's own descriptor keeps it; it may be anything.
 */
static int watch_client(struct link *l, int news) {
    l->sleep = local_sleep;
    l->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->wait_fd < 0)
        return -errno;
    return watch(l->wait_fd, news, EPOLLIN | EPOLLET, NEWS) &&
                   watch(l->wait_fd, l->life_fd, 0, LIFE)
               ? 0
               : -EINVAL;
}

static int take_opening(struct link *l, const struct vcuda_local_msg *m, const int *fds) {
    int r;

    if (m->op != VCUDA_LOCAL_OPEN || !vcuda_ring_size_ok(m->sub_bytes) ||
        !vcuda_ring_size_ok(m->cmp_bytes))
        return -EPROTO;
    l->sub_bytes = m->sub_bytes;
    l->cmp_bytes = m->cmp_bytes;
    l->version = m->version;
    l->features = m->features;
    l->kick_fd = fds[2];
    /* A client could leave its eventfd blocking, or give something else: never wait on it. */
    if (fcntl(l->kick_fd, F_SETFL, O_NONBLOCK))
        return -EINVAL;
    r = watch_client(l, fds[1]);
    return r ? r
             : map_sealed(fds[0], vcuda_rings_bytes(l->sub_bytes, l->cmp_bytes), NULL, &l->rings);
}

int link_open_local(struct link *l, int fd) {
    struct vcuda_local_msg m = {0}, answer = {.op = VCUDA_LOCAL_OPENED};
    const struct timeval patience = {OPEN_SECONDS, 0};
    int fds[FDS];
    int r = -EINVAL;

    if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
        r = receive(fd, &m, fds, FDS, 0);
    l->life_fd = fd;
    l->map = local_map;
    l->drop = local_drop;
    if (r == -EPIPE)
        return r;
    if (!r) {
        r = take_opening(l, &m, fds);
        close(fds[0]);
        close(fds[1]);
    }
    answer.status = r;
    if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
        return r ? r : -EPIPE;
    return r;
}
