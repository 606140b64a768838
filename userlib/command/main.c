// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "vcuda.h"

/* Looked for by the C library. */
__attribute__((visibility("default"))) const char *argp_program_version = "vcuda " VCUDA_RELEASE;

enum { OPTION_SOCKET = 256, OPTION_LOG, OPTION_STATS };

static const struct argp_option options[] = {
    {"transport", 't', "HOW", 0, "xen, local or auto: how programs reach the GPU", 0},
    {"socket", OPTION_SOCKET, "PATH", 0, "vcudad's socket for the local transport", 0},
    {"log", OPTION_LOG, NULL, 0, "tell on standard error what goes wrong", 0},
    {"stats", OPTION_STATS, NULL, 0, "print the program's counters when it ends", 0},
    {0},
};

static const char usage[] = "run [--] PROGRAM [ARGUMENT...]\ndoctor\ninfo";
static const char what[] =
    "Runs CUDA programs on a GPU of the host, and finds out why they do not.\n"
    "\n"
    "  run      runs a program with vcuda's libraries, whatever else is installed\n"
    "  doctor   looks at all that a program needs, and says how to mend it\n"
    "  info     shows the devices, how they are reached, and what they have left\n"
    "\v"
    "doctor ends with status 1 when something must be mended, info when there is no device. "
    "See vcuda(1).";

struct state {
    struct options options;
    const char *command;
};

static error_t take_command(struct state *s, char *word, struct argp_state *state) {
    s->command = word;
    if (strcmp(word, "run"))
        return 0;
    /* All the rest is the program's. */
    if (state->next < state->argc && !strcmp(state->argv[state->next], "--"))
        state->next++;
    if (state->next == state->argc)
        argp_error(state, "run what?");
    s->options.program = state->argv + state->next;
    state->next = state->argc;
    return 0;
}

static error_t take(int key, char *value, struct argp_state *state) {
    struct state *s = state->input;

    switch (key) {
    case 't':
        if (strcmp(value, "xen") && strcmp(value, "local") && strcmp(value, "auto"))
            argp_error(state, "--transport is xen, local or auto");
        s->options.transport = value;
        return 0;
    case OPTION_SOCKET:
        s->options.socket = value;
        return 0;
    case OPTION_LOG:
        s->options.log = true;
        return 0;
    case OPTION_STATS:
        s->options.stats = true;
        return 0;
    case ARGP_KEY_ARG:
        if (s->command)
            argp_error(state, "%s: one too many", value);
        return take_command(s, value, state);
    case ARGP_KEY_END:
        if (!s->command)
            argp_error(state, "which command?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void options_export(const struct options *o) {
    if (o->transport)
        setenv("VCUDA_TRANSPORT", o->transport, 1);
    if (o->socket)
        setenv("VCUDA_SOCKET", o->socket, 1);
    if (o->log)
        setenv("VCUDA_LOG", "1", 1);
    if (o->stats)
        setenv("VCUDA_STATS", "1", 1);
}

int main(int argc, char **argv) {
    static const struct argp argp = {options, take, usage, what, NULL, NULL, NULL};
    static const struct {
        const char *name;
        int (*run)(const struct options *o);
    } commands[] = {{"run", command_run}, {"doctor", command_doctor}, {"info", command_info}};
    struct state s = {0};

    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &s))
        return 2;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!strcmp(s.command, commands[i].name))
            return commands[i].run(&s.options);
    }
    fprintf(stderr, "vcuda: there is no command %s\nTry `vcuda --help'.\n", s.command);
    return 2;
}
