// SPDX-License-Identifier: Apache-2.0
/* The options of all subcommands; each says which it takes. */
#include "ctl.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <xenstore.h>

#define MAX_TIMEOUT_S 3600u

enum { OPT_LIMIT = 256, OPT_PERSIST, OPT_FORCE, OPT_JSON, OPT_TIMEOUT };

static const struct option all[] = {
    {"help", no_argument, NULL, 'h'},
    {"gpus", required_argument, NULL, OPT_LIMIT},
    {"max-sessions", required_argument, NULL, OPT_LIMIT},
    {"max-pages", required_argument, NULL, OPT_LIMIT},
    {"max-gpu-mib", required_argument, NULL, OPT_LIMIT},
    {"persist", no_argument, NULL, OPT_PERSIST},
    {"force", no_argument, NULL, OPT_FORCE},
    {"json", no_argument, NULL, OPT_JSON},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {0},
};

/* The flag that lets an option through; 0: always. */
static unsigned flag_of(int opt) {
    switch (opt) {
    case OPT_LIMIT:
        return CTL_LIMITS;
    case OPT_PERSIST:
        return CTL_PERSIST;
    case OPT_FORCE:
        return CTL_FORCE;
    case OPT_JSON:
        return CTL_JSON;
    case OPT_TIMEOUT:
        return CTL_TIMEOUT_S;
    default:
        return 0;
    }
}

static void pick(unsigned accepted, struct option *options) {
    unsigned count = 0;

    for (const struct option *o = all; o->name; o++)
        if ((flag_of(o->val) & ~accepted) == 0)
            options[count++] = *o;
    options[count] = (struct option){0};
}

static enum ctl_status take_timeout(const char *text, struct ctl_options *options) {
    uint32_t seconds;

    if (vcuda_parse_u32(text, strlen(text), &seconds) || seconds > MAX_TIMEOUT_S)
        return ctl_fail(CTL_USAGE, "--timeout takes seconds, 0 to %u, not \"%s\"", MAX_TIMEOUT_S,
                        text);
    options->timeout_ms = (int)seconds * 1000;
    return CTL_OK;
}

static enum ctl_status take_limit(const char *key, struct ctl_options *options) {
    if (options->set_count == sizeof(options->set) / sizeof(options->set[0]))
        return ctl_fail(CTL_USAGE, "too many options");
    options->set[options->set_count].key = key;
    options->set[options->set_count++].text = optarg;
    return CTL_OK;
}

enum ctl_status ctl_parse(const struct ctl_command *command, unsigned accepted, int argc,
                          char **argv, struct ctl_options *options, bool *done) {
    struct option picked[sizeof(all) / sizeof(all[0])];
    enum ctl_status status = CTL_OK;
    int opt, index = 0;

    pick(accepted, picked);
    *options = (struct ctl_options){.timeout_ms = -1};
    *done = true;
    while (!status && (opt = getopt_long(argc, argv, "h", picked, &index)) != -1) {
        switch (opt) {
        case 'h':
            ctl_help(command, stdout);
            return CTL_OK;
        case OPT_LIMIT:
            status = take_limit(picked[index].name, options);
            break;
        case OPT_PERSIST:
            options->persist = true;
            break;
        case OPT_FORCE:
            options->force = true;
            break;
        case OPT_JSON:
            options->json = true;
            break;
        case OPT_TIMEOUT:
            status = take_timeout(optarg, options);
            break;
        default: /* getopt has said what is wrong */
            return CTL_USAGE;
        }
    }
    options->operands = argv + optind;
    options->operand_count = argc - optind;
    *done = status != CTL_OK;
    return status;
}

enum ctl_status
ctl_run(const struct ctl_command *command, unsigned accepted, int operands, int argc, char **argv,
        enum ctl_status (*act)(struct xs_handle *xs, const struct ctl_options *options)) {
    struct ctl_options options;
    bool done;
    enum ctl_status status = ctl_parse(command, accepted, argc, argv, &options, &done);
    struct xs_handle *xs;

    if (done)
        return status;
    if (options.operand_count != operands)
        return ctl_usage(command);
    xs = ctl_open();
    if (!xs)
        return CTL_FAILED;
    status = act(xs, &options);
    xs_close(xs);
    return status;
}

enum ctl_status ctl_apply(const struct ctl_options *options, struct vcuda_policy *policy) {
    for (unsigned i = 0; i < options->set_count; i++) {
        const char *key = options->set[i].key, *text = options->set[i].text;
        int err = vcuda_policy_set(policy, key, text, strlen(text));

        if (err == -ERANGE)
            return ctl_fail(CTL_USAGE, "--%s %s is out of range: see vcuda.conf(5)", key, text);
        if (err)
            return ctl_fail(CTL_USAGE, "--%s: \"%s\" is not a valid value: see vcuda.conf(5)", key,
                            text);
    }
    return CTL_OK;
}
