// SPDX-License-Identifier: Apache-2.0
/*
 * What a user of this machine may do at vcudad's socket without harm to others.
 */
#include "daemon.h"
#include "probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Far more than a client waits for vcudad's answer. */
#define LINGER_S 600
#define SILENT 600
/* What vcudad may hold of them, with all that it has open besides. */
#define DESCRIPTORS_MAX 400

static struct daemon vcudad;

static int setup(void **state) {
    (void)state;
    unsetenv("PROBE");
    daemon_init(&vcudad);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    daemon_finish(&vcudad);
    return 0;
}

/* A connection whose last close sleeps: its peer, *other, reads nothing of what was sent. */
static int lingering(int *other) {
    const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_S};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    static const char much[65536];

    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    *other = accept(listener, NULL, NULL);
    assert_true(*other >= 0);
    close(listener);
    while (send(fd, much, sizeof(much), MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    return fd;
}

/* Leaves vcudad stopped: it reads the message only once its descriptor is nobody else's: else the
 * sleep were ours. */
static void send_lingering(int client, int *other) {
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS,
                           .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct iovec iov = {.iov_base = "question", .iov_len = 8};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.space)};
    int fd = lingering(other);

    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    assert_int_equal(kill(vcudad.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(vcudad.pid, NULL, WUNTRACED), vcudad.pid);
    assert_int_equal(sendmsg(client, &message, MSG_NOSIGNAL), 8);
    close(fd);
}

static void test_refused_descriptor_lingers(void **state) {
    int client, other, fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--max-local-sessions", "0"));
    client = client_connect_silent(&vcudad);
    send_lingering(client, &other);
    assert_int_equal(kill(vcudad.pid, SIGCONT), 0);
    assert_int_equal(client_opened(client), -EDQUOT);
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), -EDQUOT);
    close(fd);
    close(client);
    close(other);
    daemon_stop(&vcudad);
}

/* The same where nobody reads the message. */
static void test_descriptor_of_the_dead_lingers(void **state) {
    int client, other, fd;

    (void)state;
    setenv("PROBE", "slow", 1);
    daemon_start(&vcudad, ARGS("--warm", "0"));
    client = client_connect_silent(&vcudad);
    daemon_expect_log(&vcudad, "starts");
    /* Then it has closed all that is vcudad's, which ends the client alone. */
    daemon_expect_program(daemon_other_worker(&vcudad, 0), "probe-worker");
    send_lingering(client, &other);
    close(client);
    assert_int_equal(kill(vcudad.pid, SIGCONT), 0);
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), 0);
    close(fd);
    close(other);
    daemon_stop(&vcudad);
}

static unsigned descriptors_of(pid_t pid) {
    unsigned count = 0;
    char path[32];
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Who is refused and says nothing has no claim on vcudad's descriptors. */
static void test_silent_clients_are_bounded(void **state) {
    int fds[SILENT], fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--max-local-sessions", "0"));
    for (int i = 0; i < SILENT; i++)
        fds[i] = client_connect_silent(&vcudad);
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), -EDQUOT);
    assert_in_range(descriptors_of(vcudad.pid), 1, DESCRIPTORS_MAX);
    close(fd);
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
    daemon_stop(&vcudad);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_refused_descriptor_lingers),
        TEST(test_descriptor_of_the_dead_lingers),
        TEST(test_silent_clients_are_bounded),
    };

    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
