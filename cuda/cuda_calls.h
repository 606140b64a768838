/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prototypes of the exported calls (see cuda_abi.h), by the symbol that the library exports.
 *
 * A call that takes a stream, or uses the default one, exists twice: plainly, where the default
 * stream is the legacy one, and with _ptsz (or _ptds, where no stream is passed) for programs
 * built so that each thread has its own default stream.
 */
#ifndef VCUDA_CUDA_CALLS_H
#define VCUDA_CUDA_CALLS_H

#include "cuda_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_CALL(name, ...) CUresult CUDAAPI name(__VA_ARGS__)
#define CUDA_CALL_PTSZ(name, ...)                                                                  \
    CUresult CUDAAPI name(__VA_ARGS__);                                                            \
    CUresult CUDAAPI name##_ptsz(__VA_ARGS__)
#define CUDA_CALL_PTDS(name, ...)                                                                  \
    CUresult CUDAAPI name(__VA_ARGS__);                                                            \
    CUresult CUDAAPI name##_ptds(__VA_ARGS__)

/* Driver */
CUDA_CALL(cuGetErrorString, CUresult error, const char **pStr);
CUDA_CALL(cuGetErrorName, CUresult error, const char **pStr);
CUDA_CALL(cuInit, unsigned int Flags);
CUDA_CALL(cuDriverGetVersion, int *driverVersion);
CUDA_CALL(cuGetProcAddress_v2, const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
          CUdriverProcAddressQueryResult *symbolStatus);
CUDA_CALL(cuGetExportTable, const void **ppExportTable, const CUuuid *pExportTableId);
CUDA_CALL(cuGetProcAddress, const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);

/* Devices */
CUDA_CALL(cuDeviceGet, CUdevice *device, int ordinal);
CUDA_CALL(cuDeviceGetCount, int *count);
CUDA_CALL(cuDeviceGetName, char *name, int len, CUdevice dev);
CUDA_CALL(cuDeviceGetUuid_v2, CUuuid *uuid, CUdevice dev);
CUDA_CALL(cuDeviceGetLuid, char *luid, unsigned int *deviceNodeMask, CUdevice dev);
CUDA_CALL(cuDeviceTotalMem_v2, size_t *bytes, CUdevice dev);
CUDA_CALL(cuDeviceGetTexture1DLinearMaxWidth, size_t *maxWidthInElements, CUarray_format format,
          unsigned numChannels, CUdevice dev);
CUDA_CALL(cuDeviceGetAttribute, int *pi, CUdevice_attribute attrib, CUdevice dev);
CUDA_CALL(cuDeviceGetHostAtomicCapabilities, unsigned int *capabilities,
          const CUatomicOperation *operations, unsigned int count, CUdevice dev);
CUDA_CALL(cuDeviceGetNvSciSyncAttributes, void *nvSciSyncAttrList, CUdevice dev, int flags);
CUDA_CALL(cuDeviceSetMemPool, CUdevice dev, CUmemoryPool pool);
CUDA_CALL(cuDeviceGetMemPool, CUmemoryPool *pool, CUdevice dev);
CUDA_CALL(cuDeviceGetDefaultMemPool, CUmemoryPool *pool_out, CUdevice dev);
CUDA_CALL(cuDeviceGetExecAffinitySupport, int *pi, CUexecAffinityType type, CUdevice dev);
CUDA_CALL(cuFlushGPUDirectRDMAWrites, CUflushGPUDirectRDMAWritesTarget target,
          CUflushGPUDirectRDMAWritesScope scope);
CUDA_CALL(cuDeviceGetProperties, CUdevprop *prop, CUdevice dev);
CUDA_CALL(cuDeviceComputeCapability, int *major, int *minor, CUdevice dev);
CUDA_CALL(cuDeviceRegisterAsyncNotification, CUdevice device, CUasyncCallback callbackFunc,
          void *userData, CUasyncCallbackHandle *callback);
CUDA_CALL(cuDeviceUnregisterAsyncNotification, CUdevice device, CUasyncCallbackHandle callback);
CUDA_CALL(cuDeviceGetByPCIBusId, CUdevice *dev, const char *pciBusId);
CUDA_CALL(cuDeviceGetPCIBusId, char *pciBusId, int len, CUdevice dev);
CUDA_CALL(cuDeviceGraphMemTrim, CUdevice device);
CUDA_CALL(cuDeviceGetGraphMemAttribute, CUdevice device, CUgraphMem_attribute attr, void *value);
CUDA_CALL(cuDeviceSetGraphMemAttribute, CUdevice device, CUgraphMem_attribute attr, void *value);
CUDA_CALL(cuDeviceCanAccessPeer, int *canAccessPeer, CUdevice dev, CUdevice peerDev);
CUDA_CALL(cuDeviceGetP2PAttribute, int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
          CUdevice dstDevice);
CUDA_CALL(cuDeviceGetP2PAtomicCapabilities, unsigned int *capabilities,
          const CUatomicOperation *operations, unsigned int count, CUdevice srcDevice,
          CUdevice dstDevice);
CUDA_CALL(cuDeviceTotalMem, unsigned int *bytes, CUdevice dev);
CUDA_CALL(cuDeviceGetUuid, CUuuid *uuid, CUdevice dev);

/* Primary contexts */
CUDA_CALL(cuDevicePrimaryCtxRetain, CUcontext *pctx, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxRelease_v2, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxSetFlags_v2, CUdevice dev, unsigned int flags);
CUDA_CALL(cuDevicePrimaryCtxGetState, CUdevice dev, unsigned int *flags, int *active);
CUDA_CALL(cuDevicePrimaryCtxReset_v2, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxRelease, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxReset, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxSetFlags, CUdevice dev, unsigned int flags);

/* Contexts */
CUDA_CALL(cuCtxCreate_v4, CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
          CUdevice dev);
CUDA_CALL(cuCtxDestroy_v2, CUcontext ctx);
CUDA_CALL(cuCtxPushCurrent_v2, CUcontext ctx);
CUDA_CALL(cuCtxPopCurrent_v2, CUcontext *pctx);
CUDA_CALL(cuCtxSetCurrent, CUcontext ctx);
CUDA_CALL(cuCtxGetCurrent, CUcontext *pctx);
CUDA_CALL(cuCtxGetDevice, CUdevice *device);
CUDA_CALL(cuCtxGetDevice_v2, CUdevice *device, CUcontext ctx);
CUDA_CALL(cuCtxGetFlags, unsigned int *flags);
CUDA_CALL(cuCtxSetFlags, unsigned int flags);
CUDA_CALL(cuCtxGetId, CUcontext ctx, unsigned long long *ctxId);
CUDA_CALL(cuCtxSynchronize, void);
CUDA_CALL(cuCtxSynchronize_v2, CUcontext ctx);
CUDA_CALL(cuCtxSetLimit, CUlimit limit, size_t value);
CUDA_CALL(cuCtxGetLimit, size_t *pvalue, CUlimit limit);
CUDA_CALL(cuCtxGetCacheConfig, CUfunc_cache *pconfig);
CUDA_CALL(cuCtxSetCacheConfig, CUfunc_cache config);
CUDA_CALL(cuCtxGetApiVersion, CUcontext ctx, unsigned int *version);
CUDA_CALL(cuCtxGetStreamPriorityRange, int *leastPriority, int *greatestPriority);
CUDA_CALL(cuCtxResetPersistingL2Cache, void);
CUDA_CALL(cuCtxGetExecAffinity, CUexecAffinityParam *pExecAffinity, CUexecAffinityType type);
CUDA_CALL(cuCtxAttach, CUcontext *pctx, unsigned int flags);
CUDA_CALL(cuCtxDetach, CUcontext ctx);
CUDA_CALL(cuCtxGetSharedMemConfig, CUsharedconfig *pConfig);
CUDA_CALL(cuCtxSetSharedMemConfig, CUsharedconfig config);
CUDA_CALL(cuCtxCreate, CUcontext *pctx, unsigned int flags, CUdevice dev);
CUDA_CALL(cuCtxCreate_v2, CUcontext *pctx, unsigned int flags, CUdevice dev);
CUDA_CALL(cuCtxCreate_v3, CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
          unsigned int flags, CUdevice dev);
