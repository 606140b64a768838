/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop of a program that is a list of cases:
 *
 *   PROGRAM CASE...    one line a case; exit status 1 if one went otherwise
 *   PROGRAM list       the cases' names
 */
#ifndef VCUDA_TESTS_LAB_CASES_H
#define VCUDA_TESTS_LAB_CASES_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lab_case {
    const char *name; /* NULL: the end of the list */
    void (*run)(void);
};

static const char *now_running;

/* Says how the case that runs went otherwise. */
__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
    va_list args;

    va_start(args, format);
    printf("%s: ", now_running);
    vprintf(format, args);
    printf("\n");
    exit(1);
}

static void run_case(const struct lab_case *cases, const char *name, void (*before)(void),
                     void (*after)(void)) {
    now_running = name;
    while (cases->name && strcmp(cases->name, name))
        cases++;
    if (!cases->name)
        fail("no such case");
    before();
    cases->run();
    after();
    printf("%s\n", name);
}

/* Each case between before() and after(). The program's exit status. */
static int run_cases(const struct lab_case *cases, void (*before)(void), void (*after)(void),
                     int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (; cases->name; cases++)
            printf("%s\n", cases->name);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        run_case(cases, argv[i], before, after);
    return argc > 1 ? 0 : 2;
}

#endif
