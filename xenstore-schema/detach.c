// SPDX-License-Identifier: Apache-2.0
/* Taking a device away: ask, wait by a watch, remove. */
#include "node.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

/*
 * Asks both drivers to close; the frontend acts first, the backend answers
 * with Closed. The note in D keeps vcudad from attaching again by policy.
 */
static int ask_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    uint32_t domid = *(const uint32_t *)arg;
    struct vcuda_path note = vcuda_path_dom0(domid, "detached");
    struct vcuda_path state = vcuda_path_back(domid, "state");
    int err;

    if (!node_exists(xs, t, vcuda_path_back(domid, NULL)))
        return -ENOENT;
    err = node_write_u32(xs, t, note, 1);
    if (!err)
        err = node_permit(xs, t, vcuda_path_dom0(domid, NULL), 0, 0);
    if (!err)
        err = node_permit(xs, t, note, 0, 0);
    if (!err)
        err = node_write_u32(xs, t, vcuda_path_back(domid, "online"), 0);
    if (!err && state_attached(node_state(xs, t, state)))
        err = node_write_u32(xs, t, state, VCUDA_STATE_CLOSING);
    return err;
}

/* Unless somebody attached the domain anew in the meantime. The note is of no use to the dead. */
static int remove_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    uint32_t domid = *(const uint32_t *)arg, online = 0;
    int err;

    node_u32(xs, t, vcuda_path_back(domid, "online"), &online);
    if (online)
        return 0;
    err = device_remove(xs, t, domid);
    return err || vcuda_xs_alive(xs, domid) ? err : notes_remove(xs, t, domid);
}

static int remove_nodes(struct xs_handle *xs, uint32_t domid) {
    int err = transaction_run(xs, remove_step, &domid);

    if (err != -EBUSY)
        return err;
    /* The guest writes without a pause into its folder: take that first, on its own. */
    err = node_remove(xs, XBT_NULL, vcuda_path_front(domid, NULL));
    return err ? err : transaction_run(xs, remove_step, &domid);
}

/* There is nothing to wait for: closed, gone, or the guest is dead. */
static bool closed(struct xs_handle *xs, uint32_t domid) {
    return !state_attached(node_state(xs, XBT_NULL, vcuda_path_back(domid, "state"))) ||
           !vcuda_xs_alive(xs, domid);
}

static int64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes what the watches told; what it was about is read from the tree. */
static int drain(struct xs_handle *xs) {
    char **event;

    while ((event = xs_check_watch(xs)))
        free(event);
    return errno == EAGAIN ? 0 : -errno;
}

static int wait_closed(struct xs_handle *xs, uint32_t domid, int timeout_ms) {
    struct pollfd pfd = {.fd = xs_fileno(xs), .events = POLLIN};
    int64_t end = now_ms() + timeout_ms;

    if (pfd.fd < 0 || !xs_watch(xs, vcuda_path_back(domid, "state").s, "state") ||
        !xs_watch(xs, "@releaseDomain", "release"))
        return -errno;
    while (!closed(xs, domid)) {
        int64_t left = end - now_ms();
        int err;

        if (left <= 0)
            return -ETIMEDOUT;
        if (poll(&pfd, 1, (int)left) < 0 && errno != EINTR)
            return -errno;
        err = drain(xs);
        if (err)
            return err;
    }
    return 0;
}

static int detach(struct xs_handle *xs, uint32_t domid, int timeout_ms, bool force) {
    int err = transaction_run(xs, ask_step, &domid);

    if (err)
        return err;
    err = wait_closed(xs, domid, timeout_ms);
    if (err && !(err == -ETIMEDOUT && force))
        return err;
    return remove_nodes(xs, domid);
}

int vcuda_xs_detach(uint32_t domid, int timeout_ms, bool force) {
    struct xs_handle *xs = xs_open(0);
    int err;

    if (!xs)
        return -errno;
    err = detach(xs, domid, timeout_ms, force);
    xs_close(xs);
    return err;
}