CUDA_CALL(cuCtxDestroy, CUcontext ctx);
CUDA_CALL(cuCtxPopCurrent, CUcontext *pctx);
CUDA_CALL(cuCtxPushCurrent, CUcontext ctx);

/* Green contexts */
CUDA_CALL(cuCtxRecordEvent, CUcontext hCtx, CUevent hEvent);
CUDA_CALL(cuCtxWaitEvent, CUcontext hCtx, CUevent hEvent);
CUDA_CALL(cuGreenCtxCreate, CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
          unsigned int flags);
CUDA_CALL(cuGreenCtxDestroy, CUgreenCtx hCtx);
CUDA_CALL(cuCtxFromGreenCtx, CUcontext *pContext, CUgreenCtx hCtx);
CUDA_CALL(cuDeviceGetDevResource, CUdevice device, CUdevResource *resource, CUdevResourceType type);
CUDA_CALL(cuCtxGetDevResource, CUcontext hCtx, CUdevResource *resource, CUdevResourceType type);
CUDA_CALL(cuGreenCtxGetDevResource, CUgreenCtx hCtx, CUdevResource *resource,
          CUdevResourceType type);
CUDA_CALL(cuDevSmResourceSplitByCount, CUdevResource *result, unsigned int *nbGroups,
          const CUdevResource *input, CUdevResource *remaining, unsigned int useFlags,
          unsigned int minCount);
CUDA_CALL(cuDevResourceGenerateDesc, CUdevResourceDesc *phDesc, CUdevResource *resources,
          unsigned int nbResources);
CUDA_CALL(cuGreenCtxRecordEvent, CUgreenCtx hCtx, CUevent hEvent);
CUDA_CALL(cuGreenCtxWaitEvent, CUgreenCtx hCtx, CUevent hEvent);
CUDA_CALL(cuStreamGetGreenCtx, CUstream hStream, CUgreenCtx *phCtx);
CUDA_CALL(cuGreenCtxStreamCreate, CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
          int priority);
CUDA_CALL(cuGreenCtxGetId, CUgreenCtx greenCtx, unsigned long long *greenCtxId);

/* Modules */
CUDA_CALL(cuModuleLoad, CUmodule *module, const char *fname);
CUDA_CALL(cuModuleLoadData, CUmodule *module, const void *image);
CUDA_CALL(cuModuleLoadDataEx, CUmodule *module, const void *image, unsigned int numOptions,
          CUjit_option *options, void **optionValues);
CUDA_CALL(cuModuleLoadFatBinary, CUmodule *module, const void *fatCubin);
CUDA_CALL(cuModuleUnload, CUmodule hmod);
CUDA_CALL(cuModuleGetLoadingMode, CUmoduleLoadingMode *mode);
CUDA_CALL(cuModuleGetFunction, CUfunction *hfunc, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetFunctionCount, unsigned int *count, CUmodule mod);
CUDA_CALL(cuModuleEnumerateFunctions, CUfunction *functions, unsigned int numFunctions,
          CUmodule mod);
CUDA_CALL(cuModuleGetGlobal_v2, CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetTexRef, CUtexref *pTexRef, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetSurfRef, CUsurfref *pSurfRef, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetGlobal, CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod,
          const char *name);

/* Linker */
CUDA_CALL(cuLinkCreate_v2, unsigned int numOptions, CUjit_option *options, void **optionValues,
          CUlinkState *stateOut);
CUDA_CALL(cuLinkAddData_v2, CUlinkState state, CUjitInputType type, void *data, size_t size,
          const char *name, unsigned int numOptions, CUjit_option *options, void **optionValues);
CUDA_CALL(cuLinkAddFile_v2, CUlinkState state, CUjitInputType type, const char *path,
          unsigned int numOptions, CUjit_option *options, void **optionValues);
CUDA_CALL(cuLinkComplete, CUlinkState state, void **cubinOut, size_t *sizeOut);
CUDA_CALL(cuLinkDestroy, CUlinkState state);
CUDA_CALL(cuLinkCreate, unsigned int numOptions, CUjit_option *options, void **optionValues,
          CUlinkState *stateOut);
CUDA_CALL(cuLinkAddData, CUlinkState state, CUjitInputType type, void *data, size_t size,
          const char *name, unsigned int numOptions, CUjit_option *options, void **optionValues);
CUDA_CALL(cuLinkAddFile, CUlinkState state, CUjitInputType type, const char *path,
          unsigned int numOptions, CUjit_option *options, void **optionValues);

/* Libraries and kernels */
CUDA_CALL(cuLibraryLoadData, CUlibrary *library, const void *code, CUjit_option *jitOptions,
          void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
          void **libraryOptionValues, unsigned int numLibraryOptions);
CUDA_CALL(cuLibraryLoadFromFile, CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
          void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
          void **libraryOptionValues, unsigned int numLibraryOptions);
CUDA_CALL(cuLibraryUnload, CUlibrary library);
CUDA_CALL(cuLibraryGetKernel, CUkernel *pKernel, CUlibrary library, const char *name);
CUDA_CALL(cuLibraryGetKernelCount, unsigned int *count, CUlibrary lib);
CUDA_CALL(cuLibraryEnumerateKernels, CUkernel *kernels, unsigned int numKernels, CUlibrary lib);
CUDA_CALL(cuLibraryGetModule, CUmodule *pMod, CUlibrary library);
CUDA_CALL(cuKernelGetFunction, CUfunction *pFunc, CUkernel kernel);
CUDA_CALL(cuKernelGetLibrary, CUlibrary *pLib, CUkernel kernel);
CUDA_CALL(cuLibraryGetGlobal, CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
          const char *name);
CUDA_CALL(cuLibraryGetManaged, CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
          const char *name);
CUDA_CALL(cuLibraryGetUnifiedFunction, void **fptr, CUlibrary library, const char *symbol);
CUDA_CALL(cuKernelGetAttribute, int *pi, CUfunction_attribute attrib, CUkernel kernel,
          CUdevice dev);
CUDA_CALL(cuKernelSetAttribute, CUfunction_attribute attrib, int val, CUkernel kernel,
          CUdevice dev);
CUDA_CALL(cuKernelSetCacheConfig, CUkernel kernel, CUfunc_cache config, CUdevice dev);
CUDA_CALL(cuKernelGetName, const char **name, CUkernel hfunc);
CUDA_CALL(cuKernelGetParamInfo, CUkernel kernel, size_t paramIndex, size_t *paramOffset,
          size_t *paramSize);

/* Memory */
CUDA_CALL(cuMemGetInfo_v2, size_t *free, size_t *total);
CUDA_CALL(cuMemAlloc_v2, CUdeviceptr *dptr, size_t bytesize);
CUDA_CALL(cuMemAllocPitch_v2, CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
          unsigned int ElementSizeBytes);
