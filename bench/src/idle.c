// SPDX-License-Identifier: Apache-2.0
/*
 * usage: idle [VCUDAD_PID]   What a program, its worker and vcudad do while nothing is called.
 *
 * After a burst of calls and 100 ms to come to rest: context switches and processor time in
 * a second, counted by the kernel, not timed.
 */
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "children.h"

struct use {
    double switches, ns;
};

/* Adds what the kernel has counted for a thread. */
static void add_thread(struct use *u, int pid, const char *thread) {
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

static struct use use_of(int pid) {
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

/* Of a process and its children. */
static struct use use_of_family(int parent) {
    struct use u = use_of(parent), child;
    DIR *proc = opendir("/proc");
    int pid;

    while ((pid = next_child(proc, parent))) {
        child = use_of(pid);
        u.switches += child.switches;
        u.ns += child.ns;
    }
    if (proc)
        closedir(proc);
    return u;
}

static void print(const char *who, struct use before, struct use after) {
    double switches = after.switches - before.switches, us = (after.ns - before.ns) / 1e3;
    char figure[64];

    snprintf(figure, sizeof(figure), "context switches of the idle %s", who);
    report(figure, "1/s", &switches, 1);
    snprintf(figure, sizeof(figure), "processor time of the idle %s", who);
    report(figure, "us/s", &us, 1);
}

int main(int argc, char **argv) {
    const struct timespec rest = {0, 100000000}, second = {1, 0};
    int vcudad = argc > 1 ? atoi(argv[1]) : 0;
    struct use own, helper = {0, 0};
    size_t limit;

    start();
    for (int i = 0; i < 10000; i++)
        CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    nanosleep(&rest, NULL);
    if (vcudad)
        helper = use_of_family(vcudad);
    /* What that took is charged to this thread by then. */
    nanosleep(&rest, NULL);
    own = use_of(getpid());
    nanosleep(&second, NULL);
    /* The pause's own switch is the program's: there is one of it. */
    print("program", own, use_of(getpid()));
    if (vcudad)
        print("worker and vcudad", helper, use_of_family(vcudad));
    return 0;
}
