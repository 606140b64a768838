// SPDX-License-Identifier: Apache-2.0
/* vcudactl info: everything about one domain's device. */
#include "ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

/* Longest line and most nodes of a guest's folder that are shown: it may hold anything. */
#define VALUE_MAX 128
#define NODES_MAX 32

static void print_device(const struct vcuda_back *back, const struct vcuda_front *front) {
    printf("backend     %s%s", vcuda_state_name(back->state),
           back->online ? "" : ", being detached");
    if (back->offers)
        printf("; protocol versions %u to %u, features 0x%x", back->min_version, back->max_version,
               back->features);
    printf("\nfrontend    %s", vcuda_state_name(front->state));
    if (front->agreed)
        printf("; protocol version %u, features 0x%x", front->version, front->features);
    if (front->wired)
        printf("; control page is grant %u, event channel %u", front->ctl_ring_ref,
               front->event_channel);
    printf("\n");
    if (ctl_hint(back, front))
        printf("hint        %s\n", ctl_hint(back, front));
}

static void print_limits(struct xs_handle *xs, uint32_t domid, const struct vcuda_policy *policy) {
    char gpus[VCUDA_GPUS_TEXT_MAX];
    struct vcuda_usage usage;
    bool known = !vcuda_xs_read_usage(xs, domid, &usage);

    vcuda_format_gpus(&policy->gpus, ',', gpus);
    printf("gpus        %s\n", gpus);
    if (known)
        printf("sessions    %u of %u\npages       %u of %u (%u of %u MiB)\n", usage.sessions,
               policy->max_sessions, usage.pages, policy->max_pages, usage.pages / 256,
               policy->max_pages / 256);
    else
        printf("sessions    at most %u\npages       at most %u (%u MiB)\n", policy->max_sessions,
               policy->max_pages, policy->max_pages / 256);
    if (known)
        printf("gpu memory  %u MiB", usage.gpu_mib);
    else
        printf("gpu memory ");
    if (policy->max_gpu_mib)
        printf(" %s %u MiB\n", known ? "of" : "at most", policy->max_gpu_mib);
    else
        printf("%s no limit\n", known ? "," : "");
}

static void print_policy(const char *name) {
    struct vcuda_policy_error error = {.what = ""};
    struct vcuda_policy policy;
    int err = vcuda_policy_load(ctl_policy_dir, name, &policy, &error);

    if (!err)
        printf("policy      %s/%s.conf\n", ctl_policy_dir, name);
    else if (err == -ENOENT)
        printf("policy      none: vcudad does not attach this domain by itself\n");
    else
        printf("policy      %s/%s.conf is not usable: line %u: %s\n", ctl_policy_dir, name,
               error.line, error.what[0] ? error.what : strerror(-err));
}

static void print_node(struct xs_handle *xs, const char *folder, const char *node) {
    char path[VCUDA_PATH_MAX + VALUE_MAX];
    unsigned len;
    char *value;

    if (snprintf(path, sizeof(path), "%s/%s", folder, node) >= (int)sizeof(path))
        return;
    value = xs_read(xs, XBT_NULL, path, &len);
    if (!value)
        return;
    printf("  ");
    ctl_print_safe(stdout, node, strlen(node));
    printf(" = \"");
    ctl_print_safe(stdout, value, len < VALUE_MAX ? len : VALUE_MAX);
    printf("\"%s\n", len > VALUE_MAX ? " (cut)" : "");
    free(value);
}

static void print_folder(struct xs_handle *xs, struct vcuda_path folder) {
    unsigned count;
    char **nodes = xs_directory(xs, XBT_NULL, folder.s, &count);

    if (!nodes)
        return;
    printf("%s\n", folder.s);
    for (unsigned i = 0; i < count && i < NODES_MAX; i++)
        print_node(xs, folder.s, nodes[i]);
    if (count > NODES_MAX)
        printf("  and %u more\n", count - NODES_MAX);
    free(nodes);
}

static void print_counters(uint32_t domid) {
    char path[sizeof(VCUDA_COUNTERS_DIR) + 16], line[VALUE_MAX];
    FILE *file;

    snprintf(path, sizeof(path), VCUDA_COUNTERS_DIR "/%u", domid);
    file = fopen(path, "re");
    if (!file)
        return;
    printf("%s\n", path);
    while (fgets(line, sizeof(line), file)) {
        printf("  ");
        ctl_print_safe(stdout, line, strcspn(line, "\n"));
        printf("\n");
    }
    fclose(file);
}

static enum ctl_status print_info(struct xs_handle *xs, const struct ctl_domain *domain) {
    const char *domain_state = ctl_domain_state(domain->id);
    struct vcuda_back back;
    struct vcuda_front front;
    int err = vcuda_xs_read_back(xs, domain->id, &back);

    if (!domain_state)
        return CTL_FAILED;
    if (!err)
        err = vcuda_xs_read_front(xs, domain->id, &front);
    if (err)
        return ctl_fail_errno(err, "reading nodes");
    printf("domain      %s (id %u), %s\n", domain->name[0] ? domain->name : "(no name)", domain->id,
           domain_state);
    if (back.state == VCUDA_STATE_UNKNOWN) {
        printf("device      none\n");
        print_policy(domain->name);
        return CTL_OK;
    }
    print_device(&back, &front);
    print_limits(xs, domain->id, &back.policy);
    print_policy(domain->name);
    print_folder(xs, vcuda_path_back(domain->id, NULL));
    print_folder(xs, vcuda_path_front(domain->id, NULL));
    print_folder(xs, vcuda_path_dom0(domain->id, NULL));
    print_counters(domain->id);
    return CTL_OK;
}

static enum ctl_status info_of(struct xs_handle *xs, const struct ctl_options *options) {
    struct ctl_domain domain;
    enum ctl_status status = ctl_find(xs, options->operands[0], true, &domain);

    return status ? status : print_info(xs, &domain);
}

static enum ctl_status info(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, 0, 1, argc, argv, info_of);
}

const struct ctl_command ctl_info = {
    .name = "info",
    .arguments = "DOMAIN",
    .what = "shows everything about a domain's device",
    .run = info,
};
