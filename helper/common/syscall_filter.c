// SPDX-License-Identifier: Apache-2.0
/*
 * A list of what is denied, not of what is allowed: the NVIDIA driver is a
 * large program that nobody here can list the needs of, and a call that it
 * makes once in a release must not kill a guest's work. What is on the list
 * answers EPERM, and is what an attacker who took over a worker would want
 * next: other processes, other programs, the network, the kernel's less tried
 * doors.
 */
#include "syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const int denied[] = {
    /* other programs and other processes */
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(tkill),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
    /* the way to vcudad's socket and to everybody else's */
    SCMP_SYS(connect),
    /* file systems and namespaces */
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(quotactl),
    SCMP_SYS(acct),
    /* the kernel itself */
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(syslog),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    /* large surfaces that have had many holes */
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
};

static int deny(scmp_filter_ctx filter, int call) {
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

static int deny_listed(scmp_filter_ctx filter) {
    for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
        int error = deny(filter, denied[i]);

        if (error)
            return error;
    }
    return 0;
}

/* Threads yes, processes no. */
static int deny_processes(scmp_filter_ctx filter) {
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));

    if (error)
        return error;
    /* clone3's flags lie in memory, out of a filter's sight: glibc falls back to clone. */
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* Calls whose first argument names a process: only this one. */
static int deny_others(scmp_filter_ctx filter) {
    static const int calls[] = {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo),
                                SCMP_SYS(rt_tgsigqueueinfo)};
    uint64_t self = (uint64_t)getpid();

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 1,
                                     SCMP_A0(SCMP_CMP_NE, self));

        if (error)
            return error;
    }
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
                            SCMP_A0(SCMP_CMP_NE, 0));
}

/* What a call takes as an int: its upper half is nobody's to look at. */
static int deny_bits(scmp_filter_ctx filter, int call, unsigned int argument, uint32_t mask,
                     uint32_t number) {
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                            SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, (scmp_datum_t)number));
}

static int deny_number(scmp_filter_ctx filter, int call, unsigned int argument, uint32_t number) {
    return deny_bits(filter, call, argument, UINT32_MAX, number);
}

/*
 * Whose place on the processors may be changed: as the kernel takes the number, as an int. A rule
 * can only say that some bits have some value, so there is one for each highest bit in which a
 * number differs from this process's; 0, which is the caller, is none of them.
 */
static int deny_unless_self(scmp_filter_ctx filter, int call, unsigned int argument) {
    const uint32_t self = (uint32_t)getpid();
    int error = 0;

    for (int bit = 31; bit >= 0 && !error; bit--) {
        const uint32_t low = (1u << bit) - 1;
        const uint32_t number = (self ^ 1u << bit) & ~low;

        if (number)
            error = deny_bits(filter, call, argument, ~low, number);
        for (int b = 0; !number && b < bit && !error; b++)
            error = deny_bits(filter, call, argument, UINT32_MAX << b, 1u << b);
    }
    return error;
}

/* A call whose first argument is the kind of whom the second names: a process, or many. */
static int deny_others_kind(scmp_filter_ctx filter, int call, int process) {
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                                 SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)process));

    return error ? error : deny_unless_self(filter, call, 1);
}

/*
 * All workers have one user, so each could set another one's aside. Where the C library names a
 * thread by its number (pthread_setaffinity_np) that is denied as well, but for the first thread:
 * whose threads a number is no filter can know.
 */
static int deny_scheduling(scmp_filter_ctx filter) {
    static const int calls[] = {SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                                SCMP_SYS(sched_setattr), SCMP_SYS(sched_setaffinity)};
    int error = 0;

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !error; i++)
        error = deny_unless_self(filter, calls[i], 0);
    if (!error)
        error = deny_others_kind(filter, SCMP_SYS(setpriority), PRIO_PROCESS);
    return error ? error : deny_others_kind(filter, SCMP_SYS(ioprio_set), IOPRIO_WHO_PROCESS);
}

/* A file can be told whom to send a signal, of any kind, when there is something to read. */
static int deny_owners(scmp_filter_ctx filter) {
    int error = deny_number(filter, SCMP_SYS(fcntl), 1, F_SETOWN);

    if (!error)
        error = deny_number(filter, SCMP_SYS(fcntl), 1, F_SETOWN_EX);
    if (!error)
        error = deny_number(filter, SCMP_SYS(ioctl), 1, FIOSETOWN);
    return error ? error : deny_number(filter, SCMP_SYS(ioctl), 1, SIOCSPGRP);
}

/*
 * Connected Unix sockets only: the driver binds one to pass descriptors
 * between processes that share GPU memory. A datagram socket could send to
 * anybody without connect(), and SOCK_RAW is another name for it.
 */
static int deny_sockets(scmp_filter_ctx filter, int call) {
    static const int kinds[] = {SOCK_DGRAM, SOCK_RAW};
    const uint64_t mask = 0xf; /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
    int error =
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX));

    for (size_t i = 0; !error && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                                 SCMP_A1(SCMP_CMP_MASKED_EQ, mask, (uint64_t)kinds[i]));
    return error;
}

/* Fills the filter and loads it. */
static int load(scmp_filter_ctx filter) {
    int error;

    /* The driver's own threads run already. */
    error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!error)
        error = deny_listed(filter);
    if (!error)
        error = deny_processes(filter);
    if (!error)
        error = deny_others(filter);
    if (!error)
        error = deny_owners(filter);
    if (!error)
        error = deny_scheduling(filter);
    if (!error)
        error = deny_sockets(filter, SCMP_SYS(socket));
    if (!error)
        error = deny_sockets(filter, SCMP_SYS(socketpair));
    return error ? error : seccomp_load(filter);
}

int vcuda_syscall_filter_load(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error;

    if (!filter)
        return -ENOMEM;
    error = load(filter);
    seccomp_release(filter);
    return error;
}
