// SPDX-License-Identifier: Apache-2.0
/* What a domain uses now, for `vcudactl list`: numbers that no guest reads. */
#include "node.h"

#include <errno.h>
#include <stdlib.h>

struct write {
    uint32_t domid;
    const struct vcuda_usage *usage;
};

static int write_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    const struct write *w = arg;
    struct vcuda_path sessions = vcuda_path_dom0(w->domid, "sessions");
    struct vcuda_path pages = vcuda_path_dom0(w->domid, "pages");
    int err;

    /* What was reaped must not come back. */
    if (!vcuda_xs_alive(xs, w->domid))
        return -ESRCH;
    err = node_write_u32(xs, t, sessions, w->usage->sessions);
    if (!err)
        err = node_permit(xs, t, vcuda_path_dom0(w->domid, NULL), 0, 0);
    if (!err)
        err = node_permit(xs, t, sessions, 0, 0);
    if (!err)
        err = node_write_u32(xs, t, pages, w->usage->pages);
    if (!err)
        err = node_write_u32(xs, t, vcuda_path_dom0(w->domid, "gpu-mib"), w->usage->gpu_mib);
    return err;
}

int vcuda_xs_write_usage(struct xs_handle *xs, uint32_t domid, const struct vcuda_usage *usage) {
    struct write w = {.domid = domid, .usage = usage};

    return transaction_run(xs, write_step, &w);
}

static int forget_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    uint32_t domid = *(const uint32_t *)arg;
    int err = note_remove(xs, t, domid, "sessions");

    if (!err)
        err = note_remove(xs, t, domid, "pages");
    return err ? err : note_remove(xs, t, domid, "gpu-mib");
}

int vcuda_xs_forget_usage(struct xs_handle *xs) {
    uint32_t *domids;
    int count = noted_domains(xs, &domids);
    int err = 0;

    for (int i = 0; i < count && !err; i++)
        err = transaction_run(xs, forget_step, &domids[i]);
    free(domids);
    return count < 0 ? count : err;
}

int vcuda_xs_read_usage(struct xs_handle *xs, uint32_t domid, struct vcuda_usage *usage) {
    int err = node_u32(xs, XBT_NULL, vcuda_path_dom0(domid, "sessions"), &usage->sessions);

    if (!err)
        err = node_u32(xs, XBT_NULL, vcuda_path_dom0(domid, "pages"), &usage->pages);
    return err ? err : node_u32(xs, XBT_NULL, vcuda_path_dom0(domid, "gpu-mib"), &usage->gpu_mib);
}
