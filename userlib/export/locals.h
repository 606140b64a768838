/* SPDX-License-Identifier: Apache-2.0 */
/* Values that the program's libraries keep with a context. */
#ifndef VCUDA_USERLIB_EXPORT_LOCALS_H
#define VCUDA_USERLIB_EXPORT_LOCALS_H

#include <stdint.h>

/*
 * Before a context ends or is reset: takes its values away and calls their owners' functions, so
 * no lock may be held.
 */
void context_locals_end(uint64_t context);

#endif
