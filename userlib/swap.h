/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts other pages under a piece of the program's memory: the contents and the
 * address stay, what backs them changes.
 */
#ifndef VCUDA_USERLIB_SWAP_H
#define VCUDA_USERLIB_SWAP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether whole pages [start, start + bytes) may be put on other pages: private anonymous memory,
 * readable and writable, which this thread does not stand on (its stack, its own variables).
 */
bool swap_possible(const void *start, size_t bytes);

/*
 * Copies the pages to `alias`, a second mapping of the pages to come, and has `map` put those at
 * `start`, over what is there. Where the kernel lets us (userfaultfd), threads that write to the
 * pages meanwhile wait; else such a write can be lost. 0 or -errno: then all is as it was.
 */
int swap_in(void *start, size_t bytes, void *alias, int (*map)(void *arg), void *arg);

/* Puts private memory with the same contents there. 0 or -errno: then all is as it was. */
int swap_out(void *start, size_t bytes);

#endif
