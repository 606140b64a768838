/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a program came to this library's functions. */
#ifndef VCUDA_USERLIB_PROCADDRESS_H
#define VCUDA_USERLIB_PROCADDRESS_H

#include <stdbool.h>

/*
 * Whether the program, or its runtime, asked for functions by cuGetProcAddress. Drivers take some
 * calls of those for good that they tell wrong to programs which link the functions.
 */
bool procaddress_used(void);

#endif
