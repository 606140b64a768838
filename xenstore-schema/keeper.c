// SPDX-License-Identifier: Apache-2.0
/*
 * Attaching by policy and reaping, whenever domains come and go. It remembers
 * nothing but whose name it waits for: everything else is read from the tree,
 * so that it may be killed and started again at any moment.
 */
#include "node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COME "@introduceDomain"
#define GONE "@releaseDomain"

struct vcuda_keeper {
    struct xs_handle *xs;
    const char *dir;
    vcuda_keeper_report *report;
    void *arg;
    uint32_t *nameless; /* domains whose name is watched */
    size_t nameless_count;
};

static void report_reaped(uint32_t domid, void *arg) {
    struct vcuda_keeper *keeper = arg;

    keeper->report(VCUDA_KEEPER_REAPED, domid, 0, "", keeper->arg);
}

static int await_name(struct vcuda_keeper *keeper, uint32_t domid) {
    uint32_t *list;

    for (size_t i = 0; i < keeper->nameless_count; i++)
        if (keeper->nameless[i] == domid)
            return 0;
    list = realloc(keeper->nameless, (keeper->nameless_count + 1) * sizeof(*list));
    if (!list)
        return -ENOMEM;
    keeper->nameless = list;
    if (!xs_watch(keeper->xs, vcuda_path_name(domid).s, "name"))
        return -errno;
    list[keeper->nameless_count++] = domid;
    return 0;
}

/* Ends the watches for names that came and of domains that went. */
static void forget_named(struct vcuda_keeper *keeper) {
    size_t kept = 0;

    for (size_t i = 0; i < keeper->nameless_count; i++) {
        struct vcuda_path path = vcuda_path_name(keeper->nameless[i]);

        if (vcuda_xs_alive(keeper->xs, keeper->nameless[i]) &&
            !node_exists(keeper->xs, XBT_NULL, path))
            keeper->nameless[kept++] = keeper->nameless[i];
        else
            xs_unwatch(keeper->xs, path.s, "name");
    }
    keeper->nameless_count = kept;
}

static void report_failed(struct vcuda_keeper *keeper, uint32_t domid, int err,
                          const struct vcuda_policy_error *error) {
    char why[sizeof(error->what) + 32];

    if (!error->what[0])
        snprintf(why, sizeof(why), "%s", strerror(-err));
    else if (!error->line)
        snprintf(why, sizeof(why), "its policy: %s", error->what);
    else
        snprintf(why, sizeof(why), "its policy, line %u: %s", error->line, error->what);
    keeper->report(VCUDA_KEEPER_FAILED, domid, err, why, keeper->arg);
}

static void attach_one(struct vcuda_keeper *keeper, uint32_t domid) {
    struct vcuda_policy_error error = {.what = ""};
    int err = vcuda_xs_attach_by_policy(keeper->xs, domid, keeper->dir, &error);

    if (err == -EAGAIN) {
        err = await_name(keeper, domid);
        if (!err)
            return;
    }
    switch (err) {
    case 0:
        keeper->report(VCUDA_KEEPER_ATTACHED, domid, 0, "", keeper->arg);
        break;
    case -EEXIST:    /* done already */
    case -ENODATA:   /* not ours */
    case -ECANCELED: /* detached by hand */
    case -ESRCH:     /* died meanwhile */
        break;
    default:
        report_failed(keeper, domid, err, &error);
    }
}

static int attach_all(struct vcuda_keeper *keeper) {
    uint32_t *domids;
    int count = vcuda_xs_domains(keeper->xs, &domids);

    for (int i = 0; i < count; i++)
        if (vcuda_xs_alive(keeper->xs, domids[i]))
            attach_one(keeper, domids[i]);
    free(domids);
    return count < 0 ? count : 0;
}

/* Takes all pending events; true if there was one. */
static bool take_events(struct vcuda_keeper *keeper) {
    bool some = false;
    char **event;

    while ((event = xs_check_watch(keeper->xs))) {
        free(event);
        some = true;
    }
    return some;
}

int vcuda_keeper_step(struct vcuda_keeper *keeper) {
    int err;

    if (!take_events(keeper))
        return errno == EAGAIN ? 0 : -errno;
    forget_named(keeper);
    err = vcuda_xs_reap(keeper->xs, report_reaped, keeper);
    return err < 0 ? err : attach_all(keeper);
}

int vcuda_keeper_fd(const struct vcuda_keeper *keeper) {
    return xs_fileno(keeper->xs);
}

struct vcuda_keeper *vcuda_keeper_open(const char *dir, vcuda_keeper_report *report, void *arg) {
    struct vcuda_keeper *keeper = calloc(1, sizeof(*keeper));

    if (!keeper)
        return NULL;
    *keeper = (struct vcuda_keeper){.xs = xs_open(0), .dir = dir, .report = report, .arg = arg};
    /* Each watch fires once at once, which is what handles the domains that exist. */
    if (keeper->xs && xs_fileno(keeper->xs) >= 0 && xs_watch(keeper->xs, COME, COME) &&
        xs_watch(keeper->xs, GONE, GONE))
        return keeper;
    vcuda_keeper_close(keeper);
    return NULL;
}

/* Keeps errno, for a failed open. */
void vcuda_keeper_close(struct vcuda_keeper *keeper) {
    int err = errno;

    xs_close(keeper->xs);
    free(keeper->nameless);
    free(keeper);
    errno = err;
}
