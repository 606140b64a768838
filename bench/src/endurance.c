// SPDX-License-Identifier: Apache-2.0
/*
 * usage: endurance [VCUDAD_PID]   Whether calls become dearer with use: the same figures in a fresh
 * process, after a million calls, with 10,000 events and with 63 other sessions; and the memory
 * that a session takes.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "children.h"

#define CALLS 1000000
#define EVENTS 10000
#define OTHERS 63
#define SAMPLES 2000
#define BURST 64

static CUstream stream;
static CUevent events[EVENTS];
static double samples[SAMPLES];

static void figures(const char *when) {
    char figure[80];
    size_t limit;

    for (int i = -SAMPLES / 10; i < SAMPLES; i++) {
        double begun = now();

        CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
        if (i >= 0)
            samples[i] = (now() - begun) * 1e6;
    }
    snprintf(figure, sizeof(figure), "waited call, %s", when);
    report(figure, "us", samples, SAMPLES);
    for (int i = 0; i < SAMPLES / BURST; i++) {
        double begun = now();

        for (int j = 0; j < BURST; j++)
            CK(cuEventRecord(events[0], stream));
        samples[i] = (now() - begun) * 1e6 / BURST;
        CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    }
    snprintf(figure, sizeof(figure), "posted call, %s", when);
    report(figure, "us", samples, SAMPLES / BURST);
}

/* KiB of a process as its smaps_rollup says, or -1. */
static double memory(int pid, const char *field) {
    char path[64], line[256];
    double kib = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        if (!strncmp(line, field, strlen(field)))
            kib = atof(line + strlen(field));
    }
    if (f)
        fclose(f);
    return kib;
}

/* What vcudad's workers take, each. */
static void print_workers(int vcudad) {
    double pss = 0, rss = 0;
    DIR *proc = opendir("/proc");
    int count = 0, pid;

    while ((pid = next_child(proc, vcudad))) {
        pss += memory(pid, "Pss:");
        rss += memory(pid, "Rss:");
        count++;
    }
    if (proc)
        closedir(proc);
    if (!count)
        return;
    pss /= count, rss /= count;
    report("worker of 64, its share of memory (PSS)", "KiB", &pss, 1);
    report("worker of 64, resident (RSS)", "KiB", &rss, 1);
}

/* Pages of this program that its worker has too: rings and arena. */
static void print_shared(void) {
    char line[256];
    double kib = 0;
    int ours = 0;
    FILE *f = fopen("/proc/self/smaps", "r");

    while (f && fgets(line, sizeof(line), f)) {
        if (strstr(line, "memfd:vcuda"))
            ours = 1;
        else if (ours && !strncmp(line, "Rss:", 4))
            kib += atof(line + 4);
        else if (!strncmp(line, "VmFlags:", 8))
            ours = 0;
    }
    if (f)
        fclose(f);
    report("pages shared with the worker, resident", "KiB", &kib, 1);
}

static void hold_session(int ready, int go) {
    char c = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(go, &c, 1) != 1)
        _exit(0);
    start();
    if (write(ready, &c, 1) != 1)
        _exit(1);
    pause();
    _exit(0);
}

int main(int argc, char **argv) {
    int ready[2], go[2], vcudad = argc > 1 ? atoi(argv[1]) : 0;
    pid_t others[OTHERS];
    char c = 0;

    if (pipe(ready) || pipe(go))
        return 1;
    /* Before this process has a session. */
    for (int i = 0; i < OTHERS; i++) {
        others[i] = fork();
        if (!others[i])
            hold_session(ready[1], go[0]);
    }
    start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&events[0], CU_EVENT_DISABLE_TIMING));
    figures("fresh");
    for (int i = 0; i < CALLS; i++)
        CK(cuEventRecord(events[0], stream));
    figures("after a million");
    for (int i = 1; i < EVENTS; i++)
        CK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    figures("10000 events");
    print_shared();
    for (int i = 0; i < OTHERS; i++) {
        if (write(go[1], &c, 1) != 1 || read(ready[0], &c, 1) != 1)
            return 1;
    }
    figures("64 sessions");
    print_workers(vcudad);
    for (int i = 0; i < OTHERS; i++)
        kill(others[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
