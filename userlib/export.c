// SPDX-License-Identifier: Apache-2.0
/* What the tables of cuGetExportTable need of this library. */
#include "export/driver.h"

#include "guest.h"

CUresult export_ready(void) {
    return guest_ready();
}

CUresult export_primary(CUcontext *context, CUdevice dev) {
    if (dev < 0 || dev >= guest_device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    return context_primary(context, dev);
}

CUresult export_context(CUcontext context, uint64_t *number) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    *number = context ? (uint64_t)context : t->context;
    return names_get(VCUDA_KIND_CONTEXT, *number) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
