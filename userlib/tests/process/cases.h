/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that ./run starts have in common: each is a case by its name. */
#ifndef VCUDA_TESTS_PROCESS_CASES_H
#define VCUDA_TESTS_PROCESS_CASES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says so and ends the program if it is not so. */
#define EXPECT(condition) expect(condition, __LINE__, #condition)

static void expect(bool ok, int line, const char *what) {
    if (ok)
        return;
    printf("line %d: unexpected: %s\n", line, what);
    exit(1);
}

struct process_case {
    const char *name;
    int (*run)(void);
};

/* Runs the case that the program's argument names: its exit status. The last has no name. */
static int run_case(const struct process_case *c, int argc, char **argv) {
    for (; argc > 1 && c->name; c++) {
        if (!strcmp(c->name, argv[1]))
            return c->run();
    }
    fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
}

#endif
