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
CUDA_CALL(cuInit, unsigned int Flags);
CUDA_CALL(cuDriverGetVersion, int *driverVersion);
CUDA_CALL(cuGetErrorName, CUresult error, const char **pStr);
CUDA_CALL(cuGetErrorString, CUresult error, const char **pStr);
CUDA_CALL(cuGetProcAddress, const char *symbol, void **pfn, int cudaVersion, uint64_t flags);
CUDA_CALL(cuGetProcAddress_v2, const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
          CUdriverProcAddressQueryResult *symbolStatus);
CUDA_CALL(cuGetExportTable, const void **ppExportTable, const CUuuid *pExportTableId);

/* Devices */
CUDA_CALL(cuDeviceGet, CUdevice *device, int ordinal);
CUDA_CALL(cuDeviceGetCount, int *count);
CUDA_CALL(cuDeviceGetName, char *name, int len, CUdevice dev);
CUDA_CALL(cuDeviceGetUuid, CUuuid *uuid, CUdevice dev);
CUDA_CALL(cuDeviceGetUuid_v2, CUuuid *uuid, CUdevice dev);
CUDA_CALL(cuDeviceGetLuid, char *luid, unsigned int *deviceNodeMask, CUdevice dev);
CUDA_CALL(cuDeviceTotalMem_v2, size_t *bytes, CUdevice dev);
CUDA_CALL(cuDeviceGetAttribute, int *pi, CUdevice_attribute attrib, CUdevice dev);
CUDA_CALL(cuDeviceGetPCIBusId, char *pciBusId, int len, CUdevice dev);
CUDA_CALL(cuDeviceGetByPCIBusId, CUdevice *dev, const char *pciBusId);
CUDA_CALL(cuDeviceComputeCapability, int *major, int *minor, CUdevice dev);
CUDA_CALL(cuDeviceGetProperties, CUdevprop *prop, CUdevice dev);
CUDA_CALL(cuDeviceCanAccessPeer, int *canAccessPeer, CUdevice dev, CUdevice peerDev);

/* Primary contexts; some callers ask for the first versions, which differ only in name */
CUDA_CALL(cuDevicePrimaryCtxRetain, CUcontext *pctx, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxRelease, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxRelease_v2, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxReset, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxReset_v2, CUdevice dev);
CUDA_CALL(cuDevicePrimaryCtxSetFlags, CUdevice dev, unsigned int flags);
CUDA_CALL(cuDevicePrimaryCtxSetFlags_v2, CUdevice dev, unsigned int flags);
CUDA_CALL(cuDevicePrimaryCtxGetState, CUdevice dev, unsigned int *flags, int *active);

