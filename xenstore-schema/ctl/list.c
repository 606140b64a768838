// SPDX-License-Identifier: Apache-2.0
/* vcudactl list */
#include "ctl.h"

#include <stdlib.h>
#include <string.h>

struct row {
    struct ctl_domain domain;
    const char *domain_state;
    struct vcuda_back back;
    struct vcuda_front front;
    struct vcuda_usage usage;
    bool has_usage;
};

static enum ctl_status read_row(struct xs_handle *xs, uint32_t domid, struct row *row) {
    int err;

    row->domain.id = domid;
    ctl_name(xs, &row->domain);
    row->domain_state = ctl_domain_state(domid);
    if (!row->domain_state)
        return CTL_FAILED;
    row->has_usage = !vcuda_xs_read_usage(xs, domid, &row->usage);
    err = vcuda_xs_read_back(xs, domid, &row->back);
    if (!err)
        err = vcuda_xs_read_front(xs, domid, &row->front);
    return err ? ctl_fail_errno(err, "reading nodes") : CTL_OK;
}

/* "2/64", or "-/64" while vcudad does not say; without a limit, the use alone. */
static void used_text(char text[32], bool known, uint32_t used, uint32_t max) {
    char limit[16] = "";

    if (max)
        snprintf(limit, sizeof(limit), "/%u", max);
    if (known)
        snprintf(text, 32, "%u%s", used, limit);
    else
        snprintf(text, 32, "-%s", limit);
}

static void print_row(const struct row *row) {
    const struct vcuda_policy *policy = &row->back.policy;
    char gpus[VCUDA_GPUS_TEXT_MAX], sessions[32], pages[32], memory[32];
    const char *name = row->domain.name[0] ? row->domain.name : "-";
    int pad = 24 - (int)strlen(name);

    vcuda_format_gpus(&policy->gpus, ',', gpus);
    used_text(sessions, row->has_usage, row->usage.sessions, policy->max_sessions);
    used_text(pages, row->has_usage, row->usage.pages, policy->max_pages);
    used_text(memory, row->has_usage, row->usage.gpu_mib, policy->max_gpu_mib);
    printf("%5u  ", row->domain.id);
    ctl_print_safe(stdout, name, strlen(name));
    printf("%*s %-9s %-13s %-9s %-9s %-14s %-7u %s\n", pad > 0 ? pad : 0, "", row->domain_state,
           vcuda_state_name(row->back.state), gpus, sessions, pages, policy->max_pages / 256,
           memory);
}

static void print_json_row(const struct row *row) {
    const struct vcuda_policy *policy = &row->back.policy;
    char gpus[VCUDA_GPUS_TEXT_MAX];

    vcuda_format_gpus(&policy->gpus, ',', gpus);
    printf("{\"id\": %u, \"name\": ", row->domain.id);
    ctl_print_json_string(row->domain.name);
    printf(", \"domain\": \"%s\", \"backend\": \"%s\", \"frontend\": \"%s\", \"online\": %s, ",
           row->domain_state, vcuda_state_name(row->back.state), vcuda_state_name(row->front.state),
           row->back.online ? "true" : "false");
    if (row->has_usage)
        printf("\"sessions\": %u, \"pages\": %u, \"gpu_mib\": %u, ", row->usage.sessions,
               row->usage.pages, row->usage.gpu_mib);
    else
        printf("\"sessions\": null, \"pages\": null, \"gpu_mib\": null, ");
    printf("\"gpus\": [%s], \"max_sessions\": %u, \"max_pages\": %u, \"max_gpu_mib\": %u}", gpus,
           policy->max_sessions, policy->max_pages, policy->max_gpu_mib);
}

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static enum ctl_status print_rows(struct xs_handle *xs, const uint32_t *domids, int count,
                                  bool json) {
    if (json)
        printf("[");
    else
        printf("%5s  %-24s %-9s %-13s %-9s %-9s %-14s %-7s %s\n", "ID", "NAME", "DOMAIN", "DEVICE",
               "GPUS", "SESSIONS", "PAGES", "MAX-MIB", "GPU-MIB");
    for (int i = 0; i < count; i++) {
        struct row row;
        enum ctl_status status = read_row(xs, domids[i], &row);

        if (status)
            return status;
        if (json) {
            printf(i ? ",\n " : "");
            print_json_row(&row);
        } else {
            print_row(&row);
        }
    }
    if (json)
        printf("]\n");
    return CTL_OK;
}

static enum ctl_status list_all(struct xs_handle *xs, const struct ctl_options *options) {
    enum ctl_status status;
    uint32_t *domids;
    int count = vcuda_xs_attached(xs, &domids);

    if (count < 0)
        return ctl_fail_errno(count, "listing devices");
    qsort(domids, (size_t)count, sizeof(*domids), by_id);
    status = print_rows(xs, domids, count, options->json);
    free(domids);
    return status;
}

static enum ctl_status list(const struct ctl_command *command, int argc, char **argv) {
    return ctl_run(command, CTL_JSON, 0, argc, argv, list_all);
}

const struct ctl_command ctl_list = {
    .name = "list",
    .arguments = "[--json]",
    .what = "shows the domains that have a vcuda device",
    .options =
        "  --json              the same for programs\n"
        "\nSESSIONS, PAGES and GPU-MIB are USED/LIMIT; USED is - where vcudad does not run.\n"
        "GPU-MIB is device memory, USED alone without a limit.\n",
    .run = list,
};
