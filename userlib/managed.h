/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory. */
#ifndef VCUDA_USERLIB_MANAGED_H
#define VCUDA_USERLIB_MANAGED_H

#include "cuda_types.h"

/* Ends the managed memory that starts there: CUDA_ERROR_INVALID_VALUE if none does. */
CUresult managed_free(CUdeviceptr address);

#endif
