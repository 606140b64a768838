// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include <stdlib.h>

static bool launch_blocking;

void environment_read(void) {
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

    launch_blocking = blocking && atoi(blocking) != 0;
}

bool environment_launch_blocking(void) {
    return launch_blocking;
}
