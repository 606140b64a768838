// SPDX-License-Identifier: Apache-2.0
/* What cudart asks of contexts before it uses one, and where its tools look. */
#include "cuda_calls.h"
#include "export/driver.h"
#include "export/tables.h"

static CUresult primary(CUcontext *context, CUdevice dev) {
    CUresult r = export_ready();

    if (r != CUDA_SUCCESS)
        return r;
    return context ? export_primary(context, dev) : CUDA_ERROR_INVALID_VALUE;
}

const void *const export_cudart_interface[13] = {
    [0] = EXPORT_SIZE(13),
    [1] = EXPORT_REFUSED,
    [2] = (const void *)primary,
    [3 ... 12] = EXPORT_REFUSED,
};

/* A check that the driver was never seen to fail: no flag, nothing else said. */
static CUresult check_context(CUcontext context, uint32_t *flag, void **unused) {
    (void)context;
    (void)unused;
    if (!flag)
        return CUDA_ERROR_INVALID_VALUE;
    *flag = 0;
    return CUDA_SUCCESS;
}

static uint32_t check_process(void) {
    return 0;
}

const void *const export_context_checks[15] = {
    [0] = EXPORT_SIZE(15),
    [1] = EXPORT_REFUSED,
    [2] = (const void *)check_context,
    [3] = (const void *)check_process,
    [4 ... 14] = EXPORT_REFUSED,
};

const void *const export_tools_tls[3] = {
    [0] = EXPORT_SIZE(3),
    [1] = EXPORT_REFUSED,
    [2] = (const void *)cuCtxGetCurrent,
};
