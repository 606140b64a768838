// SPDX-License-Identifier: Apache-2.0
#include "share.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* What vcudad may take for an answer: it has other things to do, but nothing that takes long. */
#define PATIENCE_SECONDS 10

union control {
    struct cmsghdr align;
    char space[CMSG_SPACE(sizeof(int))];
};

/* One message, with a descriptor unless fd is -1: 0 or a negative errno. */
static int send_one(int sock, const void *message, size_t bytes, int fd, int flags) {
    struct iovec iov = {.iov_base = (void *)message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control = {0};
    ssize_t sent;

    if (fd >= 0) {
        header.msg_control = &control;
        header.msg_controllen = sizeof(control.space);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    }
    do
        sent = sendmsg(sock, &header, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)bytes)
        return 0;
    return sent >= 0 || errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

/* One message of exactly so many bytes, and its descriptor or -1: 0 or a negative errno. */
static int receive_one(int sock, void *message, size_t bytes, int *fd, int flags) {
    struct iovec iov = {.iov_base = message, .iov_len = bytes};
    union control control;
    struct msghdr header = {.msg_iov = &iov,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            /* Without the padding, where the kernel would put one more. */
                            .msg_controllen = CMSG_LEN(sizeof(int))};
    struct cmsghdr *c;
    ssize_t got;

    *fd = -1;
    do
        got = recvmsg(sock, &header, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? -EPIPE : -errno;
    c = CMSG_FIRSTHDR(&header);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    if (got == (ssize_t)bytes && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 0;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    if (got != (ssize_t)bytes || header.msg_flags & MSG_TRUNC)
        return got == 0 ? -EPIPE : -EPROTO;
    return -EMFILE; /* this process has no room for it, or there were two */
}

int vcuda_share_ask(int sock, const struct vcuda_share_request *request, int fd,
                    struct vcuda_share_answer *answer, int *got) {
    const struct timeval patience = {PATIENCE_SECONDS, 0};
    int error;

    *got = -1;
    if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
        setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
        return -EPIPE;
    error = send_one(sock, request, sizeof(*request), fd, 0);
    if (!error)
        error = receive_one(sock, answer, sizeof(*answer), got, 0);
    if (error == -EMFILE)
        return error;
    return error || answer->status > 0 ? -EPIPE : answer->status;
}

int vcuda_share_tell(int sock, const struct vcuda_share_request *request) {
    return send_one(sock, request, sizeof(*request), -1, MSG_DONTWAIT);
}

int vcuda_share_receive(int sock, struct vcuda_share_request *request, int *fd) {
    return receive_one(sock, request, sizeof(*request), fd, MSG_DONTWAIT);
}

int vcuda_share_answer(int sock, const struct vcuda_share_answer *answer, int fd) {
    return send_one(sock, answer, sizeof(*answer), fd, MSG_DONTWAIT);
}
