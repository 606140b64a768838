// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

static int problems;

/* Written at once: a child reports too, and may end in any way. */
static void line(const char *verdict, const char *format, va_list args) {
    printf("%-8s ", verdict);
    vprintf(format, args);
    putchar('\n');
    fflush(stdout);
}

void report_ok(const char *format, ...) {
    va_list args;

    va_start(args, format);
    line("ok", format, args);
    va_end(args);
}

void report_note(const char *format, ...) {
    va_list args;

    va_start(args, format);
    line("note", format, args);
    va_end(args);
}

void report_problem(const char *remedy, const char *format, ...) {
    va_list args;

    problems++;
    va_start(args, format);
    line("PROBLEM", format, args);
    va_end(args);
    printf("         -> %s\n", remedy);
    fflush(stdout);
}

int report_problems(void) {
    return problems;
}
