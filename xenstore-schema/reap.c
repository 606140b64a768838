// SPDX-License-Identifier: Apache-2.0
/* Removing what a toolstack that does not know vcuda leaves of a dead domain. */
#include "node.h"

#include <stdlib.h>

/*
 * Life is asked about in the transaction: where a new domain gets the same id
 * and is attached meanwhile, the commit fails and the second look says alive.
 */
static int reap_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    uint32_t domid = *(const uint32_t *)arg;
    int err;

    if (vcuda_xs_alive(xs, domid))
        return 0;
    err = device_remove(xs, t, domid);
    if (!err)
        err = notes_remove(xs, t, domid);
    return err ? err : 1;
}

/* Reaps those of domids[0..count) that are dead, and frees the array. */
static int reap_list(struct xs_handle *xs, uint32_t *domids, int count,
                     void (*each)(uint32_t domid, void *arg), void *arg) {
    int reaped = 0;

    for (int i = 0; i < count; i++) {
        int result;

        if (vcuda_xs_alive(xs, domids[i]))
            continue;
        result = transaction_run(xs, reap_step, &domids[i]);
        if (result < 0) {
            free(domids);
            return result;
        }
        if (result && each)
            each(domids[i], arg);
        reaped += result;
    }
    free(domids);
    return reaped;
}

int vcuda_xs_reap(struct xs_handle *xs, void (*each)(uint32_t domid, void *arg), void *arg) {
    uint32_t *domids;
    int devices, notes, count = vcuda_xs_attached(xs, &domids);

    if (count < 0)
        return count;
    devices = reap_list(xs, domids, count, each, arg);
    if (devices < 0)
        return devices;
    /* Detached before it died: only D is left of it. */
    count = noted_domains(xs, &domids);
    if (count < 0)
        return count;
    notes = reap_list(xs, domids, count, each, arg);
    return notes < 0 ? notes : devices + notes;
}
