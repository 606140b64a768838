// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENT "--log-level="

static const char *log_name = "vcuda";
static enum vcuda_log_level log_max = VCUDA_LOG_NOTICE;
static bool log_journal;
static int log_fd = STDERR_FILENO;

void vcuda_log_open(const char *name, enum vcuda_log_level max) {
    log_name = name;
    log_max = max;
    log_journal = getenv("JOURNAL_STREAM") != NULL;
}

static size_t prefix(char *line, size_t size, enum vcuda_log_level level) {
    if (log_journal)
        return (size_t)snprintf(line, size, "<%d>", level);
    return (size_t)snprintf(line, size, "%s[%d]: %s", log_name, (int)getpid(),
                            level == VCUDA_LOG_ERROR     ? "error: "
                            : level == VCUDA_LOG_WARNING ? "warning: "
                                                         : "");
}

const char *vcuda_log_as_argument(void) {
    static char text[32];

    snprintf(text, sizeof(text), ARGUMENT "%d", (int)log_max);
    return text;
}

bool vcuda_log_argument(const char *arg) {
    unsigned level;
    int end = 0;

    if (sscanf(arg, ARGUMENT "%1u%n", &level, &end) != 1 || arg[end])
        return false;
    log_max = level;
    return true;
}

void vcuda_log_to(int fd) {
    log_fd = fd;
}

void vcuda_log(enum vcuda_log_level level, const char *format, ...) {
    int saved = errno;
    char line[1024];
    va_list args;

    if (level > log_max)
        return;

    size_t start = prefix(line, sizeof(line), level);
    size_t room = sizeof(line) - start - 1; /* one for the end of line */

    va_start(args, format);
    vsnprintf(line + start, room, format, args);
    va_end(args);

    size_t length = start + strlen(line + start);

    /* Texts of workers and guests must not forge lines or move a terminal's cursor. */
    for (size_t i = start; i < length; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    }
    line[length++] = '\n';
    /* One write a line, so that lines of several processes do not mix. */
    ssize_t written = write(log_fd, line, length);

    (void)written; /* nowhere to say so */
    errno = saved;
}
