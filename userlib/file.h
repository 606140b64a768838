/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a program names: read here, since dom0 does not have them. */
#ifndef VCUDA_USERLIB_FILE_H
#define VCUDA_USERLIB_FILE_H

#include <stddef.h>

#include "cuda_types.h"

/*
 * All of a file, and a NUL, which *size counts; the caller frees *data.
 * CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_OPERATING_SYSTEM.
 */
CUresult file_read(const char *path, char **data, size_t *size);

#endif
