/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels printed, on its way from the thread that received it to the one
 * whose call tells of it: only that one writes, since the program's streams may
 * be locked.
 */
#ifndef VCUDA_USERLIB_PRINTED_H
#define VCUDA_USERLIB_PRINTED_H

#include <stdbool.h>
#include <stdint.h>

struct printed;

/* Appends a copy of `len` bytes for descriptor 1 or 2. False: out of memory, or absurdly much. */
bool printed_add(struct printed **list, int fd, const char *text, uint32_t len);

/* Writes all to the program's stdout and stderr, and frees it. */
void printed_write(struct printed *list);

#endif
