/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's end of a session: what differs between Xen and the local transport. */
#ifndef VCUDA_WORKER_LINK_H
#define VCUDA_WORKER_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct link {
    int wait_fd; /* what sleep() sleeps on */
    int kick_fd; /* write of 8 bytes notifies the program */
    int life_fd; /* POLLHUP: the session is over */
    void *rings;
    bool elsewhere; /* the program has processors that this kernel does not see */
    uint32_t sub_bytes, cmp_bytes;
    uint32_t version, features;
    /*
     * Sleeps until the program has notified since the last sleep, or `ns` are over (-1: no end),
     * and takes the notifications: without an end in a single system call. False: the session is
     * over. Executor only.
     */
    bool (*sleep)(struct link *l, int64_t ns);
    /* Maps region `region`, which must have `bytes` bytes, at `address`: 0 or -errno. */
    int (*map)(struct link *l, uint32_t region, void *address, uint64_t bytes);
    /* Lets go of a region that the program has handed over, and that is not mapped. */
    void (*drop)(struct link *l);
};

/* Whether `fd` is readable, or hung up, within `ns`. */
bool link_ready(int fd, int64_t ns);

/* Takes over the descriptor that vcudad gave, and answers its opening: 0 or -errno. */
int link_open_local(struct link *l, int fd);
int link_open_xen(struct link *l, int fd);

#endif
