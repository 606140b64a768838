/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes the driver's descriptors. One may be the last that has its memory, which the driver then
 * frees before close() returns, and a program may leave thousands: a few are closed in each round
 * of the loop, so that nobody else waits for all of them.
 */
#ifndef VCUDAD_CLOSING_H
#define VCUDAD_CLOSING_H

#include <stddef.h>

/* Takes the descriptor over. */
void closing_add(int fd);
/* How many are still open. */
size_t closing_count(void);

#endif
