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
#include "use.h"

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
    struct use own, helper;
    size_t limit;

    start();
    for (int i = 0; i < 10000; i++)
        CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    nanosleep(&rest, NULL);
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
