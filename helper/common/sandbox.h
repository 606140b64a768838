/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a worker gives up its privileges, after it has loaded the driver and
 * before it listens to anybody.
 *
 * What it keeps: the descriptors it has, opening files as its user (NVIDIA's
 * driver opens /dev/nvidia* when a context is made), memory, threads.
 * docs/man/vcudad.8 lists what it loses.
 */
#ifndef VCUDA_HELPER_SANDBOX_H
#define VCUDA_HELPER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define VCUDA_SANDBOX_GROUPS_MAX 32

struct vcuda_sandbox {
    bool off;  /* for debuggers and sanitizers, which need what is forbidden */
    bool drop; /* become uid, gid, groups; needs root */
    uid_t uid;
    gid_t gid;
    size_t group_count;
    gid_t groups[VCUDA_SANDBOX_GROUPS_MAX];
};

/*
 * Takes one argument of the worker's command line: 0 if it was ours, -ENOENT
 * if it is none of ours, -EINVAL if it is malformed. Start from a zeroed
 * structure.
 */
int vcuda_sandbox_argument(struct vcuda_sandbox *sandbox, const char *arg);

/*
 * Enters the sandbox, with all threads. 0, or a negative errno with *what
 * naming the step that failed (a static string): the worker must not serve
 * then.
 */
int vcuda_sandbox_enter(const struct vcuda_sandbox *sandbox, const char **what);

/* Whether system calls are filtered in this build, for --version and logs. */
static inline bool vcuda_sandbox_filters(void) {
#ifdef VCUDA_WITH_SECCOMP
    return true;
#else
    return false;
#endif
}

#endif
