/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library's own, beside the program's. */
#ifndef VCUDA_USERLIB_OWN_THREAD_H
#define VCUDA_USERLIB_OWN_THREAD_H

#include <stdbool.h>

/*
 * Starts one that nobody joins. The program's signals are not for it, but for those of faults: who
 * guards memory makes the page good in a handler, in whatever thread reads or writes there (a copy
 * is the program's memory, a host function its code). Blocked, they would kill.
 */
bool own_thread_start(void *(*run)(void *unused));

#endif
