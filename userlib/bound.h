/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables of a library's code: memory of the arena, which program and GPU reach alike. */
#ifndef VCUDA_USERLIB_BOUND_H
#define VCUDA_USERLIB_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_types.h"

struct bound;

/* Address and size of one of them; either pointer may be NULL. False: none has that name. */
bool bound_find(const struct bound *b, const char *name, CUdeviceptr *dptr, size_t *bytes);

/* Ends them; NULL is fine. */
void bound_free(struct bound *b);

#endif
