// SPDX-License-Identifier: Apache-2.0
/* vcudactl detach, vcudactl reap */
#include "ctl.h"

#include <errno.h>

/* As long as xl waits for a block device. */
#define TIMEOUT_MS 10000

static enum ctl_status timed_out(struct xs_handle *xs, const struct ctl_domain *domain) {
    struct vcuda_back back;
    struct vcuda_front front;
    const char *hint;

    if (vcuda_xs_read_back(xs, domain->id, &back) || vcuda_xs_read_front(xs, domain->id, &front))
        return ctl_fail(CTL_FAILED, "reading the device's states failed");
    hint = ctl_hint(&back, &front);
    return ctl_fail(CTL_TIMEOUT,
                    "domain %u has not closed its device in time (backend %s, frontend %s)%s%s; "
                    "it is still asked to: detach again to wait on, with --force to take it away",
                    domain->id, vcuda_state_name(back.state), vcuda_state_name(front.state),
                    hint ? "; " : "", hint ? hint : "");
}

static enum ctl_status detach_by(struct xs_handle *xs, const struct ctl_options *options) {
    struct ctl_domain domain;
    enum ctl_status status = ctl_find(xs, options->operands[0], true, &domain);
    int err, timeout_ms = options->timeout_ms;

    if (status)
        return status;
    if (timeout_ms < 0)
        timeout_ms = options->force ? 0 : TIMEOUT_MS;
    err = vcuda_xs_detach(domain.id, timeout_ms, options->force);
    switch (err) {
    case 0:
        printf("%s (id %u): detached\n", domain.name[0] ? domain.name : "domain", domain.id);
        return CTL_OK;
    case -ENOENT:
        return ctl_fail(CTL_CONFLICT,
                        "domain %u has no vcuda device: vcudactl list shows those "
                        "that have one",
                        domain.id);
    case -ETIMEDOUT:
        return timed_out(xs, &domain);
    default:
        return ctl_fail_errno(err, "detaching");
    }
}

static enum ctl_status detach(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, CTL_FORCE | CTL_TIMEOUT_S, 1, argc, argv, detach_by);
}

const struct ctl_command ctl_detach = {
    .name = "detach",
    .arguments = "DOMAIN [--timeout SECONDS] [--force]",
    .what = "takes a domain's vcuda device away",
    .options =
        "  --timeout SECONDS   wait so long for both drivers to close (10; with --force 0)\n"
        "  --force             then take the device away, closed or not\n"
        "\nPrograms that use a GPU in the guest lose it. vcudad leaves the domain alone until\n"
        "it is attached again or starts anew; its policy stays.\n",
    .run = detach,
};

static void say_reaped(uint32_t domid, void *arg) {
    (void)arg;
    printf("domain %u is gone: its nodes are removed\n", domid);
}

static enum ctl_status reap_all(struct xs_handle *xs, const struct ctl_options *options) {
    int err = vcuda_xs_reap(xs, say_reaped, NULL);

    (void)options;
    return err < 0 ? ctl_fail_errno(err, "reaping") : CTL_OK;
}

static enum ctl_status reap(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, 0, 0, argc, argv, reap_all);
}

const struct ctl_command ctl_reap = {
    .name = "reap",
    .arguments = "",
    .what = "removes the devices of domains that are gone (vcudad does so by itself)",
    .run = reap,
};
