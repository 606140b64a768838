// SPDX-License-Identifier: Apache-2.0
/*
 * Which multiprocessors stand together in the chip. The driver's public interface does not say, so
 * neither do we; cublasLt, which asks, goes on without, but not without the table.
 */
#include "export/tables.h"

static CUresult get(void **first, void **second) {
    (void)first;
    (void)second;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult give_back(void *first, void *second) {
    (void)first;
    (void)second;
    return CUDA_SUCCESS;
}

const void *const export_topology[17] = {
    [0] = EXPORT_SIZE(17),       [1 ... 3] = EXPORT_REFUSED,     [4] = (const void *)get,
    [5 ... 12] = EXPORT_REFUSED, [13] = (const void *)give_back, [14 ... 16] = EXPORT_REFUSED,
};
