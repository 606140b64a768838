/* SPDX-License-Identifier: Apache-2.0 */
/* Names and messages of CUDA's error codes, as cuGetErrorName and cuGetErrorString give them. */
#ifndef VCUDA_CUDA_ERRORS_H
#define VCUDA_CUDA_ERRORS_H

#include <stdbool.h>

#include "cuda_types.h"

/* The identifier of `error` ("CUDA_ERROR_INVALID_VALUE"), a static string; NULL if unknown. */
const char *cuda_error_name(CUresult error);

/* Whether the driver, after it, answers every call of the context with the same. */
bool cuda_error_is_sticky(CUresult error);

/* Whether it says that a call has no place in a stream's capture, or what became of one. */
bool cuda_error_of_capture(CUresult error);

/* The message of `error` ("invalid argument"), a static string; NULL if unknown. */
const char *cuda_error_string(CUresult error);

#endif
