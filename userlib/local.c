// SPDX-License-Identifier: Apache-2.0
/* The local transport, see protocol/local.h. */
#define _GNU_SOURCE
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "layout.h"
#include "local.h"
#include "version.h"

#define LOCAL_FDS_MAX 3

/* By number; region 0 included. */
static struct {
    bool used;
    int fd;             /* of its memory; -1: closed */
    unsigned int steps; /* for which that is still needed: to be offered, and to be mapped */
} regions[VCUDA_REGIONS_MAX] = {{true, -1, 0}};

static int send_message(int sock, const struct vcuda_local_msg *m, const int *fds, int count,
                        int flags) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * LOCAL_FDS_MAX)];
    } control;
    struct iovec iov = {(void *)m, sizeof(*m)};
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};

    if (count) {
        struct cmsghdr *c;

        memset(&control, 0, sizeof(control));
        h.msg_control = &control;
        h.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    return sendmsg(sock, &h, flags | MSG_NOSIGNAL) == sizeof(*m) ? 0 : -errno;
}

/* Shared memory that can never shrink under the worker. Returns a descriptor or -errno. */
static int sealed_memory(uint64_t bytes) {
    int fd = memfd_create("vcuda", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        int err = errno;

        close(fd);
        return -err;
    }
    return fd;
}

static int local_region_add(struct transport *t, uint64_t bytes, uint32_t *region) {
    uint32_t number = 1;
    int fd;

    (void)t;
    while (number < VCUDA_REGIONS_MAX && regions[number].used)
        number++;
    if (number == VCUDA_REGIONS_MAX)
        return -ENOSPC;
    fd = sealed_memory(bytes);
    if (fd < 0)
        return fd;
    regions[number].used = true;
    regions[number].fd = fd;
    regions[number].steps = 2;
    *region = number;
    return 0;
}

static void forget_fd(uint32_t region) {
    if (regions[region].fd >= 0)
        close(regions[region].fd);
    regions[region].fd = -1;
}

/* Mapped memory keeps itself, and so does what the socket holds. */
static void step_done(uint32_t region) {
    if (--regions[region].steps == 0)
        forget_fd(region);
}

static int local_region_map(struct transport *t, uint32_t region, void *address, uint64_t bytes,
                            enum transport_place place) {
    void *unused;
    int r = transport_map(regions[region].fd, 0, bytes, address, place, &unused);

    (void)t;
    if (!r)
        step_done(region);
    return r;
}

/* The worker has taken or dropped the one before: there is room, or something is wrong. */
static int local_region_offer(struct transport *t, uint32_t region, uint64_t bytes) {
    const struct vcuda_local_msg m = {.op = VCUDA_LOCAL_REGION, .region = region, .bytes = bytes};
    int r = send_message(t->life_fd, &m, &regions[region].fd, 1, MSG_DONTWAIT);

    if (!r)
        step_done(region);
    return r;
}

static void *local_region_alias(struct transport *t, uint32_t region, uint64_t bytes) {
    void *alias = NULL;

    (void)t;
    transport_map(regions[region].fd, 0, bytes, NULL, TRANSPORT_FREE, &alias);
    return alias;
}

static void local_region_del(struct transport *t, uint32_t region, uint64_t bytes) {
    (void)t;
    (void)bytes;
    forget_fd(region);
    regions[region].used = false;
}

/* Which of the two it is that local_sleep() hears of. */
enum { NEWS, LIFE };

static bool watch(int epoll, int fd, uint32_t events, uint32_t which) {
    struct epoll_event event = {.events = events, .data.u32 = which};

    return !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/*
 * The eventfd is never read: its edges are what counts, one for each write, and one that comes
 * between two sleeps is kept.
 */
static int local_wait_fd(int news, int life) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    if (epoll < 0 || (watch(epoll, news, EPOLLIN | EPOLLET, NEWS) && watch(epoll, life, 0, LIFE)))
        return epoll;
    close(epoll);
    return -1;
}

static bool local_sleep(struct transport *t) {
    struct epoll_event event;
    int n = epoll_wait(t->wait_fd, &event, 1, -1);

    return n < 0 ? errno == EINTR : event.data.u32 == NEWS;
}

static void local_close(struct transport *t) {
    close(t->wait_fd);
    close(t->kick_fd);
    close(t->life_fd);
}

static int connect_to(const char *path) {
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int sock;

    if (strlen(path) >= sizeof(addr.sun_path))
        return -ENAMETOOLONG;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (sock < 0)
        return -errno;
    if (connect(sock, (struct sockaddr *)&addr, sizeof(addr))) {
        int err = errno == ENOENT ? ENODEV : errno;

        close(sock);
        return -err;
    }
    return sock;
}

static int greet(int sock, int memory, int to_worker, int to_us, uint32_t sub, uint32_t cmp) {
    struct vcuda_local_msg m = {.op = VCUDA_LOCAL_OPEN,
                                .version = VCUDA_VERSION_MAX,
                                .features = VCUDA_SESSION_FEATURES,
                                .sub_bytes = sub,
                                .cmp_bytes = cmp};
    int fds[LOCAL_FDS_MAX] = {memory, to_worker, to_us};
    ssize_t n;
    int r = send_message(sock, &m, fds, LOCAL_FDS_MAX, 0);

    if (r)
        return r;
    do
        n = recv(sock, &m, sizeof(m), 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (n == 0)
        return -ESHUTDOWN;
    if (n != sizeof(m) || m.op != VCUDA_LOCAL_OPENED)
        return -EPROTO;
    return m.status > 0 ? -EPROTO : m.status;
}

int transport_open_local(struct transport *t, const char *socket_path, uint32_t sub_bytes,
                         uint32_t cmp_bytes) {
    uint64_t bytes = vcuda_rings_bytes(sub_bytes, cmp_bytes);
    int memory = sealed_memory(bytes), news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = memory < 0 ? memory : 0;

    memset(t, 0, sizeof(*t));
    t->rings_bytes = bytes;
    t->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->life_fd = connect_to(socket_path);
    if (!r && t->life_fd < 0)
        r = t->life_fd;
    t->wait_fd = local_wait_fd(news, t->life_fd);
    if (!r && (t->wait_fd < 0 || t->kick_fd < 0))
        r = -EMFILE;
    if (!r)
        r = transport_map(memory, 0, bytes, NULL, TRANSPORT_FREE, &t->rings);
    if (!r)
        r = greet(t->life_fd, memory, t->kick_fd, news, sub_bytes, cmp_bytes);
    if (memory >= 0)
        close(memory);
    /* The worker's keeps the eventfd. */
    if (news >= 0)
        close(news);
    t->kind = "local";
    t->sleep = local_sleep;
    t->region_add = local_region_add;
    t->region_map = local_region_map;
    t->region_offer = local_region_offer;
    t->region_alias = local_region_alias;
    t->region_del = local_region_del;
    t->close = local_close;
    if (r) {
        local_close(t);
        transport_unmap(t);
    }
    return r;
}
