// SPDX-License-Identifier: Apache-2.0
/* vcudactl attach */
#include "ctl.h"

#include <errno.h>
#include <string.h>

static void policy_text(const struct vcuda_policy *policy, char text[1024]) {
    if (vcuda_policy_format(policy, text, 1024) < 0)
        text[0] = '\0';
}

static bool same_policy(const struct vcuda_policy *a, const struct vcuda_policy *b) {
    char text_a[1024], text_b[1024];

    policy_text(a, text_a);
    policy_text(b, text_b);
    return !strcmp(text_a, text_b);
}

static void say(const struct ctl_domain *domain, const char *what,
                const struct vcuda_policy *policy) {
    char gpus[VCUDA_GPUS_TEXT_MAX];

    vcuda_format_gpus(&policy->gpus, ',', gpus);
    printf("%s (id %u): %s: GPU %s, at most %u sessions and %u pages (%u MiB)\n",
           domain->name[0] ? domain->name : "domain", domain->id, what, gpus, policy->max_sessions,
           policy->max_pages, policy->max_pages / 256);
}

/* Wanting what is there already is no mistake; wanting something else is. */
static enum ctl_status attached_already(struct xs_handle *xs, const struct ctl_domain *domain,
                                        const struct vcuda_policy *wanted) {
    struct vcuda_back back;
    int err = vcuda_xs_read_back(xs, domain->id, &back);

    if (err)
        return ctl_fail_errno(err, "reading the backend's nodes");
    if (!back.online)
        return ctl_fail(CTL_CONFLICT,
                        "domain %u is being detached: vcudactl detach %u --force, then attach",
                        domain->id, domain->id);
    if (back.state == VCUDA_STATE_CLOSED)
        return ctl_fail(CTL_CONFLICT,
                        "domain %u is attached, but its driver has closed the device: detach it "
                        "first",
                        domain->id);
    if (!same_policy(&back.policy, wanted))
        return ctl_fail(CTL_CONFLICT,
                        "domain %u is attached already, with other settings (vcudactl info %u): "
                        "detach it first",
                        domain->id, domain->id);
    say(domain, "attached already", wanted);
    return CTL_OK;
}

enum ctl_status ctl_attach_domain(struct xs_handle *xs, const struct ctl_domain *domain,
                                  const struct vcuda_policy *policy) {
    int err = vcuda_xs_attach(xs, domain->id, policy);

    switch (err) {
    case 0:
        say(domain, "attached", policy);
        return CTL_OK;
    case -EEXIST:
        return attached_already(xs, domain, policy);
    case -ESRCH:
        return ctl_fail(CTL_NO_DOMAIN, "domain %u is gone", domain->id);
    default:
        return ctl_fail_errno(err, "writing the device's nodes");
    }
}

static enum ctl_status attach_by(struct xs_handle *xs, const struct ctl_options *options) {
    struct ctl_domain domain;
    struct vcuda_policy policy;
    bool stored;
    enum ctl_status status = ctl_find(xs, options->operands[0], false, &domain);

    if (!status)
        status = ctl_base_policy(domain.name, &policy, &stored);
    if (!status)
        status = ctl_apply(options, &policy);
    if (!status)
        status = ctl_attach_domain(xs, &domain, &policy);
    if (!status && options->persist)
        status = ctl_store_policy(domain.name, &policy);
    return status;
}

static enum ctl_status attach(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, CTL_LIMITS | CTL_PERSIST, 1, argc, argv, attach_by);
}

const struct ctl_command ctl_attach = {
    .name = "attach",
    .arguments = "DOMAIN [OPTION...]",
    .what = "gives a running domain a vcuda device",
    .options = CTL_POLICY_HELP
    "  --persist           make this the domain's policy: vcudad attaches it at each start\n"
    "\nDOMAIN is a name or an id. What is not given comes from the domain's policy, or is\n"
    "the default in parentheses; without a policy the domain sees GPU 0.\n",
    .run = attach,
};
