/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a guest's user: see vcuda(1). */
#ifndef VCUDA_COMMAND_H
#define VCUDA_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* What the options before the command's name, and after it, say. */
struct options {
    const char *transport; /* NULL: as the environment says */
    const char *socket;
    bool log;
    bool stats;
    char **program; /* run: its arguments, NULL-terminated */
};

/* Each returns the exit status of the process; run only when it failed. */
int command_run(const struct options *o);
int command_doctor(const struct options *o);
int command_info(const struct options *o);

/* Puts the options into the environment, where our libraries find them. */
void options_export(const struct options *o);

/*
 * The folder in which our libraries lie: beside this program (as it was built), or where it was
 * installed. NULL if they are in neither.
 */
const char *libraries_folder(void);

/* Writes the path of one of them: false if there is no folder. */
bool library_path(const char *name, char *path, size_t size);

#endif