CUDA_CALL(cuMemFree_v2, CUdeviceptr dptr);
CUDA_CALL(cuMemGetAddressRange_v2, CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr);
CUDA_CALL(cuMemAllocHost_v2, void **pp, size_t bytesize);
CUDA_CALL(cuMemFreeHost, void *p);
CUDA_CALL(cuMemHostAlloc, void **pp, size_t bytesize, unsigned int Flags);
CUDA_CALL(cuMemHostGetDevicePointer_v2, CUdeviceptr *pdptr, void *p, unsigned int Flags);
CUDA_CALL(cuMemHostGetFlags, unsigned int *pFlags, void *p);
CUDA_CALL(cuMemAllocManaged, CUdeviceptr *dptr, size_t bytesize, unsigned int flags);
CUDA_CALL(cuMemHostRegister_v2, void *p, size_t bytesize, unsigned int Flags);
CUDA_CALL(cuMemHostUnregister, void *p);
CUDA_CALL(cuMemGetHandleForAddressRange, void *handle, CUdeviceptr dptr, size_t size,
          CUmemRangeHandleType handleType, unsigned long long flags);
CUDA_CALL(cuPointerGetAttribute, void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUDA_CALL(cuMemAdvise_v2, CUdeviceptr devPtr, size_t count, CUmem_advise advice,
          CUmemLocation location);
CUDA_CALL(cuMemRangeGetAttribute, void *data, size_t dataSize, CUmem_range_attribute attribute,
          CUdeviceptr devPtr, size_t count);
CUDA_CALL(cuMemRangeGetAttributes, void **data, size_t *dataSizes,
          CUmem_range_attribute *attributes, size_t numAttributes, CUdeviceptr devPtr,
          size_t count);
CUDA_CALL(cuPointerSetAttribute, const void *value, CUpointer_attribute attribute, CUdeviceptr ptr);
CUDA_CALL(cuPointerGetAttributes, unsigned int numAttributes, CUpointer_attribute *attributes,
          void **data, CUdeviceptr ptr);
CUDA_CALL(cuMemHostRegister, void *p, size_t bytesize, unsigned int Flags);
CUDA_CALL(cuMemGetInfo, unsigned int *free, unsigned int *total);
CUDA_CALL(cuMemAlloc, CUdeviceptr_v1 *dptr, unsigned int bytesize);
CUDA_CALL(cuMemAllocPitch, CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes,
          unsigned int Height, unsigned int ElementSizeBytes);
CUDA_CALL(cuMemFree, CUdeviceptr_v1 dptr);
CUDA_CALL(cuMemGetAddressRange, CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr);
CUDA_CALL(cuMemAllocHost, void **pp, unsigned int bytesize);
CUDA_CALL(cuMemHostGetDevicePointer, CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags);
CUDA_CALL_PTSZ(cuMemPrefetchAsync, CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemPrefetchAsync_v2, CUdeviceptr devPtr, size_t count, CUmemLocation location,
               unsigned int flags, CUstream hStream);
CUDA_CALL(cuMemAdvise, CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);
CUDA_CALL_PTSZ(cuMemPrefetchBatchAsync, CUdeviceptr *dptrs, size_t *sizes, size_t count,
               CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs,
               unsigned long long flags, CUstream hStream);
CUDA_CALL_PTSZ(cuMemDiscardBatchAsync, CUdeviceptr *dptrs, size_t *sizes, size_t count,
               unsigned long long flags, CUstream hStream);
CUDA_CALL_PTSZ(cuMemDiscardAndPrefetchBatchAsync, CUdeviceptr *dptrs, size_t *sizes, size_t count,
               CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs,
               unsigned long long flags, CUstream hStream);
CUDA_CALL_PTSZ(cuMemBatchDecompressAsync, CUmemDecompressParams *paramsArray, size_t count,
               unsigned int flags, size_t *errorIndex, CUstream stream);

/* Interprocess */
CUDA_CALL(cuIpcGetEventHandle, CUipcEventHandle *pHandle, CUevent event);
CUDA_CALL(cuIpcOpenEventHandle, CUevent *phEvent, CUipcEventHandle handle);
CUDA_CALL(cuIpcGetMemHandle, CUipcMemHandle *pHandle, CUdeviceptr dptr);
CUDA_CALL(cuIpcOpenMemHandle_v2, CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags);
CUDA_CALL(cuIpcCloseMemHandle, CUdeviceptr dptr);
CUDA_CALL(cuIpcOpenMemHandle, CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags);

/* Arrays */
CUDA_CALL(cuArrayCreate_v2, CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray);
CUDA_CALL(cuArrayGetDescriptor_v2, CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray);
CUDA_CALL(cuArrayGetSparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
          CUarray array);
CUDA_CALL(cuMipmappedArrayGetSparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
          CUmipmappedArray mipmap);
CUDA_CALL(cuArrayGetMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
          CUarray array, CUdevice device);
CUDA_CALL(cuMipmappedArrayGetMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
          CUmipmappedArray mipmap, CUdevice device);
CUDA_CALL(cuArrayGetPlane, CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx);
CUDA_CALL(cuArrayDestroy, CUarray hArray);
CUDA_CALL(cuArray3DCreate_v2, CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray);
CUDA_CALL(cuArray3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray);
CUDA_CALL(cuMipmappedArrayCreate, CUmipmappedArray *pHandle,
          const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc, unsigned int numMipmapLevels);
CUDA_CALL(cuMipmappedArrayGetLevel, CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
          unsigned int level);
CUDA_CALL(cuMipmappedArrayDestroy, CUmipmappedArray hMipmappedArray);
CUDA_CALL(cuArrayCreate, CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray);
CUDA_CALL(cuArrayGetDescriptor, CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray);
CUDA_CALL(cuArray3DCreate, CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray);
CUDA_CALL(cuArray3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray);

/* Virtual memory */
CUDA_CALL(cuMemAddressReserve, CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
          unsigned long long flags);
CUDA_CALL(cuMemAddressFree, CUdeviceptr ptr, size_t size);
CUDA_CALL(cuMemCreate, CUmemGenericAllocationHandle *handle, size_t size,
          const CUmemAllocationProp *prop, unsigned long long flags);
CUDA_CALL(cuMemRelease, CUmemGenericAllocationHandle handle);
CUDA_CALL(cuMemMap, CUdeviceptr ptr, size_t size, size_t offset,
          CUmemGenericAllocationHandle handle, unsigned long long flags);
CUDA_CALL(cuMemUnmap, CUdeviceptr ptr, size_t size);
CUDA_CALL(cuMemSetAccess, CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUDA_CALL(cuMemGetAccess, unsigned long long *flags, const CUmemLocation *location,
          CUdeviceptr ptr);
CUDA_CALL(cuMemExportToShareableHandle, void *shareableHandle, CUmemGenericAllocationHandle handle,
          CUmemAllocationHandleType handleType, unsigned long long flags);
CUDA_CALL(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle *handle, void *osHandle,
          CUmemAllocationHandleType shHandleType);
CUDA_CALL(cuMemGetAllocationGranularity, size_t *granularity, const CUmemAllocationProp *prop,
          CUmemAllocationGranularity_flags option);
CUDA_CALL(cuMemGetAllocationPropertiesFromHandle, CUmemAllocationProp *prop,
          CUmemGenericAllocationHandle handle);
CUDA_CALL(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle *handle, void *addr);
CUDA_CALL(cuMulticastCreate, CUmemGenericAllocationHandle *mcHandle,
          const CUmulticastObjectProp *prop);
CUDA_CALL(cuMulticastAddDevice, CUmemGenericAllocationHandle mcHandle, CUdevice dev);
CUDA_CALL(cuMulticastBindMem, CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
          CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
          unsigned long long flags);
CUDA_CALL(cuMulticastBindAddr, CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
          CUdeviceptr memptr, size_t size, unsigned long long flags);
CUDA_CALL(cuMulticastUnbind, CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset,
          size_t size);
CUDA_CALL(cuMulticastGetGranularity, size_t *granularity, const CUmulticastObjectProp *prop,
          CUmulticastGranularity_flags option);
CUDA_CALL_PTSZ(cuMemMapArrayAsync, CUarrayMapInfo *mapInfoList, unsigned int count,
               CUstream hStream);

/* Memory pools */
CUDA_CALL(cuMemPoolTrimTo, CUmemoryPool pool, size_t minBytesToKeep);
CUDA_CALL(cuMemPoolSetAttribute, CUmemoryPool pool, CUmemPool_attribute attr, void *value);
CUDA_CALL(cuMemPoolGetAttribute, CUmemoryPool pool, CUmemPool_attribute attr, void *value);
CUDA_CALL(cuMemPoolSetAccess, CUmemoryPool pool, const CUmemAccessDesc *map, size_t count);
CUDA_CALL(cuMemPoolGetAccess, CUmemAccess_flags *flags, CUmemoryPool memPool,
          CUmemLocation *location);
CUDA_CALL(cuMemPoolCreate, CUmemoryPool *pool, const CUmemPoolProps *poolProps);
CUDA_CALL(cuMemPoolDestroy, CUmemoryPool pool);
CUDA_CALL(cuMemGetDefaultMemPool, CUmemoryPool *pool_out, CUmemLocation *location,
          CUmemAllocationType type);
CUDA_CALL(cuMemGetMemPool, CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type);
CUDA_CALL(cuMemSetMemPool, CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool);
CUDA_CALL(cuMemPoolExportToShareableHandle, void *handle_out, CUmemoryPool pool,
          CUmemAllocationHandleType handleType, unsigned long long flags);
CUDA_CALL(cuMemPoolImportFromShareableHandle, CUmemoryPool *pool_out, void *handle,
          CUmemAllocationHandleType handleType, unsigned long long flags);
CUDA_CALL(cuMemPoolExportPointer, CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr);
CUDA_CALL(cuMemPoolImportPointer, CUdeviceptr *ptr_out, CUmemoryPool pool,
          CUmemPoolPtrExportData *shareData);
CUDA_CALL_PTSZ(cuMemFreeAsync, CUdeviceptr dptr, CUstream hStream);
CUDA_CALL_PTSZ(cuMemAllocAsync, CUdeviceptr *dptr, size_t bytesize, CUstream hStream);
CUDA_CALL_PTSZ(cuMemAllocFromPoolAsync, CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
               CUstream hStream);

/* Streams */
CUDA_CALL(cuStreamCreate, CUstream *phStream, unsigned int Flags);
CUDA_CALL(cuStreamCreateWithPriority, CUstream *phStream, unsigned int flags, int priority);
CUDA_CALL(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode *mode);
CUDA_CALL(cuStreamDestroy_v2, CUstream hStream);
CUDA_CALL(cuStreamDestroy, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamGetPriority, CUstream hStream, int *priority);
CUDA_CALL_PTSZ(cuStreamGetId, CUstream hStream, unsigned long long *streamId);
CUDA_CALL_PTSZ(cuStreamGetFlags, CUstream hStream, unsigned int *flags);
CUDA_CALL_PTSZ(cuStreamGetDevice, CUstream hStream, CUdevice *device);
CUDA_CALL_PTSZ(cuStreamGetCtx, CUstream hStream, CUcontext *pctx);
CUDA_CALL_PTSZ(cuStreamGetCtx_v2, CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx);
CUDA_CALL_PTSZ(cuStreamWaitEvent, CUstream hStream, CUevent hEvent, unsigned int Flags);
CUDA_CALL_PTSZ(cuStreamAddCallback, CUstream hStream, CUstreamCallback callback, void *userData,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamAttachMemAsync, CUstream hStream, CUdeviceptr dptr, size_t length,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamQuery, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamSynchronize, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamWriteValue32, CUstream stream, CUdeviceptr addr, cuuint32_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWaitValue32, CUstream stream, CUdeviceptr addr, cuuint32_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWriteValue64, CUstream stream, CUdeviceptr addr, cuuint64_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWaitValue64, CUstream stream, CUdeviceptr addr, cuuint64_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamBatchMemOp, CUstream stream, unsigned int count,
               CUstreamBatchMemOpParams *paramArray, unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWriteValue32_v2, CUstream stream, CUdeviceptr addr, cuuint32_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWaitValue32_v2, CUstream stream, CUdeviceptr addr, cuuint32_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWriteValue64_v2, CUstream stream, CUdeviceptr addr, cuuint64_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamWaitValue64_v2, CUstream stream, CUdeviceptr addr, cuuint64_t value,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamBatchMemOp_v2, CUstream stream, unsigned int count,
               CUstreamBatchMemOpParams *paramArray, unsigned int flags);
CUDA_CALL_PTSZ(cuStreamBeginCapture, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamBeginCapture_v2, CUstream hStream, CUstreamCaptureMode mode);
CUDA_CALL_PTSZ(cuStreamBeginCaptureToGraph, CUstream hStream, CUgraph hGraph,
               const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
               size_t numDependencies, CUstreamCaptureMode mode);
CUDA_CALL_PTSZ(cuStreamEndCapture, CUstream hStream, CUgraph *phGraph);
CUDA_CALL_PTSZ(cuStreamIsCapturing, CUstream hStream, CUstreamCaptureStatus *captureStatus);
CUDA_CALL_PTSZ(cuStreamGetCaptureInfo, CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
               cuuint64_t *id_out);
CUDA_CALL_PTSZ(cuStreamGetCaptureInfo_v2, CUstream hStream,
               CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
               const CUgraphNode **dependencies_out, size_t *numDependencies_out);
CUDA_CALL_PTSZ(cuStreamGetCaptureInfo_v3, CUstream hStream,
               CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
               const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
               size_t *numDependencies_out);
CUDA_CALL_PTSZ(cuStreamCopyAttributes, CUstream dstStream, CUstream srcStream);
CUDA_CALL_PTSZ(cuStreamGetAttribute, CUstream hStream, CUstreamAttrID attr,
               CUstreamAttrValue *value);
CUDA_CALL_PTSZ(cuStreamSetAttribute, CUstream hStream, CUstreamAttrID attr,
               const CUstreamAttrValue *param);
CUDA_CALL_PTSZ(cuStreamUpdateCaptureDependencies, CUstream hStream, CUgraphNode *dependencies,
               size_t numDependencies, unsigned int flags);
CUDA_CALL_PTSZ(cuStreamUpdateCaptureDependencies_v2, CUstream hStream, CUgraphNode *dependencies,
               const CUgraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags);

/* Events */
CUDA_CALL(cuEventCreate, CUevent *phEvent, unsigned int Flags);
CUDA_CALL(cuEventQuery, CUevent hEvent);
CUDA_CALL(cuEventSynchronize, CUevent hEvent);
CUDA_CALL(cuEventDestroy_v2, CUevent hEvent);
CUDA_CALL(cuEventElapsedTime_v2, float *pMilliseconds, CUevent hStart, CUevent hEnd);
CUDA_CALL(cuEventDestroy, CUevent hEvent);
CUDA_CALL(cuEventElapsedTime, float *pMilliseconds, CUevent hStart, CUevent hEnd);
CUDA_CALL_PTSZ(cuEventRecord, CUevent hEvent, CUstream hStream);
CUDA_CALL_PTSZ(cuEventRecordWithFlags, CUevent hEvent, CUstream hStream, unsigned int flags);

/* External memory and semaphores */
CUDA_CALL(cuImportExternalMemory, CUexternalMemory *extMem_out,
          const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc);
CUDA_CALL(cuExternalMemoryGetMappedBuffer, CUdeviceptr *devPtr, CUexternalMemory extMem,
          const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc);
CUDA_CALL(cuExternalMemoryGetMappedMipmappedArray, CUmipmappedArray *mipmap,
          CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc);
CUDA_CALL(cuDestroyExternalMemory, CUexternalMemory extMem);
CUDA_CALL(cuImportExternalSemaphore, CUexternalSemaphore *extSem_out,
          const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc);
CUDA_CALL(cuDestroyExternalSemaphore, CUexternalSemaphore extSem);
CUDA_CALL_PTSZ(cuSignalExternalSemaphoresAsync, const CUexternalSemaphore *extSemArray,
               const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, unsigned int numExtSems,
               CUstream stream);
CUDA_CALL_PTSZ(cuWaitExternalSemaphoresAsync, const CUexternalSemaphore *extSemArray,
               const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, unsigned int numExtSems,
               CUstream stream);

/* Functions */
CUDA_CALL(cuFuncGetAttribute, int *pi, CUfunction_attribute attrib, CUfunction hfunc);
CUDA_CALL(cuFuncSetAttribute, CUfunction hfunc, CUfunction_attribute attrib, int value);
CUDA_CALL(cuFuncSetCacheConfig, CUfunction hfunc, CUfunc_cache config);
CUDA_CALL(cuFuncGetModule, CUmodule *hmod, CUfunction hfunc);
CUDA_CALL(cuFuncGetName, const char **name, CUfunction hfunc);
CUDA_CALL(cuFuncGetParamInfo, CUfunction func, size_t paramIndex, size_t *paramOffset,
          size_t *paramSize);
CUDA_CALL(cuFuncIsLoaded, CUfunctionLoadingState *state, CUfunction function);
CUDA_CALL(cuFuncLoad, CUfunction function);
CUDA_CALL(cuFuncSetBlockShape, CUfunction hfunc, int x, int y, int z);
CUDA_CALL(cuFuncSetSharedSize, CUfunction hfunc, unsigned int bytes);
CUDA_CALL(cuParamSetSize, CUfunction hfunc, unsigned int numbytes);
CUDA_CALL(cuParamSeti, CUfunction hfunc, int offset, unsigned int value);
CUDA_CALL(cuParamSetf, CUfunction hfunc, int offset, float value);
CUDA_CALL(cuParamSetv, CUfunction hfunc, int offset, void *ptr, unsigned int numbytes);
CUDA_CALL(cuParamSetTexRef, CUfunction hfunc, int texunit, CUtexref hTexRef);
CUDA_CALL(cuFuncSetSharedMemConfig, CUfunction hfunc, CUsharedconfig config);
CUDA_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *numBlocks, CUfunction func,
          int blockSize, size_t dynamicSMemSize);
CUDA_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *numBlocks, CUfunction func,
          int blockSize, size_t dynamicSMemSize, unsigned int flags);
