/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probe worker answers to each one-byte message of its client.
 */
#ifndef VCUDAD_TESTS_PROBE_H
#define VCUDAD_TESTS_PROBE_H

#include "supervise.h"

#include <stdint.h>
#include <sys/types.h>

#define PROBE_SLOW_MS 700

#define PROBE_REPORT 'r'
#define PROBE_ABORT 'a' /* no answer */

enum probe_attempt {
    PROBE_EXECVE,
    PROBE_FORK,
    PROBE_SPAWN,
    PROBE_INET,
    PROBE_DATAGRAM,
    PROBE_UNIX,
    PROBE_CONNECT,
    PROBE_SIGNAL_INIT,
    PROBE_SIGNAL_SELF,
    PROBE_SIGNAL_BY_FILE,
    PROBE_PTRACE,
    PROBE_BPF,
    PROBE_ROOT,
    PROBE_OPEN_NULL,
    PROBE_OTHER_LIMITS,
    PROBE_THREAD,
    PROBE_SCHEDULE_SELF,
    PROBE_SCHEDULE_OTHER, /* EPERM if no way there is open */
    PROBE_ATTEMPTS,
};

struct probe_answer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    int groups;
    int dumpable;
    int no_new_privs;
    int core; /* RLIMIT_CORE */
    int descriptors;
    uintptr_t mapping;            /* where the kernel puts one */
    int outcomes[PROBE_ATTEMPTS]; /* 0 or an errno */
    struct vcuda_supervise_session session;
};

#endif
