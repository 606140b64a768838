/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that another one has started: vcudad's workers. */
#ifndef VCUDA_CHILDREN_H
#define VCUDA_CHILDREN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The next child of `parent` in an open /proc (which may be NULL); 0: no more. */
static inline int next_child(DIR *proc, int parent) {
    struct dirent *e;

    while (proc && (e = readdir(proc))) {
        int pid = atoi(e->d_name), ppid = 0;
        char path[280];
        FILE *f;

        if (!pid)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &ppid) != 1)
            ppid = 0;
        if (f)
            fclose(f);
        if (ppid == parent)
            return pid;
    }
    return 0;
}

#endif
