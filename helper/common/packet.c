// SPDX-License-Identifier: Apache-2.0
#include "packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr align;
    char space[CMSG_SPACE(VCUDA_PACKET_FDS_MAX * sizeof(int))];
};

int vcuda_packet_send(int sock, const void *message, size_t bytes, const int *fds, unsigned count,
                      int flags) {
    struct iovec iov = {.iov_base = (void *)message, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control = {0};
    ssize_t sent;

    if (count) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
    }
    do
        sent = sendmsg(sock, &header, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)bytes)
        return 0;
    return sent >= 0 || errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
}

/* The kernel puts no more into the room than was made for them. */
static void take_descriptors(struct msghdr *header, int *fds) {
    struct cmsghdr *c = CMSG_FIRSTHDR(header);

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
}

static int refused(int error, int *fds, unsigned most) {
    for (unsigned i = 0; i < most; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
    return error;
}

int vcuda_packet_receive(int sock, void *message, size_t *bytes, int *fds, unsigned most,
                         int flags) {
    struct iovec iov = {.iov_base = message, .iov_len = *bytes};
    union control control;
    struct msghdr header = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t got;

    for (unsigned i = 0; i < most; i++)
        fds[i] = -1;
    if (most) {
        header.msg_control = &control;
        /* Without the padding, where the kernel would put one more. */
        header.msg_controllen = CMSG_LEN(most * sizeof(int));
    }
    do
        got = recvmsg(sock, &header, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ECONNRESET ? -EPIPE : -errno;
    *bytes = (size_t)got;
    take_descriptors(&header, fds);
    if (got == 0)
        return refused(-EPIPE, fds, most);
    if (header.msg_flags & MSG_TRUNC)
        return refused(-EPROTO, fds, most);
    return header.msg_flags & MSG_CTRUNC ? refused(-EMFILE, fds, most) : 0;
}