CUDA_CALL(cuOccupancyMaxPotentialBlockSize, int *minGridSize, int *blockSize, CUfunction func,
          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
          int blockSizeLimit);
CUDA_CALL(cuOccupancyMaxPotentialBlockSizeWithFlags, int *minGridSize, int *blockSize,
          CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
          int blockSizeLimit, unsigned int flags);
CUDA_CALL(cuOccupancyAvailableDynamicSMemPerBlock, size_t *dynamicSmemSize, CUfunction func,
          int numBlocks, int blockSize);
CUDA_CALL(cuOccupancyMaxPotentialClusterSize, int *clusterSize, CUfunction func,
          const CUlaunchConfig *config);
CUDA_CALL(cuOccupancyMaxActiveClusters, int *numClusters, CUfunction func,
          const CUlaunchConfig *config);

/* Launches */
CUDA_CALL(cuLaunchCooperativeKernelMultiDevice, CUDA_LAUNCH_PARAMS *launchParamsList,
          unsigned int numDevices, unsigned int flags);
CUDA_CALL(cuLaunch, CUfunction f);
CUDA_CALL(cuLaunchGrid, CUfunction f, int grid_width, int grid_height);
CUDA_CALL(cuLaunchGridAsync, CUfunction f, int grid_width, int grid_height, CUstream hStream);
CUDA_CALL_PTSZ(cuLaunchKernel, CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
               unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
               unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
               void **kernelParams, void **extra);
