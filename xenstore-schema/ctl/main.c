// SPDX-License-Identifier: Apache-2.0
/* vcudactl: gives GPUs to domains and takes them away. */
#include "ctl.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char *ctl_policy_dir = VCUDA_POLICY_DIR;

static enum ctl_status version(const struct ctl_command *command, int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        return ctl_usage(command);
    puts("vcudactl " VCUDA_RELEASE);
    return CTL_OK;
}

static const struct ctl_command ctl_version = {
    .name = "version",
    .arguments = "",
    .what = "says which version of vcuda this is",
    .run = version,
};

static const struct ctl_command *const commands[] = {
    &ctl_attach, &ctl_detach,  &ctl_list, &ctl_info,
    &ctl_policy, &ctl_restore, &ctl_reap, &ctl_version,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out) {
    fputs("usage: vcudactl [--policy-dir DIR] COMMAND [ARGUMENT...]\n\ncommands\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->what);
    fputs("\n`vcudactl COMMAND --help` says more; vcudactl(8) says all.\n", out);
}

static const struct ctl_command *find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"policy-dir", required_argument, NULL, 'p'},
        {0},
    };
    const char *dir = getenv("VCUDA_POLICY_DIR");
    const struct ctl_command *command;
    int opt;

    if (dir && *dir)
        ctl_policy_dir = dir;
    /* "+": what follows the command's name is the command's. */
    while ((opt = getopt_long(argc, argv, "+hV", options, NULL)) != -1) {
        if (opt == 'p') {
            ctl_policy_dir = optarg;
        } else if (opt == 'V') {
            return version(&ctl_version, 1, argv);
        } else {
            help(opt == 'h' ? stdout : stderr);
            return opt == 'h' ? CTL_OK : CTL_USAGE;
        }
    }
    if (optind == argc) {
        help(stderr);
        return CTL_USAGE;
    }
    command = find(argv[optind]);
    if (!command)
        return ctl_fail(CTL_USAGE, "no command \"%s\": vcudactl --help lists them", argv[optind]);
    argc -= optind;
    argv += optind;
    optind = 0;
    return command->run(command, argc, argv);
}
