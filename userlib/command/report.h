/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor says: a line for each thing that it looked at. */
#ifndef VCUDA_COMMAND_REPORT_H
#define VCUDA_COMMAND_REPORT_H

/* All is well with this. */
void report_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Something to know, and nothing to mend. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This is not well; `remedy` says what to do. */
void report_problem(const char *remedy, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many problems this process reported. */
int report_problems(void);

#endif
