// SPDX-License-Identifier: Apache-2.0
/*
 * vcudactl restore. A guest that resumes before its device's nodes exist
 * under its new id loses the device; xl knows nothing of them. So: restore
 * paused, attach, unpause.
 */
#include "ctl.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static enum ctl_status run_xl(const char *const argv[]) {
    pid_t pid;
    int status, err = posix_spawnp(&pid, "xl", NULL, NULL, (char *const *)argv, environ);

    if (err)
        return ctl_fail(CTL_FAILED, "xl cannot be run (%s): is this dom0?", strerror(err));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return ctl_fail(CTL_FAILED, "waiting for xl: %s", strerror(errno));
    if (status)
        return ctl_fail(CTL_FAILED, "xl %s failed", argv[1]);
    return CTL_OK;
}

static enum ctl_status attach_and_go(struct xs_handle *xs, const char *name) {
    struct ctl_domain domain;
    struct vcuda_policy policy;
    bool stored;
    enum ctl_status status = ctl_find(xs, name, false, &domain);

    if (!status)
        status = ctl_base_policy(domain.name, &policy, &stored);
    if (!status)
        status = ctl_attach_domain(xs, &domain, &policy);
    if (status)
        return ctl_fail(status, "the domain stays paused: attach it, then xl unpause \"%s\"", name);
    return run_xl((const char *const[]){"xl", "unpause", name, NULL});
}

static enum ctl_status restore_from(struct xs_handle *xs, const struct ctl_options *options) {
    char **operands = options->operands;
    enum ctl_status status =
        run_xl((const char *const[]){"xl", "restore", "-p", operands[1], NULL});

    return status ? status : attach_and_go(xs, operands[0]);
}

static enum ctl_status restore(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, 0, 2, argc, argv, restore_from);
}

const struct ctl_command ctl_restore = {
    .name = "restore",
    .arguments = "NAME FILE",
    .what = "restores a domain that `xl save` saved, with its vcuda device",
    .options = "NAME is the domain's name; its policy is used, or the defaults. It does\n"
               "`xl restore -p FILE`, `vcudactl attach NAME` and `xl unpause NAME`.\n",
    .run = restore,
};
