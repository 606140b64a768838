/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VCUDA_WORKER_LINKER_H
#define VCUDA_WORKER_LINKER_H

#include <stddef.h>

#include "cuda_types.h"

/*
 * What stands for machine code as a linker does for what it made: for link_read and link_destroy.
 * Takes `code` from the caller, which malloc() gave. CUDA_ERROR_OUT_OF_MEMORY: it is the caller's.
 */
CUresult linker_of_code(char *code, size_t bytes, CUlinkState *name);

#endif