CUDA_CALL_PTSZ(cuLaunchKernelEx, const CUlaunchConfig *config, CUfunction f, void **kernelParams,
               void **extra);
CUDA_CALL_PTSZ(cuLaunchHostFunc, CUstream hStream, CUhostFn fn, void *userData);
CUDA_CALL_PTSZ(cuLaunchCooperativeKernel, CUfunction f, unsigned int gridDimX,
               unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
               unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
               CUstream hStream, void **kernelParams);

/* Graphs */
CUDA_CALL(cuGraphCreate, CUgraph *phGraph, unsigned int flags);
CUDA_CALL(cuGraphAddKernelNode_v2, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphKernelNodeGetParams_v2, CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphKernelNodeSetParams_v2, CUgraphNode hNode,
          const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddMemcpyNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies, const CUDA_MEMCPY3D *copyParams,
          CUcontext ctx);
CUDA_CALL(cuGraphMemcpyNodeGetParams, CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams);
CUDA_CALL(cuGraphMemcpyNodeSetParams, CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams);
CUDA_CALL(cuGraphAddMemsetNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx);
CUDA_CALL(cuGraphMemsetNodeGetParams, CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphMemsetNodeSetParams, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddHostNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_HOST_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphHostNodeGetParams, CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphHostNodeSetParams, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddChildGraphNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies, CUgraph childGraph);
CUDA_CALL(cuGraphChildGraphNodeGetGraph, CUgraphNode hNode, CUgraph *phGraph);
CUDA_CALL(cuGraphAddEmptyNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies);
CUDA_CALL(cuGraphAddEventRecordNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies, CUevent event);
CUDA_CALL(cuGraphEventRecordNodeGetEvent, CUgraphNode hNode, CUevent *event_out);
CUDA_CALL(cuGraphEventRecordNodeSetEvent, CUgraphNode hNode, CUevent event);
CUDA_CALL(cuGraphAddEventWaitNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies, CUevent event);
CUDA_CALL(cuGraphEventWaitNodeGetEvent, CUgraphNode hNode, CUevent *event_out);
CUDA_CALL(cuGraphEventWaitNodeSetEvent, CUgraphNode hNode, CUevent event);
CUDA_CALL(cuGraphAddExternalSemaphoresSignalNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExternalSemaphoresSignalNodeGetParams, CUgraphNode hNode,
          CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *params_out);
CUDA_CALL(cuGraphExternalSemaphoresSignalNodeSetParams, CUgraphNode hNode,
          const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddExternalSemaphoresWaitNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExternalSemaphoresWaitNodeGetParams, CUgraphNode hNode,
          CUDA_EXT_SEM_WAIT_NODE_PARAMS *params_out);
CUDA_CALL(cuGraphExternalSemaphoresWaitNodeSetParams, CUgraphNode hNode,
          const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddBatchMemOpNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphBatchMemOpNodeGetParams, CUgraphNode hNode,
          CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out);
CUDA_CALL(cuGraphBatchMemOpNodeSetParams, CUgraphNode hNode,
          const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExecBatchMemOpNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphAddMemAllocNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphMemAllocNodeGetParams, CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out);
CUDA_CALL(cuGraphAddMemFreeNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies, CUdeviceptr dptr);
CUDA_CALL(cuGraphMemFreeNodeGetParams, CUgraphNode hNode, CUdeviceptr *dptr_out);
CUDA_CALL(cuGraphClone, CUgraph *phGraphClone, CUgraph originalGraph);
CUDA_CALL(cuGraphNodeFindInClone, CUgraphNode *phNode, CUgraphNode hOriginalNode,
          CUgraph hClonedGraph);
CUDA_CALL(cuGraphNodeGetType, CUgraphNode hNode, CUgraphNodeType *type);
CUDA_CALL(cuGraphGetNodes, CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes);
CUDA_CALL(cuGraphGetRootNodes, CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes);
CUDA_CALL(cuGraphGetEdges_v2, CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
          CUgraphEdgeData *edgeData, size_t *numEdges);
