/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel has counted of processes: context switches and processor time. */
#ifndef VCUDA_USE_H
#define VCUDA_USE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "children.h"

struct use {
    double switches, ns;
};

/* Adds a thread's. */
static inline void add_thread(struct use *u, int pid, const char *thread) {
    char path[320], line[256];
    double ns = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, thread);
    f = fopen(path, "r");
    if (f && fscanf(f, "%lf", &ns) == 1)
        u->ns += ns;
    if (f)
        fclose(f);
    snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, thread);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        char *value = strstr(line, "ctxt_switches:");

        if (value)
            u->switches += atof(value + strlen("ctxt_switches:"));
    }
    if (f)
        fclose(f);
}

/* Of a process that is there. */
static inline struct use use_of(int pid) {
    struct use u = {0, 0};
    struct dirent *e;
    char path[64];
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    d = opendir(path);
    if (!d) {
        perror(path);
        exit(1);
    }
    while ((e = readdir(d))) {
        if (e->d_name[0] != '.')
            add_thread(&u, pid, e->d_name);
    }
    closedir(d);
    return u;
}

/* Of a process and its children; none for 0. */
static inline struct use use_of_family(int parent) {
    struct use u = {0, 0}, child;
    DIR *proc;
    int pid;

    if (!parent)
        return u;
    u = use_of(parent);
    proc = opendir("/proc");
    while ((pid = next_child(proc, parent))) {
        child = use_of(pid);
        u.switches += child.switches;
        u.ns += child.ns;
    }
    if (proc)
        closedir(proc);
    return u;
}

#endif
