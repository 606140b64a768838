// SPDX-License-Identifier: Apache-2.0
/* vcudactl policy: what vcudad attaches to which domain by itself. */
#include "ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum ctl_status ctl_base_policy(const char *name, struct vcuda_policy *policy, bool *stored) {
    struct vcuda_policy_error error = {.what = ""};
    int err = vcuda_policy_load(ctl_policy_dir, name, policy, &error);

    *stored = err == 0;
    if (err == -ENOENT) {
        vcuda_policy_defaults(policy);
        return CTL_OK;
    }
    if (err && error.what[0])
        return ctl_fail(CTL_FAILED, "%s/%s.conf:%u: %s", ctl_policy_dir, name, error.line,
                        error.what);
    return err ? ctl_fail_errno(err, ctl_policy_dir) : CTL_OK;
}

enum ctl_status ctl_store_policy(const char *name, const struct vcuda_policy *policy) {
    int err;

    if (!vcuda_name_ok(name))
        return ctl_fail(CTL_FAILED, "a domain named \"%s\" cannot have a policy: see vcuda.conf(5)",
                        name);
    err = vcuda_policy_store(ctl_policy_dir, name, policy);
    return err ? ctl_fail_errno(err, ctl_policy_dir) : CTL_OK;
}

static enum ctl_status show_one(const char *name) {
    struct vcuda_policy policy;
    char text[1024];
    bool stored;
    enum ctl_status status = ctl_base_policy(name, &policy, &stored);

    if (status)
        return status;
    if (!stored)
        return ctl_fail(CTL_CONFLICT, "no policy for \"%s\": vcudactl policy set makes one", name);
    if (vcuda_policy_format(&policy, text, sizeof(text)) < 0)
        return ctl_fail(CTL_FAILED, "the policy is too long");
    printf("# %s/%s.conf\n%s", ctl_policy_dir, name, text);
    return CTL_OK;
}

static enum ctl_status show_all(void) {
    enum ctl_status status = CTL_OK;
    char **names;
    int count = vcuda_policy_names(ctl_policy_dir, &names);

    if (count < 0)
        return ctl_fail_errno(count, ctl_policy_dir);
    for (int i = 0; i < count; i++) {
        enum ctl_status one = show_one(names[i]);

        if (one)
            status = one;
    }
    free(names);
    return status;
}

static enum ctl_status set(const char *name, const struct ctl_options *options) {
    struct vcuda_policy policy;
    bool stored;
    enum ctl_status status = ctl_base_policy(name, &policy, &stored);

    if (!status)
        status = ctl_apply(options, &policy);
    if (!status)
        status = ctl_store_policy(name, &policy);
    if (!status)
        printf("%s/%s.conf %s: it counts when the domain is attached next\n", ctl_policy_dir, name,
               stored ? "changed" : "made");
    return status;
}

static enum ctl_status remove_one(const char *name) {
    int err = vcuda_policy_remove(ctl_policy_dir, name);

    if (err == -ENOENT || err == -EINVAL)
        return ctl_fail(CTL_CONFLICT, "no policy for \"%s\"", name);
    return err ? ctl_fail_errno(err, ctl_policy_dir) : CTL_OK;
}

static enum ctl_status policy(const struct ctl_command *command, int argc, char **argv) {
    struct ctl_options options;
    bool done;
    enum ctl_status status = ctl_parse(command, CTL_LIMITS, argc, argv, &options, &done);
    const char *verb = options.operand_count > 0 ? options.operands[0] : "show";

    if (done)
        return status;
    if (!strcmp(verb, "set") && options.operand_count == 2)
        return set(options.operands[1], &options);
    if (options.set_count)
        return ctl_usage(command);
    if (!strcmp(verb, "show") && options.operand_count < 2)
        return show_all();
    if (!strcmp(verb, "show") && options.operand_count == 2)
        return show_one(options.operands[1]);
    if (!strcmp(verb, "remove") && options.operand_count == 2)
        return remove_one(options.operands[1]);
    return ctl_usage(command);
}

const struct ctl_command ctl_policy = {
    .name = "policy",
    .arguments = "[show [NAME]] | set NAME [OPTION...] | remove NAME",
    .what = "shows, makes and removes what vcudad attaches to a domain by itself",
    .options = CTL_POLICY_HELP "\nA policy is a file, NAME.conf in " VCUDA_POLICY_DIR
                               ": see vcuda.conf(5).\n",
    .run = policy,
};
