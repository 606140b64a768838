/* SPDX-License-Identifier: Apache-2.0 */
/* Values that the program's libraries keep with a context. */
#ifndef CUDA_EXPORT_LOCALS_H
#define CUDA_EXPORT_LOCALS_H

#include <stdint.h>

#include "cuda_types.h"

/*
 * Before a context ends or is reset: takes the values of that number away and calls their owners'
 * functions, so no lock may be held.
 */
void context_locals_end(CUcontext handle, uint64_t context);

#endif
