/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver may fall over a wrong argument, and take the program with it. Where OUTLIVE is set, as
 * `run` sets it for native runs, a process watches the one that runs the program: one that a signal
 * ends is started anew, goes silently to the step that it fell over, says so instead of taking it,
 * and goes on from there.
 */
#ifndef VCUDA_CONFORMANCE_OUTLIVE_H
#define VCUDA_CONFORMANCE_OUTLIVE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#define OUTLIVE_FALLS 64

/* What the watcher and the process that it watches share. */
struct outlived {
    unsigned now; /* steps taken by this process */
    unsigned falls;
    unsigned fell[OUTLIVE_FALLS]; /* the steps that ended one, rising */
    int out;                      /* standard output as it was */
};

/* NULL: nobody watches. */
__attribute__((unused)) static struct outlived *outlived;

/* Before a call that may end the program: whether to make it. */
static inline bool step(const char *what) {
    struct outlived *o = outlived;
    bool fell = false;

    if (!o)
        return true;
    o->now++;
    for (unsigned i = 0; i < o->falls; i++)
        fell |= o->fell[i] == o->now;
    if (o->falls && o->now == o->fell[o->falls - 1]) {
        fflush(stdout);
        dup2(o->out, STDOUT_FILENO);
    }
    if (fell)
        printf("%s: ends the program\n", what);
    return !fell;
}

/* Forks; the child's output is silent if it has been here before. */
static inline pid_t outlive_fork(struct outlived *o) {
    pid_t child;
    int nowhere;

    fflush(stdout);
    child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    outlived = o;
    if (o && o->falls) {
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    return 0;
}

/* True in a child process that runs on; false in the watcher, when it has ended with *status. */
static inline bool outlive(int *status) {
    struct outlived *o = NULL;
    pid_t child;

    if (getenv("OUTLIVE")) {
        o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (o == MAP_FAILED)
            exit(1);
        o->out = dup(STDOUT_FILENO);
    }
    for (;;) {
        child = outlive_fork(o);
        if (!child)
            return true;
        waitpid(child, status, 0);
        if (!o || !WIFSIGNALED(*status) || !o->now || o->falls == OUTLIVE_FALLS ||
            (o->falls && o->now <= o->fell[o->falls - 1]))
            return false;
        o->fell[o->falls++] = o->now;
        o->now = 0;
    }
}

#endif
