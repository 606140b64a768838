/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cuGetProcAddress gives for the calls that we serve, as driver 580 (CUDA 13.0) answers:
 * X(default stream, name asked for, first version that gets it, exported symbol). A later row of
 * the same name replaces an earlier one. GAP: from this version on the driver has a variant that
 * we do not serve. LEGACY and PER_THREAD say which meaning of the default stream was asked for.
 */
#ifndef VCUDA_CUDA_LIST_PROCADDRESS_H
#define VCUDA_CUDA_LIST_PROCADDRESS_H

/* clang-format off */
#define CUDA_LIST_PROCADDRESS(X, GAP)                                                             \
    GAP(ANY, cuCtxCreate, 2000)                                                                   \
    X(ANY, cuCtxCreate, 3020, cuCtxCreate_v2)                                                     \
    GAP(ANY, cuCtxCreate, 11040)                                                                  \
    X(ANY, cuCtxCreate, 12050, cuCtxCreate_v4)                                                    \
    GAP(ANY, cuCtxDestroy, 2000)                                                                  \
    X(ANY, cuCtxDestroy, 4000, cuCtxDestroy_v2)                                                   \
    X(ANY, cuCtxGetApiVersion, 3020, cuCtxGetApiVersion)                                          \
    X(ANY, cuCtxGetCacheConfig, 3020, cuCtxGetCacheConfig)                                        \
    X(ANY, cuCtxGetCurrent, 4000, cuCtxGetCurrent)                                                \
    X(ANY, cuCtxGetDevice, 2000, cuCtxGetDevice)                                                  \
    X(ANY, cuCtxGetDevice, 13000, cuCtxGetDevice_v2)                                              \
    X(ANY, cuCtxGetFlags, 7000, cuCtxGetFlags)                                                    \
    X(ANY, cuCtxGetId, 12000, cuCtxGetId)                                                         \
    X(ANY, cuCtxGetLimit, 3010, cuCtxGetLimit)                                                    \
    X(ANY, cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange)                        \
    GAP(ANY, cuCtxPopCurrent, 2000)                                                               \
    X(ANY, cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)                                             \
    GAP(ANY, cuCtxPushCurrent, 2000)                                                              \
    X(ANY, cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2)                                           \
    X(ANY, cuCtxSetCacheConfig, 3020, cuCtxSetCacheConfig)                                        \
    X(ANY, cuCtxSetCurrent, 4000, cuCtxSetCurrent)                                                \
    X(ANY, cuCtxSetFlags, 12010, cuCtxSetFlags)                                                   \
    X(ANY, cuCtxSetLimit, 3010, cuCtxSetLimit)                                                    \
    X(ANY, cuCtxSynchronize, 2000, cuCtxSynchronize)                                              \
    X(ANY, cuCtxSynchronize, 13000, cuCtxSynchronize_v2)                                          \
    X(ANY, cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer)                                    \
    X(ANY, cuDeviceComputeCapability, 2000, cuDeviceComputeCapability)                            \
    X(ANY, cuDeviceGet, 2000, cuDeviceGet)                                                        \
    X(ANY, cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)                                      \
    X(ANY, cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId)                                    \
    X(ANY, cuDeviceGetCount, 2000, cuDeviceGetCount)                                              \
    X(ANY, cuDeviceGetLuid, 10000, cuDeviceGetLuid)                                               \
    X(ANY, cuDeviceGetName, 2000, cuDeviceGetName)                                                \
    X(ANY, cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId)                                        \
    X(ANY, cuDeviceGetProperties, 2000, cuDeviceGetProperties)                                    \
    X(ANY, cuDeviceGetUuid, 9020, cuDeviceGetUuid)                                                \
    X(ANY, cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)                                            \
    X(ANY, cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState)                          \
    X(ANY, cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease)                            \
    X(ANY, cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)                        \
    X(ANY, cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset)                                \
    X(ANY, cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)                            \
    X(ANY, cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)                              \
    X(ANY, cuDevicePrimaryCtxSetFlags, 7000, cuDevicePrimaryCtxSetFlags)                          \
    X(ANY, cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2)                      \
    GAP(ANY, cuDeviceTotalMem, 2000)                                                              \
    X(ANY, cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)                                           \
    X(ANY, cuDriverGetVersion, 2020, cuDriverGetVersion)                                          \
    X(ANY, cuEventCreate, 2000, cuEventCreate)                                                    \
    GAP(ANY, cuEventDestroy, 2000)                                                                \
    X(ANY, cuEventDestroy, 4000, cuEventDestroy_v2)                                               \
    X(ANY, cuEventElapsedTime, 2000, cuEventElapsedTime)                                          \
    X(ANY, cuEventElapsedTime, 12080, cuEventElapsedTime_v2)                                      \
    X(ANY, cuEventQuery, 2000, cuEventQuery)                                                      \
    X(LEGACY, cuEventRecord, 2000, cuEventRecord)                                                 \
    X(PER_THREAD, cuEventRecord, 7000, cuEventRecord_ptsz)                                        \
    X(LEGACY, cuEventRecordWithFlags, 11010, cuEventRecordWithFlags)                              \
    X(PER_THREAD, cuEventRecordWithFlags, 11010, cuEventRecordWithFlags_ptsz)                     \
    X(ANY, cuEventSynchronize, 2000, cuEventSynchronize)                                          \
    X(ANY, cuFuncGetAttribute, 2020, cuFuncGetAttribute)                                          \
    X(ANY, cuFuncGetModule, 11000, cuFuncGetModule)                                               \
    X(ANY, cuFuncGetName, 12030, cuFuncGetName)                                                   \
    X(ANY, cuFuncGetParamInfo, 12040, cuFuncGetParamInfo)                                         \
    X(ANY, cuFuncIsLoaded, 12040, cuFuncIsLoaded)                                                 \
    X(ANY, cuFuncLoad, 12040, cuFuncLoad)                                                         \
    X(ANY, cuFuncSetAttribute, 9000, cuFuncSetAttribute)                                          \
    X(ANY, cuFuncSetCacheConfig, 3000, cuFuncSetCacheConfig)                                      \
    X(ANY, cuGetErrorName, 6000, cuGetErrorName)                                                  \
    X(ANY, cuGetErrorString, 6000, cuGetErrorString)                                              \
    X(ANY, cuGetExportTable, 3000, cuGetExportTable)                                              \
    X(ANY, cuGetProcAddress, 11030, cuGetProcAddress)                                             \
    X(ANY, cuGetProcAddress, 12000, cuGetProcAddress_v2)                                          \
    X(ANY, cuInit, 2000, cuInit)                                                                  \
    X(ANY, cuKernelGetAttribute, 12000, cuKernelGetAttribute)                                     \
    X(ANY, cuKernelGetFunction, 12000, cuKernelGetFunction)                                       \
    X(ANY, cuKernelGetLibrary, 12050, cuKernelGetLibrary)                                         \
    X(ANY, cuKernelGetName, 12030, cuKernelGetName)                                               \
    X(ANY, cuKernelGetParamInfo, 12040, cuKernelGetParamInfo)                                     \
    X(ANY, cuKernelSetAttribute, 12000, cuKernelSetAttribute)                                     \
    X(ANY, cuKernelSetCacheConfig, 12000, cuKernelSetCacheConfig)                                 \
    X(LEGACY, cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel)                         \
    X(PER_THREAD, cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel_ptsz)                \
    X(LEGACY, cuLaunchHostFunc, 10000, cuLaunchHostFunc)                                          \
    X(PER_THREAD, cuLaunchHostFunc, 10000, cuLaunchHostFunc_ptsz)                                 \
    X(LEGACY, cuLaunchKernel, 4000, cuLaunchKernel)                                               \
    X(PER_THREAD, cuLaunchKernel, 7000, cuLaunchKernel_ptsz)                                      \
    X(LEGACY, cuLaunchKernelEx, 11060, cuLaunchKernelEx)                                          \
    X(PER_THREAD, cuLaunchKernelEx, 11060, cuLaunchKernelEx_ptsz)                                 \
    X(ANY, cuLibraryEnumerateKernels, 12040, cuLibraryEnumerateKernels)                           \
    X(ANY, cuLibraryGetGlobal, 12000, cuLibraryGetGlobal)                                         \
    X(ANY, cuLibraryGetKernel, 12000, cuLibraryGetKernel)                                         \
    X(ANY, cuLibraryGetKernelCount, 12040, cuLibraryGetKernelCount)                               \
    X(ANY, cuLibraryGetModule, 12000, cuLibraryGetModule)                                         \
    X(ANY, cuLibraryLoadData, 12000, cuLibraryLoadData)                                           \
    X(ANY, cuLibraryUnload, 12000, cuLibraryUnload)                                               \
    GAP(ANY, cuMemAlloc, 2000)                                                                    \
    X(ANY, cuMemAlloc, 3020, cuMemAlloc_v2)                                                       \
    GAP(ANY, cuMemAllocHost, 2000)                                                                \
    X(ANY, cuMemAllocHost, 3020, cuMemAllocHost_v2)                                               \
    GAP(ANY, cuMemAllocPitch, 2000)                                                               \
    X(ANY, cuMemAllocPitch, 3020, cuMemAllocPitch_v2)                                             \
    GAP(ANY, cuMemFree, 2000)                                                                     \
    X(ANY, cuMemFree, 3020, cuMemFree_v2)                                                         \
    X(ANY, cuMemFreeHost, 2000, cuMemFreeHost)                                                    \
    GAP(ANY, cuMemGetAddressRange, 2000)                                                          \
    X(ANY, cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)                                   \
    GAP(ANY, cuMemGetInfo, 2000)                                                                  \
    X(ANY, cuMemGetInfo, 3020, cuMemGetInfo_v2)                                                   \
    X(ANY, cuMemHostAlloc, 2020, cuMemHostAlloc)                                                  \
    GAP(ANY, cuMemHostGetDevicePointer, 2020)                                                     \
    X(ANY, cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2)                         \
    X(ANY, cuMemHostGetFlags, 2030, cuMemHostGetFlags)                                            \
    GAP(ANY, cuMemHostRegister, 4000)                                                             \
    X(ANY, cuMemHostRegister, 6050, cuMemHostRegister_v2)                                         \
    X(ANY, cuMemHostUnregister, 4000, cuMemHostUnregister)                                        \
    X(LEGACY, cuMemcpy, 4000, cuMemcpy)                                                           \
    X(PER_THREAD, cuMemcpy, 7000, cuMemcpy_ptds)                                                  \
    X(LEGACY, cuMemcpyAsync, 4000, cuMemcpyAsync)                                                 \
    X(PER_THREAD, cuMemcpyAsync, 7000, cuMemcpyAsync_ptsz)                                        \
    GAP(LEGACY, cuMemcpyDtoD, 2000)                                                               \
    X(LEGACY, cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2)                                                \
    X(PER_THREAD, cuMemcpyDtoD, 7000, cuMemcpyDtoD_v2_ptds)                                       \
    GAP(LEGACY, cuMemcpyDtoDAsync, 3000)                                                          \
    X(LEGACY, cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2)                                      \
    X(PER_THREAD, cuMemcpyDtoDAsync, 7000, cuMemcpyDtoDAsync_v2_ptsz)                             \
    GAP(LEGACY, cuMemcpyDtoH, 2000)                                                               \
    X(LEGACY, cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2)                                                \
    X(PER_THREAD, cuMemcpyDtoH, 7000, cuMemcpyDtoH_v2_ptds)                                       \
    GAP(LEGACY, cuMemcpyDtoHAsync, 2000)                                                          \
    X(LEGACY, cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2)                                      \
    X(PER_THREAD, cuMemcpyDtoHAsync, 7000, cuMemcpyDtoHAsync_v2_ptsz)                             \
    GAP(LEGACY, cuMemcpyHtoD, 2000)                                                               \
    X(LEGACY, cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2)                                                \
    X(PER_THREAD, cuMemcpyHtoD, 7000, cuMemcpyHtoD_v2_ptds)                                       \
    GAP(LEGACY, cuMemcpyHtoDAsync, 2000)                                                          \
    X(LEGACY, cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2)                                      \
    X(PER_THREAD, cuMemcpyHtoDAsync, 7000, cuMemcpyHtoDAsync_v2_ptsz)                             \
    GAP(LEGACY, cuMemsetD16, 2000)                                                                \
    X(LEGACY, cuMemsetD16, 3020, cuMemsetD16_v2)                                                  \
    X(PER_THREAD, cuMemsetD16, 7000, cuMemsetD16_v2_ptds)                                         \
    X(LEGACY, cuMemsetD16Async, 3020, cuMemsetD16Async)                                           \
    X(PER_THREAD, cuMemsetD16Async, 7000, cuMemsetD16Async_ptsz)                                  \
    GAP(LEGACY, cuMemsetD32, 2000)                                                                \
    X(LEGACY, cuMemsetD32, 3020, cuMemsetD32_v2)                                                  \
    X(PER_THREAD, cuMemsetD32, 7000, cuMemsetD32_v2_ptds)                                         \
    X(LEGACY, cuMemsetD32Async, 3020, cuMemsetD32Async)                                           \
    X(PER_THREAD, cuMemsetD32Async, 7000, cuMemsetD32Async_ptsz)                                  \
    GAP(LEGACY, cuMemsetD8, 2000)                                                                 \
    X(LEGACY, cuMemsetD8, 3020, cuMemsetD8_v2)                                                    \
    X(PER_THREAD, cuMemsetD8, 7000, cuMemsetD8_v2_ptds)                                           \
    X(LEGACY, cuMemsetD8Async, 3020, cuMemsetD8Async)                                             \
    X(PER_THREAD, cuMemsetD8Async, 7000, cuMemsetD8Async_ptsz)                                    \
    X(ANY, cuModuleEnumerateFunctions, 12040, cuModuleEnumerateFunctions)                         \
    X(ANY, cuModuleGetFunction, 2000, cuModuleGetFunction)                                        \
    X(ANY, cuModuleGetFunctionCount, 12040, cuModuleGetFunctionCount)                             \
    GAP(ANY, cuModuleGetGlobal, 2000)                                                             \
    X(ANY, cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2)                                         \
    X(ANY, cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode)                                 \
    X(ANY, cuModuleLoad, 2000, cuModuleLoad)                                                      \
    X(ANY, cuModuleLoadData, 2000, cuModuleLoadData)                                              \
    X(ANY, cuModuleLoadDataEx, 2010, cuModuleLoadDataEx)                                          \
    X(ANY, cuModuleLoadFatBinary, 2000, cuModuleLoadFatBinary)                                    \
    X(ANY, cuModuleUnload, 2000, cuModuleUnload)                                                  \
    X(ANY, cuOccupancyAvailableDynamicSMemPerBlock, 10020, cuOccupancyAvailableDynamicSMemPerBlock)\
    X(ANY, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, cuOccupancyMaxActiveBlocksPerMultiprocessor)\
    X(ANY, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)\
    X(ANY, cuPointerGetAttribute, 4000, cuPointerGetAttribute)                                    \
    X(ANY, cuPointerGetAttributes, 7000, cuPointerGetAttributes)                                  \
    X(LEGACY, cuStreamAddCallback, 5000, cuStreamAddCallback)                                     \
    X(PER_THREAD, cuStreamAddCallback, 7000, cuStreamAddCallback_ptsz)                            \
    X(ANY, cuStreamCreate, 2000, cuStreamCreate)                                                  \
    X(ANY, cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority)                          \
    GAP(ANY, cuStreamDestroy, 2000)                                                               \
    X(ANY, cuStreamDestroy, 4000, cuStreamDestroy_v2)                                             \
    X(LEGACY, cuStreamGetCtx, 9020, cuStreamGetCtx)                                               \
    GAP(LEGACY, cuStreamGetCtx, 12050)                                                            \
    X(PER_THREAD, cuStreamGetCtx, 9020, cuStreamGetCtx_ptsz)                                      \
    GAP(PER_THREAD, cuStreamGetCtx, 12050)                                                        \
    X(LEGACY, cuStreamGetFlags, 5050, cuStreamGetFlags)                                           \
    X(PER_THREAD, cuStreamGetFlags, 7000, cuStreamGetFlags_ptsz)                                  \
    X(LEGACY, cuStreamGetId, 12000, cuStreamGetId)                                                \
    X(PER_THREAD, cuStreamGetId, 12000, cuStreamGetId_ptsz)                                       \
    X(LEGACY, cuStreamGetPriority, 5050, cuStreamGetPriority)                                     \
    X(PER_THREAD, cuStreamGetPriority, 7000, cuStreamGetPriority_ptsz)                            \
    X(LEGACY, cuStreamQuery, 2000, cuStreamQuery)                                                 \
    X(PER_THREAD, cuStreamQuery, 7000, cuStreamQuery_ptsz)                                        \
    X(LEGACY, cuStreamSynchronize, 2000, cuStreamSynchronize)                                     \
    X(PER_THREAD, cuStreamSynchronize, 7000, cuStreamSynchronize_ptsz)                            \
    X(LEGACY, cuStreamWaitEvent, 3020, cuStreamWaitEvent)                                         \
    X(PER_THREAD, cuStreamWaitEvent, 7000, cuStreamWaitEvent_ptsz)
/* clang-format on */

#endif
