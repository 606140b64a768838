// SPDX-License-Identifier: Apache-2.0
/*
 * A session whose file is polled before its OPEN is refused, from a process of its own:
 *
 *   guest-refused    prints the name of OPEN's errno, or what was not as it should be
 *
 * The poll must end, the session stay dead, and its file closes with the poll's entry still there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ioctl.h"
#include "ring.h"
#include "version.h"

#define PATIENCE_MS 10000

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: not so: %s (%m)\n", __LINE__, #condition);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* 0 or an errno. */
static int ask_to_open(int fd) {
    struct vcuda_ioc_open open_arg = {
        .version = VCUDA_VERSION_MAX,
        .features = VCUDA_FEATURES,
        .sub_bytes = VCUDA_RING_MIN,
        .cmp_bytes = VCUDA_RING_MIN,
    };

    return ioctl(fd, VCUDA_IOC_OPEN, &open_arg) ? errno : 0;
}

/* A file without a session has nothing to poll for. */
static int has_session(int fd) {
    struct pollfd p = {.fd = fd};

    CHECK(poll(&p, 1, 0) >= 0);
    return !(p.revents & POLLERR);
}

int main(void) {
    struct epoll_event event = {.events = EPOLLIN};
    int fd = open(VCUDA_DEVICE, O_RDWR | O_CLOEXEC);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    __u64 count;
    int status;
    pid_t child;

    CHECK(fd >= 0 && poller >= 0);
    child = fork();
    CHECK(child >= 0);
    if (!child)
        _exit(ask_to_open(fd));
    for (int ms = 0; !has_session(fd); ms++) {
        CHECK(ms < PATIENCE_MS);
        usleep(1000);
    }
    CHECK(!epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event));

    CHECK(epoll_wait(poller, &event, 1, PATIENCE_MS) == 1);
    CHECK(event.events & EPOLLHUP);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status));
    CHECK(ask_to_open(fd) == EBUSY);
    CHECK(read(fd, &count, sizeof(count)) < 0 && errno == EPIPE);
    CHECK(!close(fd));
    CHECK(!close(poller));
    printf("%s\n", strerrorname_np(WEXITSTATUS(status)));
    return 0;
}
