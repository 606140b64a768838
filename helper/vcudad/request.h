/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that wants a worker, from either transport.
 */
#ifndef VCUDAD_REQUEST_H
#define VCUDAD_REQUEST_H

#include "supervise.h"

struct request;

/*
 * Each request sees exactly one of given() and refuse(), which frees it,
 * unless its owner takes it back by pool_cancel() before.
 */
struct request_ops {
    /* The descriptor for the worker, which stays the request's: or -errno when it has gone. */
    int (*claim)(struct request *request);
    /* The worker has its copy of the descriptor. */
    void (*given)(struct request *request);
    /* error: the negative errno that the client sees. */
    void (*refuse)(struct request *request, int error);
};

struct request {
    const struct request_ops *ops;
    /* gpu_count 0: all that the driver shows. */
    struct vcuda_supervise_session session;
    struct request *next;
};

#endif
