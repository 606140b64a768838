// SPDX-License-Identifier: Apache-2.0
/*
 * vcudad: supervises the workers that give this host's GPUs to guests.
 */
#include "listener.h"
#include "log.h"
#include "loop.h"
#include "notify.h"
#include "options.h"
#include "pool.h"
#include "sandbox.h"
#include "single.h"
#include "status.h"
#include "xen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

static struct options options;
static struct pool pool;
static struct loop_source signals;
static int signal_fd;

static void stop(void) {
    if (!pool.stopping)
        vcuda_log(VCUDA_LOG_NOTICE, "stops");
    listener_stop();
    pool_stop(&pool);
    xen_stop();
}

static void reload(void) {
    vcuda_log(VCUDA_LOG_NOTICE, "reads policies anew");
    xen_reload();
    pool_retry(&pool);
}

static void signal_comes(struct loop_source *source, uint32_t events) {
    struct signalfd_siginfo info;

    (void)source;
    (void)events;
    if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    switch (info.ssi_signo) {
    case SIGCHLD:
        pool_reap(&pool);
        break;
    case SIGHUP:
        if (!pool.stopping)
            reload();
        break;
    case SIGUSR1:
        pool_log(&pool);
        break;
    default:
        stop();
    }
}

static void watch_signals(void) {
    static const int watched[] = {SIGTERM, SIGINT, SIGCHLD, SIGHUP, SIGUSR1};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a log reader that went away */
    signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0) {
        perror("vcudad: signalfd");
        exit(1);
    }
    signals.ready = signal_comes;
    loop_add(signal_fd, &signals, EPOLLIN);
}

/* One descriptor a session, clients that wait, and what programs share. */
static void raise_limits(void) {
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static void warn_about_privileges(void) {
    if (!options.sandbox)
        vcuda_log(VCUDA_LOG_WARNING, "--no-sandbox: a guest that takes over its worker has all of "
                                     "vcudad's rights");
    else if (!vcuda_sandbox_filters())
        vcuda_log(VCUDA_LOG_WARNING, "built without libseccomp: workers' system calls are not "
                                     "filtered");
}

int main(int argc, char **argv) {
    options_parse(&options, argc, argv);
    vcuda_log_open("vcudad", VCUDA_LOG_NOTICE + options.verbose);
    raise_limits();
    watch_signals();
    if (single_start(options.state_dir))
        return 1;
    status_start(&options, &pool);
    warn_about_privileges();
    pool_start(&pool, &options);
    if (listener_start(&options, &pool) || xen_start(&options, &pool))
        stop();
    else
        notify_ready();
    bool failed = pool.stopping;

    loop_run();
    status_stop();
    return failed;
}
