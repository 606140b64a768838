// SPDX-License-Identifier: Apache-2.0
/* Creating a device: both folders, their permissions, in one transaction. */
#include "node.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* xl names a domain so while it migrates in, and drops this at the end. */
#define INCOMING "--incoming"

#define DEPARTURE_STEP_MS 5
#define DEPARTURE_MAX_MS 5000

struct attach {
    uint32_t domid;
    const struct vcuda_policy *policy;
};

/*
 * One node to write; the first error stays. The drivers are woken by the
 * commit, in the order of these writes.
 */
struct writer {
    struct xs_handle *xs;
    xs_transaction_t t;
    int err;
};

static void put(struct writer *w, struct vcuda_path path, const char *text) {
    if (!w->err)
        w->err = node_write(w->xs, w->t, path, text);
}

static void put_u32(struct writer *w, struct vcuda_path path, uint32_t value) {
    if (!w->err)
        w->err = node_write_u32(w->xs, w->t, path, value);
}

static void permit(struct writer *w, struct vcuda_path path, uint32_t owner, uint32_t reader) {
    if (!w->err)
        w->err = node_permit(w->xs, w->t, path, owner, reader);
}

/* The folders come first, with one node each: what is made in them later inherits their rights. */
static void put_folders(struct writer *w, uint32_t domid) {
    put_u32(w, vcuda_path_front(domid, "backend-id"), 0);
    permit(w, vcuda_path_front(domid, NULL), domid, 0);
    permit(w, vcuda_path_front(domid, "backend-id"), domid, 0);
    put_u32(w, vcuda_path_back(domid, "frontend-id"), domid);
    permit(w, vcuda_path_back(domid, NULL), 0, domid);
    permit(w, vcuda_path_back(domid, "frontend-id"), 0, domid);
}

static void put_policy(struct writer *w, uint32_t domid, const struct vcuda_policy *policy) {
    char gpus[VCUDA_GPUS_TEXT_MAX];

    vcuda_format_gpus(&policy->gpus, ' ', gpus);
    put(w, vcuda_path_back(domid, "gpus"), gpus);
    put_u32(w, vcuda_path_back(domid, "max-sessions"), policy->max_sessions);
    put_u32(w, vcuda_path_back(domid, "max-pages"), policy->max_pages);
    put_u32(w, vcuda_path_back(domid, "max-gpu-mib"), policy->max_gpu_mib);
}

/* The states last: a driver that sees one finds everything else in place. */
static void put_links(struct writer *w, uint32_t domid) {
    put(w, vcuda_path_back(domid, "frontend"), vcuda_path_front(domid, NULL).s);
    put_u32(w, vcuda_path_back(domid, "online"), 1);
    put(w, vcuda_path_front(domid, "backend"), vcuda_path_back(domid, NULL).s);
    put_u32(w, vcuda_path_back(domid, "state"), VCUDA_STATE_INITIALISING);
    put_u32(w, vcuda_path_front(domid, "state"), VCUDA_STATE_INITIALISING);
}

/*
 * Closed but online: its guest's driver went, and the backend's bus still holds
 * the device. Only without a device, or after a detach, is there room for one.
 */
static bool attached(struct xs_handle *xs, xs_transaction_t t, uint32_t domid) {
    enum vcuda_state state = node_state(xs, t, vcuda_path_back(domid, "state"));
    uint32_t online = 0;

    node_u32(xs, t, vcuda_path_back(domid, "online"), &online);
    return state_attached(state) || (state == VCUDA_STATE_CLOSED && online);
}

static int attach_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    const struct attach *attach = arg;
    struct writer w = {.xs = xs, .t = t};
    struct vcuda_path home = {0};

    /* A toolstack that is destroying the domain has removed this already: do not bring it back. */
    snprintf(home.s, sizeof(home.s), "/local/domain/%u", attach->domid);
    if (!node_exists(xs, t, home))
        return -ESRCH;
    if (attached(xs, t, attach->domid))
        return -EEXIST;
    w.err = device_remove(xs, t, attach->domid);
    if (!w.err)
        w.err = node_remove(xs, t, vcuda_path_dom0(attach->domid, "detached"));
    put_folders(&w, attach->domid);
    put_policy(&w, attach->domid, attach->policy);
    put_links(&w, attach->domid);
    return w.err;
}

/*
 * The kernel hears by and by that a folder is gone, and takes the same folder
 * made anew for the old one: then nobody offers versions in it. sysfs tells
 * when the old device went, but no event does.
 */
static int await_departure(struct xs_handle *xs, uint32_t domid) {
    char device[64];

    snprintf(device, sizeof(device), "/sys/bus/xen-backend/devices/vcuda-%u-0", domid);
    for (int waited = 0; !access(device, F_OK); waited += DEPARTURE_STEP_MS) {
        if (node_exists(xs, XBT_NULL, vcuda_path_back(domid, "state")))
            return 0; /* attached; which is for the transaction to judge */
        if (waited >= DEPARTURE_MAX_MS)
            return -EINPROGRESS;
        poll(NULL, 0, DEPARTURE_STEP_MS);
    }
    return 0;
}

int vcuda_xs_attach(struct xs_handle *xs, uint32_t domid, const struct vcuda_policy *policy) {
    struct attach attach = {.domid = domid, .policy = policy};
    int err;

    if (domid == 0 || domid > VCUDA_DOMID_MAX)
        return -EINVAL;
    if (!vcuda_xs_alive(xs, domid))
        return -ESRCH;
    err = await_departure(xs, domid);
    return err ? err : transaction_run(xs, attach_step, &attach);
}

static void drop_incoming(char *name) {
    size_t len = strlen(name);

    if (len > strlen(INCOMING) && !strcmp(name + len - strlen(INCOMING), INCOMING))
        name[len - strlen(INCOMING)] = '\0';
}

int vcuda_xs_attach_by_policy(struct xs_handle *xs, uint32_t domid, const char *dir,
                              struct vcuda_policy_error *error) {
    char name[VCUDA_NAME_MAX + 1];
    struct vcuda_policy policy;
    int err = vcuda_xs_read_name(xs, domid, name);

    if (err == -ENAMETOOLONG)
        return -ENODATA;
    if (err == -ENOENT)
        return -EAGAIN;
    if (err)
        return err;
    drop_incoming(name);
    err = vcuda_policy_load(dir, name, &policy, error);
    if (err)
        return err == -ENOENT ? -ENODATA : err;
    if (node_exists(xs, XBT_NULL, vcuda_path_dom0(domid, "detached")))
        return -ECANCELED;
    return vcuda_xs_attach(xs, domid, &policy);
}
