// SPDX-License-Identifier: Apache-2.0
/* Messages for whoever looks for a fault: shown where VCUDA_LOG is set. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"

/* By this the helper tells these libraries from NVIDIA's, which it could load instead. */
VCUDA_EXPORT const char vcuda_library[] = VCUDA_RELEASE;

void guest_log(const char *format, ...) {
    va_list args;

    if (!getenv("VCUDA_LOG"))
        return;
    va_start(args, format);
    fputs("vcuda: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
