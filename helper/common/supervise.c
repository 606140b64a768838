// SPDX-License-Identifier: Apache-2.0
#include "supervise.h"
#include "packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* A session comes with these: what it is served on, and its owner's memory. */
#define FDS 2

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

    return vcuda_packet_send(VCUDA_SUPERVISE_FD, &ready, sizeof(ready), NULL, 0, 0);
}

int vcuda_supervise_failed(const char *text) {
    struct vcuda_supervise_failed failed = {
        .op = VCUDA_SUPERVISE_FAILED,
        .version = VCUDA_SUPERVISE_VERSION,
    };

    snprintf(failed.text, sizeof(failed.text), "%s", text);
    return vcuda_packet_send(VCUDA_SUPERVISE_FD, &failed, sizeof(failed), NULL, 0, 0);
}

static struct vcuda_owner *map_owner(int fd) {
    void *memory =
        mmap(NULL, sizeof(struct vcuda_owner), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int vcuda_supervise_wait(struct vcuda_supervise_session *session, int *fd,
                         struct vcuda_owner **owner) {
    int fds[FDS];
    size_t got = sizeof(*session);
    int error = vcuda_packet_receive(VCUDA_SUPERVISE_FD, session, &got, fds, FDS, 0);

    *fd = fds[0];
    *owner = fds[1] >= 0 ? map_owner(fds[1]) : NULL;
    if (fds[1] >= 0)
        close(fds[1]);
    if (!error && got == sizeof(*session) && session->op == VCUDA_SUPERVISE_SESSION && *fd >= 0 &&
        *owner && session->gpu_count && session->gpu_count <= VCUDA_SUPERVISE_GPUS_MAX &&
        session->place < VCUDA_ACCOUNT_SHARES)
        return 0;
    if (*fd >= 0)
        close(*fd);
    return error ? error : -EPROTO;
}

int vcuda_supervise_receive(int sock, union vcuda_supervise_report *report) {
    size_t got = sizeof(*report);
    int error = vcuda_packet_receive(sock, report, &got, NULL, 0, MSG_DONTWAIT);

    if (error)
        return error == -EMFILE ? -EPROTO : error; /* it has none to give */
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

    return vcuda_packet_send(sock, session, sizeof(*session), fds, FDS, 0);
}
