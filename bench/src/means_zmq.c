// SPDX-License-Identifier: Apache-2.0
/*
 * Records as messages of ZeroMQ. Its own threads move the bytes and sleep whenever there are none;
 * whoever looks without sleeping takes their processor, so that both sides always block here, which
 * is its fastest way.
 */
#include "means.h"

#ifdef HAVE_ZMQ
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

static char address[64];

union record {
    struct vcuda_rec head;
    uint8_t bytes[VCUDA_REC_MAX];
};

static void *open_socket(void) {
    void *socket = zmq_socket(zmq_ctx_new(), ZMQ_DEALER);
    int nothing = 0, unlimited = 0;

    if (!socket || zmq_setsockopt(socket, ZMQ_LINGER, &nothing, sizeof(nothing)) ||
        zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof(unlimited)) ||
        zmq_setsockopt(socket, ZMQ_RCVHWM, &unlimited, sizeof(unlimited)))
        means_fail("ZeroMQ");
    return socket;
}

static void serve(const struct means_order *o, void *arg) {
    static union record record;
    static void *socket;
    uint8_t answer[MEANS_CALL_BYTES] = {0};

    (void)arg;
    if (!socket) {
        socket = open_socket();
        if (zmq_bind(socket, address))
            means_fail(address);
    }
    for (uint32_t i = 0; i < o->count; i++) {
        if (zmq_recv(socket, &record, sizeof(record), 0) < (int)sizeof(record.head))
            means_fail("zmq_recv");
        if (record.head.tag && zmq_send(socket, answer, sizeof(answer), 0) < 0)
            means_fail("zmq_send");
    }
}

static void call(struct means *m) {
    union record record = {.head = {.len = MEANS_CALL_BYTES, .tag = 1}};
    uint8_t answer[MEANS_CALL_BYTES];

    if (zmq_send(m->more, &record, MEANS_CALL_BYTES, 0) < 0 ||
        zmq_recv(m->more, answer, sizeof(answer), 0) < 0)
        means_fail("ZeroMQ");
}

static void post(struct means *m, uint32_t params) {
    static union record record;

    if (zmq_send(m->more, &record, MEANS_LAUNCH_BYTES + params, 0) < 0)
        means_fail("zmq_send");
}

bool means_zmq(struct means *m) {
    *m = (struct means){
        .name = "ZeroMQ", .sleeps = true, .turn = means_order, .call = call, .post = post};
    snprintf(address, sizeof(address), "ipc:///tmp/vcuda-bench-%d", (int)getpid());
    means_fork(m, serve, NULL);
    m->more = open_socket();
    if (zmq_connect(m->more, address))
        means_fail(address);
    /* The connection is made, before anything is timed. */
    means_order(m, false, 1);
    call(m);
    return true;
}
#else
bool means_zmq(struct means *m) {
    (void)m;
    return false;
}
#endif