CUDA_CALL(cuGraphNodeGetDependencies_v2, CUgraphNode hNode, CUgraphNode *dependencies,
          CUgraphEdgeData *edgeData, size_t *numDependencies);
CUDA_CALL(cuGraphNodeGetDependentNodes_v2, CUgraphNode hNode, CUgraphNode *dependentNodes,
          CUgraphEdgeData *edgeData, size_t *numDependentNodes);
CUDA_CALL(cuGraphAddDependencies_v2, CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
          const CUgraphEdgeData *edgeData, size_t numDependencies);
CUDA_CALL(cuGraphRemoveDependencies_v2, CUgraph hGraph, const CUgraphNode *from,
          const CUgraphNode *to, const CUgraphEdgeData *edgeData, size_t numDependencies);
CUDA_CALL(cuGraphDestroyNode, CUgraphNode hNode);
CUDA_CALL(cuGraphInstantiateWithFlags, CUgraphExec *phGraphExec, CUgraph hGraph,
          unsigned long long flags);
CUDA_CALL(cuGraphExecGetFlags, CUgraphExec hGraphExec, cuuint64_t *flags);
CUDA_CALL(cuGraphExecKernelNodeSetParams_v2, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_KERNEL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExecMemcpyNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_MEMCPY3D *copyParams, CUcontext ctx);
CUDA_CALL(cuGraphExecMemsetNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx);
CUDA_CALL(cuGraphExecHostNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_HOST_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExecChildGraphNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          CUgraph childGraph);
CUDA_CALL(cuGraphExecEventRecordNodeSetEvent, CUgraphExec hGraphExec, CUgraphNode hNode,
          CUevent event);
CUDA_CALL(cuGraphExecEventWaitNodeSetEvent, CUgraphExec hGraphExec, CUgraphNode hNode,
          CUevent event);
CUDA_CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams, CUgraphExec hGraphExec,
          CUgraphNode hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_EXT_SEM_WAIT_NODE_PARAMS *nodeParams);
CUDA_CALL(cuGraphNodeSetEnabled, CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled);
CUDA_CALL(cuGraphNodeGetEnabled, CUgraphExec hGraphExec, CUgraphNode hNode,
          unsigned int *isEnabled);
CUDA_CALL(cuGraphExecDestroy, CUgraphExec hGraphExec);
CUDA_CALL(cuGraphDestroy, CUgraph hGraph);
CUDA_CALL(cuGraphExecUpdate_v2, CUgraphExec hGraphExec, CUgraph hGraph,
          CUgraphExecUpdateResultInfo *resultInfo);
CUDA_CALL(cuGraphKernelNodeCopyAttributes, CUgraphNode dst, CUgraphNode src);
CUDA_CALL(cuGraphKernelNodeGetAttribute, CUgraphNode hNode, CUkernelNodeAttrID attr,
          CUkernelNodeAttrValue *value_out);
CUDA_CALL(cuGraphKernelNodeSetAttribute, CUgraphNode hNode, CUkernelNodeAttrID attr,
          const CUkernelNodeAttrValue *value);
CUDA_CALL(cuGraphDebugDotPrint, CUgraph hGraph, const char *path, unsigned int flags);
CUDA_CALL(cuUserObjectCreate, CUuserObject *object_out, void *ptr, CUhostFn destroy,
          unsigned int initialRefcount, unsigned int flags);
CUDA_CALL(cuUserObjectRetain, CUuserObject object, unsigned int count);
CUDA_CALL(cuUserObjectRelease, CUuserObject object, unsigned int count);
CUDA_CALL(cuGraphRetainUserObject, CUgraph graph, CUuserObject object, unsigned int count,
          unsigned int flags);
CUDA_CALL(cuGraphReleaseUserObject, CUgraph graph, CUuserObject object, unsigned int count);
CUDA_CALL(cuGraphAddNode_v2, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
          size_t numDependencies, CUgraphNodeParams *nodeParams);
CUDA_CALL(cuGraphNodeSetParams, CUgraphNode hNode, CUgraphNodeParams *nodeParams);
CUDA_CALL(cuGraphExecNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          CUgraphNodeParams *nodeParams);
CUDA_CALL(cuGraphConditionalHandleCreate, CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
          CUcontext ctx, unsigned int defaultLaunchValue, unsigned int flags);
