/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to have another process do something. Each carries the records that vcuda carries for the
 * same call (protocol/record.h): a waited null call is 40 bytes there and 40 back, a posted launch
 * 120 bytes and its parameters.
 *
 * Peers are processes of their own, made by the *_open functions. They sleep on a pipe until it is
 * their turn, so that none takes time from another's.
 */
#ifndef VCUDA_BENCH_MEANS_H
#define VCUDA_BENCH_MEANS_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/* Bytes of a null call's record and of its completion; of a launch without parameters. */
#define MEANS_CALL_BYTES ((uint32_t)sizeof(struct vcuda_rec) + 8)
#define MEANS_LAUNCH_BYTES ((uint32_t)sizeof(struct vcuda_rec) + 11 * 8)

struct means {
    const char *name;
    bool looks, sleeps; /* which ways of waiting one can choose */
    /*
     * What comes next: `count` records, and whether both sides look for them without sleeping or
     * sleep in the kernel. NULL: it decides itself.
     */
    void (*turn)(struct means *m, bool busy, uint32_t count);
    /* A waited call: returns when its completion is here. */
    void (*call)(struct means *m);
    /* A posted launch with so many bytes of parameters; NULL: it cannot post. */
    void (*post)(struct means *m, uint32_t params);
    int fd, orders; /* of the client's end */
    void *more;
};

/* A cache line that two processes hand to each other: the least that any means must take. */
void means_line(struct means *m);
/* Connected stream sockets. */
void means_tcp(struct means *m);
void means_unix(struct means *m);
/* ZeroMQ, dealer to dealer over its own Unix sockets: false where it was not built in. */
bool means_zmq(struct means *m);
/* vcuda. Last: the others' processes must not have its session. */
void means_vcuda(struct means *m);

/* Ends this process with a word why. */
_Noreturn void means_fail(const char *what);

/* What a peer is told before its turn; count 0: nothing more comes. */
struct means_order {
    uint32_t busy, count;
};

/* Makes a peer that runs `serve` for each order, and m->orders; `arg` is serve's. */
void means_fork(struct means *m, void (*serve)(const struct means_order *o, void *arg), void *arg);
/* Gives an order. */
void means_order(struct means *m, bool busy, uint32_t count);

#endif
