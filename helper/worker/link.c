// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include <poll.h>
#include <time.h>

bool link_ready(int fd, int64_t ns) {
    const struct timespec end = {ns / 1000000000, ns % 1000000000};
    struct pollfd p = {fd, POLLIN, 0};

    return ppoll(&p, 1, &end, NULL) > 0;
}
