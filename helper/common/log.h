/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to the standard error, for vcudad and its workers.
 *
 * Under systemd (JOURNAL_STREAM is set) each line starts with "<N>", the
 * syslog priority; else with the name of the program.
 */
#ifndef VCUDA_HELPER_LOG_H
#define VCUDA_HELPER_LOG_H

#include <stdbool.h>

enum vcuda_log_level {
    VCUDA_LOG_ERROR = 3, /* numbers of syslog.h */
    VCUDA_LOG_WARNING = 4,
    VCUDA_LOG_NOTICE = 5, /* shown unless quiet */
    VCUDA_LOG_INFO = 6,   /* shown with -v */
    VCUDA_LOG_DEBUG = 7,  /* shown with -vv */
};

/* name must outlive the program. Levels above max are dropped. */
void vcuda_log_open(const char *name, enum vcuda_log_level max);

/*
 * How vcudad's level reaches its workers: an argument of their command line. The text is good until
 * the next call; false: the argument is none of ours.
 */
const char *vcuda_log_as_argument(void);
bool vcuda_log_argument(const char *arg);

/* Writes to `fd` from now on, where the standard error serves something else. */
void vcuda_log_to(int fd);

/* One line; control characters in it are shown as '?'. Any thread. errno stays. */
void vcuda_log(enum vcuda_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
