/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that a worker may not make; inside sandbox.c only.
 */
#ifndef VCUDA_HELPER_SYSCALL_FILTER_H
#define VCUDA_HELPER_SYSCALL_FILTER_H

/* Filters all threads, from now on: 0 or a negative errno. */
#ifdef VCUDA_WITH_SECCOMP
int vcuda_syscall_filter_load(void);
#else
static inline int vcuda_syscall_filter_load(void) {
    return 0; /* built without libseccomp; vcudad says so when it starts */
}
#endif

#endif
