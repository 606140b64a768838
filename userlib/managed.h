/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory. */
#ifndef VCUDA_USERLIB_MANAGED_H
#define VCUDA_USERLIB_MANAGED_H

#include "arena.h"

/* arena_alloc() of managed memory or variables, of which nothing is advised yet. */
CUresult managed_alloc(struct thread *t, size_t bytes, enum arena_kind kind, unsigned int flags,
                       void **out);

#endif
