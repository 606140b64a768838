// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"
#include "syscall_filter.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A decimal id, ended by a character of ends or the text's end: -EINVAL if it is none. */
static int parse_id(const char **text, unsigned *id) {
    char *end;
    unsigned long value;

    if (**text < '0' || **text > '9')
        return -EINVAL;
    errno = 0;
    value = strtoul(*text, &end, 10);
    if (errno || value >= UINT32_MAX)
        return -EINVAL;
    *id = (unsigned)value;
    *text = end;
    return 0;
}

static int parse_drop(struct vcuda_sandbox *sandbox, const char *text) {
    if (parse_id(&text, &sandbox->uid) || *text++ != ':')
        return -EINVAL;
    if (parse_id(&text, &sandbox->gid))
        return -EINVAL;
    for (sandbox->group_count = 0; *text == ','; sandbox->group_count++) {
        text++;
        if (sandbox->group_count == VCUDA_SANDBOX_GROUPS_MAX ||
            parse_id(&text, &sandbox->groups[sandbox->group_count]))
            return -EINVAL;
    }
    /* "Drop to root" would be a sandbox in name only. */
    if (*text || !sandbox->uid)
        return -EINVAL;
    sandbox->drop = true;
    return 0;
}

int vcuda_sandbox_argument(struct vcuda_sandbox *sandbox, const char *arg) {
    if (!strcmp(arg, "--no-sandbox")) {
        sandbox->off = true;
        return 0;
    }
    if (!strncmp(arg, "--drop=", 7))
        return parse_drop(sandbox, arg + 7);
    return -ENOENT;
}

/* glibc carries each of these to all threads, those of the driver included. */
static int become(const struct vcuda_sandbox *s, const char **what) {
    *what = "setgroups";
    if (setgroups(s->group_count, s->groups))
        return -errno;
    *what = "setresgid";
    if (setresgid(s->gid, s->gid, s->gid))
        return -errno;
    *what = "setresuid";
    if (setresuid(s->uid, s->uid, s->uid))
        return -errno;
    /* Believe nobody: a way back to root must not exist. */
    *what = "giving up root for good";
    return setuid(0) == 0 ? -EPERM : 0;
}

static int limit(int resource, rlim_t most) {
    struct rlimit now;

    if (getrlimit(resource, &now))
        return -errno;
    if (now.rlim_max < most)
        most = now.rlim_max;
    return setrlimit(resource, &(struct rlimit){most, most}) ? -errno : 0;
}

static int set_limits(const char **what) {
    int error;

    /* A core file would hold the guest's data. */
    *what = "RLIMIT_CORE";
    error = limit(RLIMIT_CORE, 0);
    if (error)
        return error;
    /* Room for the driver, and for a memory file for each of a session's 256 regions. */
    *what = "RLIMIT_NOFILE";
    return limit(RLIMIT_NOFILE, 4096);
}

int vcuda_sandbox_enter(const struct vcuda_sandbox *sandbox, const char **what) {
    int error;

    if (sandbox->off)
        return 0;
    umask(077);
    error = set_limits(what);
    if (error)
        return error;
    if (sandbox->drop) {
        error = become(sandbox, what);
        if (error)
            return error;
    }
    *what = "PR_SET_NO_NEW_PRIVS";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    /* Other workers run as the same user: none may look into another one. */
    *what = "PR_SET_DUMPABLE";
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return -errno;
    *what = "the system call filter";
    return vcuda_syscall_filter_load();
}
