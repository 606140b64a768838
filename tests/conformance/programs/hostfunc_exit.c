// SPDX-License-Identifier: Apache-2.0
/* A process that ends while host functions wait or run; a child of one that has some. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static void sleep_long(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

static void sleep_short(void *unused) {
    (void)unused;
    usleep(200000);
}

static void nothing(void *unused) {
    (void)unused;
}

static void child(CUhostFn fn, int more, int how) {
    CUstream s;
    pid_t pid;

    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchHostFunc(s, fn, NULL));
    for (int i = 0; i < more; i++)
        CK(cuLaunchHostFunc(s, nothing, NULL));
    /* What a child calls of a CUDA that its parent initialised is undefined: it calls nothing. */
    if (how == 2) {
        pid = fork();
        if (!pid)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
    if (how == 1)
        _exit(0);
    exit(0);
}

/* Whether the process ends by itself within some seconds. */
static void run(const char *what, CUhostFn fn, int more, int how) {
    int status = 0, tries = 0;
    pid_t pid, done;

    fflush(stdout);
    pid = fork();
    if (!pid)
        child(fn, more, how);
    while (!(done = waitpid(pid, &status, WNOHANG)) && tries++ < 80)
        usleep(100000);
    if (!done) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    printf("%s: %s\n", what, done ? "ends" : "does not end");
}

int main(void) {
    run("exit while one runs for a moment", sleep_short, 0, 0);
    run("exit while others wait behind it", sleep_short, 100, 0);
    run("_exit while one sleeps", sleep_long, 1, 1);
    run("exit after a fork", sleep_short, 1, 2);
    return 0;
}
