/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcudad's command line.
 */
#ifndef VCUDAD_OPTIONS_H
#define VCUDAD_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

enum tristate { OFF, ON, AUTO };

struct options {
    unsigned warm;  /* workers kept ready */
    unsigned burst; /* and so many more, at most, while programs come faster than these get ready */
    enum tristate xen;
    bool local;
    const char *socket;
    mode_t socket_mode;
    const char *socket_group;    /* by name or number; NULL: vcudad's own */
    unsigned max_local_sessions; /* for each user */
    unsigned max_local_gpu_mib;  /* the same; 0: no limit */
    const char *state_dir;
    const char *policy_dir;
    const char *worker;      /* path of vcuda-worker */
    const char *worker_user; /* NULL: the default */
    const char *driver;      /* NULL: the worker's default */
    bool sandbox;
    int verbose; /* -1 quiet, 0, 1, 2 */
};

/* Parses the command line; ends the program on --help, --version and errors. */
void options_parse(struct options *options, int argc, char **argv);

#endif
