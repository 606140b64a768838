// SPDX-License-Identifier: Apache-2.0
/* Peers: devices do not reach each other's memory here. */
#include "sim.h"

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    SIM_AUTO struct sim_context *peer = NULL;
    SIM_ENTER(context);
    CUresult result = sim_context_get(peerContext, &peer);

    (void)context;
    if (result == CUDA_SUCCESS && Flags)
        result = CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : result;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    SIM_AUTO struct sim_context *peer = NULL;
    SIM_ENTER(context);
    CUresult result = sim_context_get(peerContext, &peer);

    (void)context;
    return result == CUDA_SUCCESS ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : result;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
    SIM_READY();

    if (!value || attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attrib > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(srcDevice) || !sim_device(dstDevice) || srcDevice == dstDevice)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
}
