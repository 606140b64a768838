/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What vcudad and a worker say to each other.
 *
 * vcudad executes
 *
 *   vcuda-worker --log-level=N [--drop=UID:GID[,GID...]] [--no-sandbox]  (log.h, sandbox.h)
 *
 * with VCUDA_DRIVER in the environment if it was told a driver, and
 *
 *   descriptor 3  one end of a SOCK_SEQPACKET socket pair, for the messages below
 *   descriptor 4  a sealed memory file that holds one struct vcuda_worker_page
 *
 *   worker                                            vcudad
 *     | loads the driver, cuInit, enters the sandbox    |
 *     |  READY driver version, number of devices        |
 *     |------------------------------------------------>|
 *     |  SESSION whose, which GPUs, limits              |
 *     |  + descriptors: of /dev/vcuda-host's session, or|
 *     |  the local client's connected socket; and of a  |
 *     |  sealed memory file, one struct vcuda_owner     |
 *     |<------------------------------------------------|
 *     | serves the session, exits with 0                |
 *     |  what it shares with others: see share.h        |
 *     |<----------------------------------------------->|
 *
 *   or, where there is no usable driver:
 *     |  FAILED text                                    |
 *     |------------------------------------------------>|
 *     | exits with 1                                    |
 *
 * End of file on descriptor 3 before SESSION means that vcudad is gone or wants
 * no more: the worker exits with 0. A worker that has its session outlives
 * vcudad, but for what it shares with others.
 *
 * Nothing can be refused after SESSION: what goes wrong then is told to the
 * client by the session's own means (LOCAL_OPENED, a failing call).
 */
#ifndef VCUDA_HELPER_SUPERVISE_H
#define VCUDA_HELPER_SUPERVISE_H

#include <stdint.h>

#include "owner.h"
#include "stats.h"

#define VCUDA_SUPERVISE_FD 3
#define VCUDA_SUPERVISE_STATS_FD 4
/* Changes with every change of this file, of share.h, of struct vcuda_stats or of struct
 * vcuda_owner. */
#define VCUDA_SUPERVISE_VERSION 6u

/* domid of a session of the local transport. */
#define VCUDA_SUPERVISE_LOCAL UINT32_MAX
#define VCUDA_SUPERVISE_GPUS_MAX 64
#define VCUDA_SUPERVISE_TEXT_MAX 384

enum vcuda_supervise_op {
    VCUDA_SUPERVISE_READY = 1,
    VCUDA_SUPERVISE_FAILED = 2,
    VCUDA_SUPERVISE_SESSION = 3,
};

struct vcuda_supervise_ready {
    uint32_t op;
    uint32_t version;        /* VCUDA_SUPERVISE_VERSION */
    uint32_t driver_version; /* as cuDriverGetVersion: 13000 */
    uint32_t devices;        /* that the driver shows; at least 1 */
};

struct vcuda_supervise_failed {
    uint32_t op;
    uint32_t version;
    char text[VCUDA_SUPERVISE_TEXT_MAX]; /* one line for people, ends in NUL */
};

struct vcuda_supervise_session {
    uint32_t op;
    uint32_t domid;   /* of the guest, or VCUDA_SUPERVISE_LOCAL */
    uint32_t session; /* number for messages: the guest's, or vcudad's for local ones */
    uint32_t uid;     /* local only: who connected */
    uint32_t pid;
    uint32_t gpu_count; /* at least 1 */
    /* The session's device i is the driver's device gpus[i]; each is below READY's devices. */
    uint32_t gpus[VCUDA_SUPERVISE_GPUS_MAX];
    uint32_t place;        /* the worker's own in struct vcuda_owner, below VCUDA_ACCOUNT_SHARES */
    uint64_t memory_limit; /* bytes of device memory over all its GPUs; 0: none */
};

/*
 * The worker's half. All return 0 or a negative errno.
 */

/* Maps descriptor 4 (and closes it): never NULL; without it the worker counts for itself. */
struct vcuda_stats *vcuda_supervise_stats(void);
int vcuda_supervise_ready(uint32_t driver_version, uint32_t devices);
int vcuda_supervise_failed(const char *text);
/*
 * Waits for SESSION; descriptor 3 stays open. *fd is the caller's, close-on-exec; *owner stays
 * mapped. -EPIPE: vcudad wants no more, exit with 0.
 */
int vcuda_supervise_wait(struct vcuda_supervise_session *session, int *fd,
                         struct vcuda_owner **owner);

/*
 * vcudad's half, on its end of the socket pair.
 */

union vcuda_supervise_report {
    uint32_t op;
    struct vcuda_supervise_ready ready;
    struct vcuda_supervise_failed failed;
};

/*
 * Reads what a worker said, checked: text ends, devices are not 0.
 * -EAGAIN: nothing yet; -EPIPE: the worker has gone; -EPROTO: nonsense, or
 * another version.
 */
int vcuda_supervise_receive(int sock, union vcuda_supervise_report *report);
/* Hands a session over; fd and owner_fd stay the caller's too. -EPIPE: the worker has gone. */
int vcuda_supervise_give(int sock, const struct vcuda_supervise_session *session, int fd,
                         int owner_fd);

#endif
