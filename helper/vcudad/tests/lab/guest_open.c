// SPDX-License-Identifier: Apache-2.0
/*
 * usage: guest-open SECONDS
 * In a guest: opens a session and holds it. Prints "open 0", or "open " and
 * the negative errno; then "dead" when the session ends within SECONDS, or
 * "alive".
 */
#include "ioctl.h"
#include "layout.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int main(int argc, char **argv) {
    struct vcuda_ioc_open request = {
        .version = VCUDA_VERSION_MAX,
        .sub_bytes = VCUDA_RING_MIN,
        .cmp_bytes = VCUDA_RING_MIN,
    };
    int fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC);
    struct pollfd session = {.fd = fd};
    int seconds = argc > 1 ? atoi(argv[1]) : 0;
    int error = fd < 0 || ioctl(fd, VCUDA_IOC_OPEN, &request) ? -errno : 0;

    printf("open %d\n", error);
    fflush(stdout);
    if (error)
        return 1;
    poll(&session, 1, seconds * 1000);
    puts(session.revents & POLLHUP ? "dead" : "alive");
    return 0;
}
