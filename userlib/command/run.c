// SPDX-License-Identifier: Apache-2.0
/* vcuda run: the program in its place, with our libraries before all others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vcuda.h"

int command_run(const struct options *o) {
    const char *folder = libraries_folder();
    const char *before = getenv("LD_LIBRARY_PATH");
    char *path;

    if (!folder) {
        fputs("vcuda: its libraries are neither beside it nor in ../lib/vcuda: install it anew\n",
              stderr);
        return 126;
    }
    if (asprintf(&path, "%s%s%s", folder, before && *before ? ":" : "", before ? before : "") < 0)
        return 126;
    setenv("LD_LIBRARY_PATH", path, 1);
    options_export(o);
    execvp(o->program[0], o->program);
    fprintf(stderr, "vcuda: %s: %s\n", o->program[0], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