CUDA_CALL(cuGraphAddKernelNode, CUgraphNode *phGraphNode, CUgraph hGraph,
          const CUgraphNode *dependencies, size_t numDependencies,
          const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUDA_CALL(cuGraphKernelNodeGetParams, CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUDA_CALL(cuGraphKernelNodeSetParams, CUgraphNode hNode,
          const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUDA_CALL(cuGraphExecKernelNodeSetParams, CUgraphExec hGraphExec, CUgraphNode hNode,
          const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
CUDA_CALL_PTSZ(cuGraphInstantiateWithParams, CUgraphExec *phGraphExec, CUgraph hGraph,
               CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams);
CUDA_CALL(cuGraphExecUpdate, CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
          CUgraphExecUpdateResult *updateResult_out);
CUDA_CALL_PTSZ(cuGraphUpload, CUgraphExec hGraph, CUstream hStream);
CUDA_CALL_PTSZ(cuGraphLaunch, CUgraphExec hGraph, CUstream hStream);
CUDA_CALL(cuGraphGetEdges, CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges);
CUDA_CALL(cuGraphNodeGetDependencies, CUgraphNode hNode, CUgraphNode *dependencies,
          size_t *numDependencies);
CUDA_CALL(cuGraphNodeGetDependentNodes, CUgraphNode hNode, CUgraphNode *dependentNodes,
          size_t *numDependentNodes);
CUDA_CALL(cuGraphAddDependencies, CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
          size_t numDependencies);
CUDA_CALL(cuGraphRemoveDependencies, CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
          size_t numDependencies);
CUDA_CALL(cuGraphAddNode, CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
          size_t numDependencies, CUgraphNodeParams *nodeParams);
CUDA_CALL(cuGraphInstantiate, CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
          char *logBuffer, size_t bufferSize);
CUDA_CALL(cuGraphInstantiate_v2, CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
          char *logBuffer, size_t bufferSize);

/* Textures and surfaces */
CUDA_CALL(cuTexRefSetArray, CUtexref hTexRef, CUarray hArray, unsigned int Flags);
CUDA_CALL(cuTexRefSetMipmappedArray, CUtexref hTexRef, CUmipmappedArray hMipmappedArray,
          unsigned int Flags);
CUDA_CALL(cuTexRefSetAddress_v2, size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
          size_t bytes);
CUDA_CALL(cuTexRefSetAddress2D_v3, CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
          CUdeviceptr dptr, size_t Pitch);
CUDA_CALL(cuTexRefSetFormat, CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents);
CUDA_CALL(cuTexRefSetAddressMode, CUtexref hTexRef, int dim, CUaddress_mode am);
CUDA_CALL(cuTexRefSetFilterMode, CUtexref hTexRef, CUfilter_mode fm);
CUDA_CALL(cuTexRefSetMipmapFilterMode, CUtexref hTexRef, CUfilter_mode fm);
CUDA_CALL(cuTexRefSetMipmapLevelBias, CUtexref hTexRef, float bias);
CUDA_CALL(cuTexRefSetMipmapLevelClamp, CUtexref hTexRef, float minMipmapLevelClamp,
          float maxMipmapLevelClamp);
CUDA_CALL(cuTexRefSetMaxAnisotropy, CUtexref hTexRef, unsigned int maxAniso);
CUDA_CALL(cuTexRefSetBorderColor, CUtexref hTexRef, float *pBorderColor);
CUDA_CALL(cuTexRefSetFlags, CUtexref hTexRef, unsigned int Flags);
CUDA_CALL(cuTexRefGetAddress_v2, CUdeviceptr *pdptr, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetArray, CUarray *phArray, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetMipmappedArray, CUmipmappedArray *phMipmappedArray, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetAddressMode, CUaddress_mode *pam, CUtexref hTexRef, int dim);
CUDA_CALL(cuTexRefGetFilterMode, CUfilter_mode *pfm, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetFormat, CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetMipmapFilterMode, CUfilter_mode *pfm, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetMipmapLevelBias, float *pbias, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetMipmapLevelClamp, float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
          CUtexref hTexRef);
CUDA_CALL(cuTexRefGetMaxAnisotropy, int *pmaxAniso, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetBorderColor, float *pBorderColor, CUtexref hTexRef);
CUDA_CALL(cuTexRefGetFlags, unsigned int *pFlags, CUtexref hTexRef);
CUDA_CALL(cuTexRefCreate, CUtexref *pTexRef);
CUDA_CALL(cuTexRefDestroy, CUtexref hTexRef);
CUDA_CALL(cuSurfRefSetArray, CUsurfref hSurfRef, CUarray hArray, unsigned int Flags);
CUDA_CALL(cuSurfRefGetArray, CUarray *phArray, CUsurfref hSurfRef);
CUDA_CALL(cuTexObjectCreate, CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
          const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc);
CUDA_CALL(cuTexObjectDestroy, CUtexObject texObject);
CUDA_CALL(cuTexObjectGetResourceDesc, CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject);
CUDA_CALL(cuTexObjectGetTextureDesc, CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject);
CUDA_CALL(cuTexObjectGetResourceViewDesc, CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
          CUtexObject texObject);
CUDA_CALL(cuSurfObjectCreate, CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc);
CUDA_CALL(cuSurfObjectDestroy, CUsurfObject surfObject);
CUDA_CALL(cuSurfObjectGetResourceDesc, CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject);
CUDA_CALL(cuTensorMapEncodeTiled, CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
          cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
          const cuuint64_t *globalStrides, const cuuint32_t *boxDim,
          const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
          CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
          CUtensorMapFloatOOBfill oobFill);
CUDA_CALL(cuTensorMapEncodeIm2col, CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
          cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
          const cuuint64_t *globalStrides, const int *pixelBoxLowerCorner,
          const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
          const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
          CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
          CUtensorMapFloatOOBfill oobFill);
CUDA_CALL(cuTensorMapEncodeIm2colWide, CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
          cuuint32_t tensorRank, void *globalAddress, const cuuint64_t *globalDim,
          const cuuint64_t *globalStrides, int pixelBoxLowerCornerWidth,
          int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
          const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
          CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
          CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill);
CUDA_CALL(cuTensorMapReplaceAddress, CUtensorMap *tensorMap, void *globalAddress);
CUDA_CALL(cuTexRefSetAddress2D_v2, CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
          CUdeviceptr dptr, size_t Pitch);
CUDA_CALL(cuTexRefSetAddress, unsigned int *ByteOffset, CUtexref hTexRef, CUdeviceptr_v1 dptr,
          unsigned int bytes);
CUDA_CALL(cuTexRefSetAddress2D, CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc,
          CUdeviceptr_v1 dptr, unsigned int Pitch);
CUDA_CALL(cuTexRefGetAddress, CUdeviceptr_v1 *pdptr, CUtexref hTexRef);

/* Peers */
CUDA_CALL(cuCtxEnablePeerAccess, CUcontext peerContext, unsigned int Flags);
CUDA_CALL(cuCtxDisablePeerAccess, CUcontext peerContext);

/* Graphics */
CUDA_CALL(cuGraphicsUnregisterResource, CUgraphicsResource resource);
CUDA_CALL(cuGraphicsSubResourceGetMappedArray, CUarray *pArray, CUgraphicsResource resource,
          unsigned int arrayIndex, unsigned int mipLevel);
CUDA_CALL(cuGraphicsResourceGetMappedMipmappedArray, CUmipmappedArray *pMipmappedArray,
          CUgraphicsResource resource);
CUDA_CALL(cuGraphicsResourceGetMappedPointer_v2, CUdeviceptr *pDevPtr, size_t *pSize,
          CUgraphicsResource resource);
CUDA_CALL(cuGraphicsResourceSetMapFlags_v2, CUgraphicsResource resource, unsigned int flags);
CUDA_CALL(cuGraphicsResourceSetMapFlags, CUgraphicsResource resource, unsigned int flags);
CUDA_CALL(cuGraphicsResourceGetMappedPointer, CUdeviceptr_v1 *pDevPtr, unsigned int *pSize,
          CUgraphicsResource resource);
CUDA_CALL_PTSZ(cuGraphicsMapResources, unsigned int count, CUgraphicsResource *resources,
               CUstream hStream);
CUDA_CALL_PTSZ(cuGraphicsUnmapResources, unsigned int count, CUgraphicsResource *resources,
               CUstream hStream);

/* Checkpoint, core dumps, logs, profiler */
CUDA_CALL(cuCoredumpGetAttribute, CUcoredumpSettings attrib, void *value, size_t *size);
CUDA_CALL(cuCoredumpGetAttributeGlobal, CUcoredumpSettings attrib, void *value, size_t *size);
CUDA_CALL(cuCoredumpSetAttribute, CUcoredumpSettings attrib, void *value, size_t *size);
CUDA_CALL(cuCoredumpSetAttributeGlobal, CUcoredumpSettings attrib, void *value, size_t *size);
CUDA_CALL(cuLogsRegisterCallback, CUlogsCallback callbackFunc, void *userData,
          CUlogsCallbackHandle *callback_out);
CUDA_CALL(cuLogsUnregisterCallback, CUlogsCallbackHandle callback);
CUDA_CALL(cuLogsCurrent, CUlogIterator *iterator_out, unsigned int flags);
CUDA_CALL(cuLogsDumpToFile, CUlogIterator *iterator, const char *pathToFile, unsigned int flags);
CUDA_CALL(cuLogsDumpToMemory, CUlogIterator *iterator, char *buffer, size_t *size,
          unsigned int flags);
CUDA_CALL(cuCheckpointProcessGetRestoreThreadId, int pid, int *tid);
CUDA_CALL(cuCheckpointProcessGetState, int pid, CUprocessState *state);
CUDA_CALL(cuCheckpointProcessLock, int pid, CUcheckpointLockArgs *args);
CUDA_CALL(cuCheckpointProcessCheckpoint, int pid, CUcheckpointCheckpointArgs *args);
CUDA_CALL(cuCheckpointProcessRestore, int pid, CUcheckpointRestoreArgs *args);
CUDA_CALL(cuCheckpointProcessUnlock, int pid, CUcheckpointUnlockArgs *args);

/* Copies */
CUDA_CALL(cuMemcpyHtoD, CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount);
CUDA_CALL(cuMemcpyDtoH, void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount);
CUDA_CALL(cuMemcpyDtoD, CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount);
CUDA_CALL(cuMemcpyDtoA, CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice,
          unsigned int ByteCount);
CUDA_CALL(cuMemcpyAtoD, CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset,
          unsigned int ByteCount);
CUDA_CALL(cuMemcpyHtoA, CUarray dstArray, unsigned int dstOffset, const void *srcHost,
          unsigned int ByteCount);
CUDA_CALL(cuMemcpyAtoH, void *dstHost, CUarray srcArray, unsigned int srcOffset,
          unsigned int ByteCount);
CUDA_CALL(cuMemcpyAtoA, CUarray dstArray, unsigned int dstOffset, CUarray srcArray,
          unsigned int srcOffset, unsigned int ByteCount);
CUDA_CALL(cuMemcpyHtoAAsync, CUarray dstArray, unsigned int dstOffset, const void *srcHost,
          unsigned int ByteCount, CUstream hStream);
CUDA_CALL(cuMemcpyAtoHAsync, void *dstHost, CUarray srcArray, unsigned int srcOffset,
          unsigned int ByteCount, CUstream hStream);
CUDA_CALL(cuMemcpy2D, const CUDA_MEMCPY2D_v1 *pCopy);
CUDA_CALL(cuMemcpy2DUnaligned, const CUDA_MEMCPY2D_v1 *pCopy);
CUDA_CALL(cuMemcpy3D, const CUDA_MEMCPY3D_v1 *pCopy);
CUDA_CALL(cuMemcpyHtoDAsync, CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount,
          CUstream hStream);
CUDA_CALL(cuMemcpyDtoHAsync, void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount,
          CUstream hStream);
CUDA_CALL(cuMemcpyDtoDAsync, CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice,
          unsigned int ByteCount, CUstream hStream);
CUDA_CALL(cuMemcpy2DAsync, const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream);
CUDA_CALL(cuMemcpy3DAsync, const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream);
CUDA_CALL(cuMemsetD8, CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N);
CUDA_CALL(cuMemsetD16, CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N);
CUDA_CALL(cuMemsetD32, CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N);
CUDA_CALL(cuMemsetD2D8, CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc,
          unsigned int Width, unsigned int Height);
CUDA_CALL(cuMemsetD2D16, CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us,
          unsigned int Width, unsigned int Height);
CUDA_CALL(cuMemsetD2D32, CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui,
          unsigned int Width, unsigned int Height);
CUDA_CALL_PTDS(cuMemcpyHtoD_v2, CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyDtoH_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyDtoD_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyDtoA_v2, CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
               size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyAtoD_v2, CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
               size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyHtoA_v2, CUarray dstArray, size_t dstOffset, const void *srcHost,
               size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyAtoH_v2, void *dstHost, CUarray srcArray, size_t srcOffset,
               size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyAtoA_v2, CUarray dstArray, size_t dstOffset, CUarray srcArray,
               size_t srcOffset, size_t ByteCount);
CUDA_CALL_PTSZ(cuMemcpyHtoAAsync_v2, CUarray dstArray, size_t dstOffset, const void *srcHost,
               size_t ByteCount, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyAtoHAsync_v2, void *dstHost, CUarray srcArray, size_t srcOffset,
               size_t ByteCount, CUstream hStream);
CUDA_CALL_PTDS(cuMemcpy2D_v2, const CUDA_MEMCPY2D *pCopy);
CUDA_CALL_PTDS(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D *pCopy);
CUDA_CALL_PTDS(cuMemcpy3D_v2, const CUDA_MEMCPY3D *pCopy);
CUDA_CALL_PTSZ(cuMemcpyHtoDAsync_v2, CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyDtoHAsync_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyDtoDAsync_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *pCopy, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D *pCopy, CUstream hStream);
CUDA_CALL_PTDS(cuMemsetD8_v2, CUdeviceptr dstDevice, unsigned char uc, size_t N);
CUDA_CALL_PTDS(cuMemsetD16_v2, CUdeviceptr dstDevice, unsigned short us, size_t N);
CUDA_CALL_PTDS(cuMemsetD32_v2, CUdeviceptr dstDevice, unsigned int ui, size_t N);
CUDA_CALL_PTDS(cuMemsetD2D8_v2, CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
               size_t Width, size_t Height);
CUDA_CALL_PTDS(cuMemsetD2D16_v2, CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
               size_t Width, size_t Height);
CUDA_CALL_PTDS(cuMemsetD2D32_v2, CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
               size_t Width, size_t Height);
CUDA_CALL_PTDS(cuMemcpy, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);
CUDA_CALL_PTSZ(cuMemcpyAsync, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream);
CUDA_CALL_PTDS(cuMemcpyPeer, CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
               CUcontext srcContext, size_t ByteCount);
CUDA_CALL_PTSZ(cuMemcpyPeerAsync, CUdeviceptr dstDevice, CUcontext dstContext,
               CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream);
CUDA_CALL_PTDS(cuMemcpy3DPeer, const CUDA_MEMCPY3D_PEER *pCopy);
CUDA_CALL_PTSZ(cuMemcpy3DPeerAsync, const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyBatchAsync, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
               size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
               size_t *failIdx, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpy3DBatchAsync, size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
               unsigned long long flags, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyBatchAsync_v2, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
               size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpy3DBatchAsync_v2, size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
               unsigned long long flags, CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD8Async, CUdeviceptr dstDevice, unsigned char uc, size_t N,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD16Async, CUdeviceptr dstDevice, unsigned short us, size_t N,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD32Async, CUdeviceptr dstDevice, unsigned int ui, size_t N,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD2D8Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
               size_t Width, size_t Height, CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD2D16Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
               size_t Width, size_t Height, CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD2D32Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
               size_t Width, size_t Height, CUstream hStream);

/*
 * Interop with graphics is refused, so its types are not declared. (Arguments are the caller's to
 * clean up: a function without any can stand for them.)
 */
CUDA_CALL(cuEGLApiInit, void);
CUDA_CALL(cuEGLStreamConsumerAcquireFrame, void);
CUDA_CALL(cuEGLStreamConsumerConnect, void);
CUDA_CALL(cuEGLStreamConsumerConnectWithFlags, void);
CUDA_CALL(cuEGLStreamConsumerDisconnect, void);
CUDA_CALL(cuEGLStreamConsumerReleaseFrame, void);
CUDA_CALL(cuEGLStreamProducerConnect, void);
CUDA_CALL(cuEGLStreamProducerDisconnect, void);
CUDA_CALL(cuEGLStreamProducerPresentFrame, void);
CUDA_CALL(cuEGLStreamProducerReturnFrame, void);
CUDA_CALL(cuGLCtxCreate, void);
CUDA_CALL(cuGLCtxCreate_v2, void);
CUDA_CALL(cuGLGetDevices, void);
CUDA_CALL(cuGLGetDevices_v2, void);
CUDA_CALL(cuGLInit, void);
CUDA_CALL(cuGLMapBufferObject, void);
CUDA_CALL(cuGLMapBufferObjectAsync, void);
CUDA_CALL_PTSZ(cuGLMapBufferObjectAsync_v2, void);
CUDA_CALL_PTDS(cuGLMapBufferObject_v2, void);
CUDA_CALL(cuGLRegisterBufferObject, void);
CUDA_CALL(cuGLSetBufferObjectMapFlags, void);
CUDA_CALL(cuGLUnmapBufferObject, void);
CUDA_CALL(cuGLUnmapBufferObjectAsync, void);
CUDA_CALL(cuGLUnregisterBufferObject, void);
CUDA_CALL(cuGraphicsEGLRegisterImage, void);
CUDA_CALL(cuGraphicsGLRegisterBuffer, void);
CUDA_CALL(cuGraphicsGLRegisterImage, void);
CUDA_CALL(cuGraphicsResourceGetMappedEglFrame, void);
CUDA_CALL(cuGraphicsVDPAURegisterOutputSurface, void);
CUDA_CALL(cuGraphicsVDPAURegisterVideoSurface, void);
CUDA_CALL(cuVDPAUCtxCreate, void);
CUDA_CALL(cuVDPAUCtxCreate_v2, void);
CUDA_CALL(cuVDPAUGetDevice, void);

/* The profiler's switch */
CUDA_CALL(cuProfilerInitialize, const char *configFile, const char *outputFile, int outputMode);
CUDA_CALL(cuProfilerStart, void);
CUDA_CALL(cuProfilerStop, void);

#undef CUDA_CALL
#undef CUDA_CALL_PTSZ
#undef CUDA_CALL_PTDS

#ifdef __cplusplus
}
#endif

#endif
