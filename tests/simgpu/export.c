// SPDX-License-Identifier: Apache-2.0
/* What the tables of cuGetExportTable need of this driver. */
#include "export/driver.h"

#include "sim.h"

CUresult export_ready(void) {
    return sim_ready();
}

CUresult export_primary(CUcontext *context, CUdevice dev) {
    struct sim_device *device = sim_device(dev);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *context = SIM_HANDLE(device->primary);
    return CUDA_SUCCESS;
}

CUresult export_context(CUcontext context, uint64_t *number) {
    SIM_AUTO struct sim_context *found = NULL;
    CUresult result = sim_context_look(context, &found);

    if (result == CUDA_SUCCESS)
        *number = found->id;
    return result;
}
