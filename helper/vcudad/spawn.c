// SPDX-License-Identifier: Apache-2.0
#include "spawn.h"
#include "cgroup.h"
#include "log.h"
#include "loop.h"
#include "memfile.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

/* Puts the two descriptors where the worker expects them and closes all others. */
static void arrange_descriptors(int sock, int stats) {
    int null = open("/dev/null", O_RDWR);

    /* First out of the way: either may be 3 or 4 now. */
    sock = fcntl(sock, F_DUPFD, 10);
    stats = fcntl(stats, F_DUPFD, 10);
    dup2(null, STDIN_FILENO);
    dup2(sock, VCUDA_SUPERVISE_FD);
    dup2(stats, VCUDA_SUPERVISE_STATS_FD);
    close_range(VCUDA_SUPERVISE_STATS_FD + 1, ~0u, 0);
}

static void reset_signals(void) {
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
}

/*
 * No network and no System V memory of others. Without root this needs a user
 * namespace, which changes who owns /dev/nvidia*: then it is left out.
 */
static void leave_namespaces(void) {
    if (geteuid() == 0 && unshare(CLONE_NEWNET | CLONE_NEWIPC))
        vcuda_log(VCUDA_LOG_WARNING, "worker shares the host's network: unshare: %s",
                  strerror(errno));
}

/*
 * The worker's mappings from the bottom up, a third of the way into its addresses. What the driver
 * allocates has the same address in the program, whose own mappings are at the top, as anybody's:
 * there some of both would meet, by chance, in one program of 200.
 */
static void leave_the_top(void) {
    int now = personality(0xffffffff);

    if (now < 0 || personality((unsigned long)now | ADDR_COMPAT_LAYOUT) < 0)
        vcuda_log(VCUDA_LOG_INFO, "worker maps where programs do: personality: %s",
                  strerror(errno));
}

static void set_environment(const struct options *options, const char *drop) {
    if (options->driver)
        setenv("VCUDA_DRIVER", options->driver, 1);
    if (!drop)
        return;
    /*
     * NVIDIA's driver keeps compiled PTX in a folder below HOME, by content. Shared between
     * guests it would tell one what another runs, and a worker could put code into it.
     */
    setenv("HOME", "/nonexistent", 1);
    setenv("CUDA_CACHE_DISABLE", "1", 0);
}

static void __attribute__((noreturn))
become_worker(const struct options *options, const char *drop, int sock, int stats, int group) {
    const char *arguments[5] = {"vcuda-worker", vcuda_log_as_argument()};
    char text[VCUDA_SUPERVISE_TEXT_MAX];
    int count = 2;

    setsid(); /* a terminal's Ctrl-C is for vcudad, which ends its workers in order */
    reset_signals();
    if (group >= 0 && write(group, "0", 1) < 0)
        vcuda_log(VCUDA_LOG_INFO, "worker cannot join its cgroup: %s", strerror(errno));
    loop_nudge(true); /* it may be the last to close a client's socket */
    arrange_descriptors(sock, stats);
    loop_nudge(false);
    if (options->sandbox)
        leave_namespaces();
    set_environment(options, drop);
    leave_the_top();
    if (drop)
        arguments[count++] = drop;
    if (!options->sandbox)
        arguments[count++] = "--no-sandbox";
    execv(options->worker, (char **)arguments);
    snprintf(text, sizeof(text), "cannot execute %s: %s", options->worker, strerror(errno));
    vcuda_supervise_failed(text);
    _exit(1);
}

int spawn_worker(const struct options *options, const char *drop, unsigned number,
                 struct spawned *spawned) {
    int pair[2];
    void *page;
    int stats = memfile_make("vcuda-stats", sizeof(*spawned->page), &page);
    int group;
    int error = 0;

    if (stats < 0)
        return stats;
    spawned->page = page;
    spawned->stats = &spawned->page->stats;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        error = -errno;
        close(stats);
        munmap(spawned->page, sizeof(*spawned->page));
        return error;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK); /* ours; the worker's end may block */
    spawned->sock = pair[0];
    group = cgroup_make(number);
    spawned->pid = fork();
    if (!spawned->pid)
        become_worker(options, drop, pair[1], stats, group);
    if (spawned->pid < 0) {
        error = -errno;
        spawn_release(spawned);
        cgroup_remove(number);
    }
    close(pair[1]);
    close(stats);
    if (group >= 0)
        close(group);
    return error;
}

void spawn_release(struct spawned *spawned) {
    if (spawned->sock >= 0)
        close(spawned->sock);
    spawned->sock = -1;
    munmap(spawned->page, sizeof(*spawned->page));
}