/* Contexts */
CUDA_CALL(cuCtxCreate_v2, CUcontext *pctx, unsigned int flags, CUdevice dev);
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
CUDA_CALL(cuMemHostRegister_v2, void *p, size_t bytesize, unsigned int Flags);
CUDA_CALL(cuMemHostUnregister, void *p);
CUDA_CALL(cuPointerGetAttribute, void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUDA_CALL(cuPointerGetAttributes, unsigned int numAttributes, CUpointer_attribute *attributes,
          void **data, CUdeviceptr ptr);

/* Copies and fills */
CUDA_CALL_PTDS(cuMemcpy, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyHtoD_v2, CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyDtoH_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_CALL_PTDS(cuMemcpyDtoD_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount);
CUDA_CALL_PTSZ(cuMemcpyAsync, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyHtoDAsync_v2, CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyDtoHAsync_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemcpyDtoDAsync_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
               CUstream hStream);
CUDA_CALL_PTDS(cuMemsetD8_v2, CUdeviceptr dstDevice, unsigned char uc, size_t N);
CUDA_CALL_PTDS(cuMemsetD16_v2, CUdeviceptr dstDevice, unsigned short us, size_t N);
CUDA_CALL_PTDS(cuMemsetD32_v2, CUdeviceptr dstDevice, unsigned int ui, size_t N);
CUDA_CALL_PTSZ(cuMemsetD8Async, CUdeviceptr dstDevice, unsigned char uc, size_t N,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD16Async, CUdeviceptr dstDevice, unsigned short us, size_t N,
               CUstream hStream);
CUDA_CALL_PTSZ(cuMemsetD32Async, CUdeviceptr dstDevice, unsigned int ui, size_t N,
               CUstream hStream);

/* Modules */
CUDA_CALL(cuModuleLoad, CUmodule *module, const char *fname);
CUDA_CALL(cuModuleLoadData, CUmodule *module, const void *image);
CUDA_CALL(cuModuleLoadDataEx, CUmodule *module, const void *image, unsigned int numOptions,
          CUjit_option *options, void **optionValues);
CUDA_CALL(cuModuleLoadFatBinary, CUmodule *module, const void *fatCubin);
CUDA_CALL(cuModuleUnload, CUmodule hmod);
CUDA_CALL(cuModuleGetFunction, CUfunction *hfunc, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetFunctionCount, unsigned int *count, CUmodule mod);
CUDA_CALL(cuModuleEnumerateFunctions, CUfunction *functions, unsigned int numFunctions,
          CUmodule mod);
CUDA_CALL(cuModuleGetGlobal_v2, CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name);
CUDA_CALL(cuModuleGetLoadingMode, CUmoduleLoadingMode *mode);

/* Libraries and kernels, independent of a context */
CUDA_CALL(cuLibraryLoadData, CUlibrary *library, const void *code, CUjit_option *jitOptions,
          void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
          void **libraryOptionValues, unsigned int numLibraryOptions);
CUDA_CALL(cuLibraryUnload, CUlibrary library);
CUDA_CALL(cuLibraryGetKernel, CUkernel *pKernel, CUlibrary library, const char *name);
CUDA_CALL(cuLibraryGetKernelCount, unsigned int *count, CUlibrary lib);
CUDA_CALL(cuLibraryEnumerateKernels, CUkernel *kernels, unsigned int numKernels, CUlibrary lib);
CUDA_CALL(cuLibraryGetModule, CUmodule *pMod, CUlibrary library);
CUDA_CALL(cuLibraryGetGlobal, CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
          const char *name);
CUDA_CALL(cuKernelGetFunction, CUfunction *pFunc, CUkernel kernel);
CUDA_CALL(cuKernelGetLibrary, CUlibrary *pLib, CUkernel kernel);
CUDA_CALL(cuKernelGetAttribute, int *pi, CUfunction_attribute attrib, CUkernel kernel,
          CUdevice dev);
CUDA_CALL(cuKernelSetAttribute, CUfunction_attribute attrib, int val, CUkernel kernel,
          CUdevice dev);
CUDA_CALL(cuKernelSetCacheConfig, CUkernel kernel, CUfunc_cache config, CUdevice dev);
CUDA_CALL(cuKernelGetName, const char **name, CUkernel hfunc);
CUDA_CALL(cuKernelGetParamInfo, CUkernel kernel, size_t paramIndex, size_t *paramOffset,
          size_t *paramSize);

/* Functions and launches */
CUDA_CALL(cuFuncGetAttribute, int *pi, CUfunction_attribute attrib, CUfunction hfunc);
CUDA_CALL(cuFuncSetAttribute, CUfunction hfunc, CUfunction_attribute attrib, int value);
CUDA_CALL(cuFuncSetCacheConfig, CUfunction hfunc, CUfunc_cache config);
CUDA_CALL(cuFuncGetModule, CUmodule *hmod, CUfunction hfunc);
CUDA_CALL(cuFuncGetName, const char **name, CUfunction hfunc);
CUDA_CALL(cuFuncGetParamInfo, CUfunction func, size_t paramIndex, size_t *paramOffset,
          size_t *paramSize);
CUDA_CALL(cuFuncIsLoaded, CUfunctionLoadingState *state, CUfunction function);
CUDA_CALL(cuFuncLoad, CUfunction function);
CUDA_CALL_PTSZ(cuLaunchKernel, CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
               unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
               unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
               void **kernelParams, void **extra);
CUDA_CALL_PTSZ(cuLaunchKernelEx, const CUlaunchConfig *config, CUfunction f, void **kernelParams,
               void **extra);
CUDA_CALL_PTSZ(cuLaunchCooperativeKernel, CUfunction f, unsigned int gridDimX,
               unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
               unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
               CUstream hStream, void **kernelParams);
CUDA_CALL_PTSZ(cuLaunchHostFunc, CUstream hStream, CUhostFn fn, void *userData);
CUDA_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *numBlocks, CUfunction func,
          int blockSize, size_t dynamicSMemSize);
CUDA_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *numBlocks, CUfunction func,
          int blockSize, size_t dynamicSMemSize, unsigned int flags);
CUDA_CALL(cuOccupancyAvailableDynamicSMemPerBlock, size_t *dynamicSmemSize, CUfunction func,
          int numBlocks, int blockSize);

/* Streams */
CUDA_CALL(cuStreamCreate, CUstream *phStream, unsigned int Flags);
CUDA_CALL(cuStreamCreateWithPriority, CUstream *phStream, unsigned int flags, int priority);
CUDA_CALL(cuStreamDestroy_v2, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamSynchronize, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamQuery, CUstream hStream);
CUDA_CALL_PTSZ(cuStreamWaitEvent, CUstream hStream, CUevent hEvent, unsigned int Flags);
CUDA_CALL_PTSZ(cuStreamAddCallback, CUstream hStream, CUstreamCallback callback, void *userData,
               unsigned int flags);
CUDA_CALL_PTSZ(cuStreamGetPriority, CUstream hStream, int *priority);
CUDA_CALL_PTSZ(cuStreamGetFlags, CUstream hStream, unsigned int *flags);
CUDA_CALL_PTSZ(cuStreamGetCtx, CUstream hStream, CUcontext *pctx);
CUDA_CALL_PTSZ(cuStreamGetId, CUstream hStream, unsigned long long *streamId);

/* Events */
CUDA_CALL(cuEventCreate, CUevent *phEvent, unsigned int Flags);
CUDA_CALL_PTSZ(cuEventRecord, CUevent hEvent, CUstream hStream);
CUDA_CALL_PTSZ(cuEventRecordWithFlags, CUevent hEvent, CUstream hStream, unsigned int flags);
CUDA_CALL(cuEventQuery, CUevent hEvent);
CUDA_CALL(cuEventSynchronize, CUevent hEvent);
CUDA_CALL(cuEventDestroy_v2, CUevent hEvent);
CUDA_CALL(cuEventElapsedTime, float *pMilliseconds, CUevent hStart, CUevent hEnd);
CUDA_CALL(cuEventElapsedTime_v2, float *pMilliseconds, CUevent hStart, CUevent hEnd);

#undef CUDA_CALL
#undef CUDA_CALL_PTSZ
#undef CUDA_CALL_PTDS

#ifdef __cplusplus
}
#endif

#endif
