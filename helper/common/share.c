// SPDX-License-Identifier: Apache-2.0
#include "share.h"
#include "packet.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* What vcudad may take for an answer: it has other things to do, but nothing that takes long. */
#define PATIENCE_SECONDS 10

static int send_one(int sock, const void *message, size_t bytes, int fd, int flags) {
    return vcuda_packet_send(sock, message, bytes, &fd, fd >= 0, flags);
}

/* One message of exactly so many bytes, and its descriptor or -1: 0 or a negative errno. */
static int receive_one(int sock, void *message, size_t bytes, int *fd, int flags) {
    size_t got = bytes;
    int error = vcuda_packet_receive(sock, message, &got, fd, 1, flags);

    if ((error && error != -EMFILE) || got == bytes)
        return error;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return -EPROTO;
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
