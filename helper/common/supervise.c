// SPDX-License-Identifier: Apache-2.0
#include "supervise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptors of one message at most. */
#define FDS 2

/* One message, with FDS descriptors unless fds is NULL. */
static int send_message(int sock, const void *message, size_t bytes, const int *fds) {
    struct iovec iov = {.iov_base = (void *)message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(FDS * sizeof(int))];
    } control = {0};

    if (fds) {
        header.msg_control = control.space;
        header.msg_controllen = sizeof(control.space);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(FDS * sizeof(int));
        memcpy(CMSG_DATA(&control.align), fds, FDS * sizeof(*fds));
    }
    for (;;) {
        if (sendmsg(sock, &header, MSG_NOSIGNAL) == (ssize_t)bytes)
            return 0;
        if (errno == ECONNRESET || errno == ENOTCONN)
            return -EPIPE;
        if (errno != EINTR)
            return -errno;
    }
}

/* One message; fds may be NULL (descriptors are refused then) or gets FDS of them, or none: -1. */
static ssize_t receive_message(int sock, void *message, size_t bytes, int *fds) {
    struct iovec iov = {.iov_base = message, .iov_len = bytes};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(FDS * sizeof(int))];
    } control;
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t got;

    if (fds) {
        for (int i = 0; i < FDS; i++)
            fds[i] = -1;
        header.msg_control = control.space;
        header.msg_controllen = sizeof(control.space);
    }
    do
        got = recvmsg(sock, &header, MSG_CMSG_CLOEXEC | (fds ? 0 : MSG_DONTWAIT));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? -EPIPE : -errno;
    if (got == 0)
        return -EPIPE;

    struct cmsghdr *c = fds ? CMSG_FIRSTHDR(&header) : NULL;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(FDS * sizeof(int)))
        memcpy(fds, CMSG_DATA(c), FDS * sizeof(*fds));
    if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return -EPROTO;
    return got;
}

struct vcuda_stats *vcuda_supervise_stats(void) {
    static struct vcuda_worker_page own;
    void *page = mmap(NULL, sizeof(struct vcuda_worker_page), PROT_READ | PROT_WRITE, MAP_SHARED,
                      VCUDA_SUPERVISE_STATS_FD, 0);

    if (page == MAP_FAILED)
        return &own.stats;
    close(VCUDA_SUPERVISE_STATS_FD);
    return page;
}

int vcuda_supervise_ready(uint32_t driver_version, uint32_t devices) {
    struct vcuda_supervise_ready ready = {
        .op = VCUDA_SUPERVISE_READY,
        .version = VCUDA_SUPERVISE_VERSION,
        .driver_version = driver_version,
        .devices = devices,
    };

    return send_message(VCUDA_SUPERVISE_FD, &ready, sizeof(ready), NULL);
}

int vcuda_supervise_failed(const char *text) {
    struct vcuda_supervise_failed failed = {
        .op = VCUDA_SUPERVISE_FAILED,
        .version = VCUDA_SUPERVISE_VERSION,
    };

    snprintf(failed.text, sizeof(failed.text), "%s", text);
    return send_message(VCUDA_SUPERVISE_FD, &failed, sizeof(failed), NULL);
}

static struct vcuda_owner *map_owner(int fd) {
    void *memory =
        mmap(NULL, sizeof(struct vcuda_owner), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int vcuda_supervise_wait(struct vcuda_supervise_session *session, int *fd,
                         struct vcuda_owner **owner) {
    int fds[FDS];
    ssize_t got = receive_message(VCUDA_SUPERVISE_FD, session, sizeof(*session), fds);

    *fd = fds[0];
    *owner = fds[1] >= 0 ? map_owner(fds[1]) : NULL;
    if (fds[1] >= 0)
        close(fds[1]);
    if (got == sizeof(*session) && session->op == VCUDA_SUPERVISE_SESSION && *fd >= 0 && *owner &&
        session->gpu_count && session->gpu_count <= VCUDA_SUPERVISE_GPUS_MAX &&
        session->place < VCUDA_ACCOUNT_SHARES)
        return 0;
    if (*fd >= 0)
        close(*fd);
    return got < 0 ? (int)got : -EPROTO;
}

int vcuda_supervise_receive(int sock, union vcuda_supervise_report *report) {
    ssize_t got = receive_message(sock, report, sizeof(*report), NULL);

    if (got < 0)
        return (int)got;
    if (got == sizeof(report->ready) && report->op == VCUDA_SUPERVISE_READY) {
        if (report->ready.version != VCUDA_SUPERVISE_VERSION || !report->ready.devices)
            return -EPROTO;
        return 0;
    }
    if (got == sizeof(report->failed) && report->op == VCUDA_SUPERVISE_FAILED) {
        report->failed.text[sizeof(report->failed.text) - 1] = 0;
        return report->failed.version == VCUDA_SUPERVISE_VERSION ? 0 : -EPROTO;
    }
    return -EPROTO;
}

int vcuda_supervise_give(int sock, const struct vcuda_supervise_session *session, int fd,
                         int owner_fd) {
    const int fds[FDS] = {fd, owner_fd};

    return send_message(sock, session, sizeof(*session), fds);
}
