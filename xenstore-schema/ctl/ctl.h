/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of vcudactl share. */
#ifndef VCUDACTL_H
#define VCUDACTL_H

#include "schema.h"

#include <stdio.h>

/* Exit statuses, as in vcudactl(8). */
enum ctl_status {
    CTL_OK = 0,
    CTL_FAILED = 1,
    CTL_USAGE = 2,
    CTL_NO_DOMAIN = 3,
    CTL_CONFLICT = 4, /* attached otherwise, or not attached */
    CTL_TIMEOUT = 5,
};

struct ctl_command {
    const char *name;
    const char *arguments;
    const char *what;
    const char *options; /* help text, or NULL */
    enum ctl_status (*run)(const struct ctl_command *command, int argc, char **argv);
};

extern const struct ctl_command ctl_attach, ctl_detach, ctl_list, ctl_info, ctl_policy, ctl_restore,
    ctl_reap;

/* --policy-dir, or VCUDA_POLICY_DIR. */
extern const char *ctl_policy_dir;

/* ---- common.c ---- */

/* Prints "vcudactl: ..." on stderr; returns status, for `return ctl_fail(...)`. */
__attribute__((format(printf, 2, 3))) enum ctl_status ctl_fail(enum ctl_status status,
                                                               const char *format, ...);
/* The same for a negative errno of the library, with the remedy where there is one. */
enum ctl_status ctl_fail_errno(int err, const char *doing);
void ctl_help(const struct ctl_command *command, FILE *out);
enum ctl_status ctl_usage(const struct ctl_command *command);

/* NULL after a message. xs_close() it. */
struct xs_handle *ctl_open(void);

/* A domain as the admin named it. */
struct ctl_domain {
    uint32_t id;
    char name[VCUDA_NAME_MAX + 1]; /* "" where it has none, or too long a one */
};

/* By name or id. leftover: ids of dead domains that are still attached count too. */
enum ctl_status ctl_find(struct xs_handle *xs, const char *text, bool leftover,
                         struct ctl_domain *domain);
void ctl_name(struct xs_handle *xs, struct ctl_domain *domain);

/* What to do when a device does not get further than these states, or NULL. */
const char *ctl_hint(const struct vcuda_back *back, const struct vcuda_front *front);

/* Text that a guest may have written, harmless to a terminal. */
void ctl_print_safe(FILE *out, const char *text, size_t len);
void ctl_print_json_string(const char *text);

/* ---- options.c: --gpus, --max-sessions, --max-pages, --max-gpu-mib ---- */

#define CTL_POLICY_HELP                                                                            \
    "  --gpus LIST         the host's GPUs that the domain sees, in this order (0,2)\n"            \
    "  --max-sessions N    processes of the guest that use a GPU at a time (64)\n"                 \
    "  --max-pages N       guest pages of 4 KiB shared with dom0 at a time (24576: 96 MiB)\n"      \
    "  --max-gpu-mib N     MiB of device memory, over all programs and GPUs (0: no limit)\n"

enum ctl_flag { CTL_PERSIST = 1, CTL_FORCE = 2, CTL_JSON = 4, CTL_TIMEOUT_S = 8, CTL_LIMITS = 16 };

/* What was given on the command line. */
struct ctl_options {
    struct {
        const char *key, *text;
    } set[8];
    unsigned set_count;
    bool persist, force, json;
    int timeout_ms; /* -1: not given */
    char **operands;
    int operand_count;
};

/* accepted: enum ctl_flag bits. Not CTL_OK after a message or the help: then *done is set. */
enum ctl_status ctl_parse(const struct ctl_command *command, unsigned accepted, int argc,
                          char **argv, struct ctl_options *options, bool *done);
/*
 * A whole command: reads its options (as ctl_parse), wants that many operands, reaches xenstored
 * and acts.
 */
enum ctl_status
ctl_run(const struct ctl_command *command, unsigned accepted, int operands, int argc, char **argv,
        enum ctl_status (*act)(struct xs_handle *xs, const struct ctl_options *options));
/* Lays the limits given over *policy. */
enum ctl_status ctl_apply(const struct ctl_options *options, struct vcuda_policy *policy);

/* ---- policy.c ---- */

/* The policy for name, or the defaults; where it came from in *stored. */
enum ctl_status ctl_base_policy(const char *name, struct vcuda_policy *policy, bool *stored);
enum ctl_status ctl_store_policy(const char *name, const struct vcuda_policy *policy);

/* ---- attach.c ---- */

enum ctl_status ctl_attach_domain(struct xs_handle *xs, const struct ctl_domain *domain,
                                  const struct vcuda_policy *policy);

/* ---- hypervisor.c ---- */

/* "running", "paused", "shutdown", "dying" or "gone", as Xen says; NULL after a message. */
const char *ctl_domain_state(uint32_t domid);

#endif
