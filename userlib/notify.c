// SPDX-License-Identifier: Apache-2.0
/* What devices, the driver's log and profilers say: notifications, logs, start and stop. */
#include <stdio.h>

#include "cuda_calls.h"
#include "guest.h"
#include "hostfunc.h"
#include "wire.h"

static CUresult enter_device(struct thread **t, CUdevice dev) {
    CUresult r = guest_enter_any(t);

    if (r == CUDA_SUCCESS && (dev < 0 || dev >= guest_device_count()))
        r = CUDA_ERROR_INVALID_DEVICE;
    return r;
}

VCUDA_EXPORT CUresult cuDeviceRegisterAsyncNotification(CUdevice device,
                                                        CUasyncCallback callbackFunc,
                                                        void *userData,
                                                        CUasyncCallbackHandle *callback) {
    uint64_t id, handle;
    struct thread *t;
    CUresult r = enter_device(&t, device);

    if (r == CUDA_SUCCESS && (!callbackFunc || !callback))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    id = hostfunc_register_async(callbackFunc, userData);
    r = id ? wire_async_register(t, device, id, &handle) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) {
        hostfunc_drop(id);
        return r;
    }
    *callback = (CUasyncCallbackHandle)handle;
    hostfunc_set_handle(id, *callback);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDeviceUnregisterAsyncNotification(CUdevice device,
                                                          CUasyncCallbackHandle callback) {
    struct thread *t;
    CUresult r = enter_device(&t, device);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_ASYNC, callback);
    if (r == CUDA_SUCCESS)
        r = wire_async_unregister(t, device, (uint64_t)callback);
    if (r == CUDA_SUCCESS)
        hostfunc_drop(hostfunc_by_handle(callback));
    return r;
}

/* ---- the driver's log of errors: this library keeps none, so it is always empty ---- */

static char registration;

VCUDA_EXPORT CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                             CUlogsCallbackHandle *callback_out) {
    (void)userData;
    if (!callbackFunc)
        return CUDA_ERROR_INVALID_VALUE;
    if (callback_out)
        *callback_out = (CUlogsCallbackHandle)&registration;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
    return callback == (CUlogsCallbackHandle)&registration ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
}

VCUDA_EXPORT CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags) {
    if (!iterator_out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *iterator_out = 0;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile,
                                       unsigned int flags) {
    FILE *file;

    (void)iterator;
    if (!pathToFile || flags)
        return CUDA_ERROR_INVALID_VALUE;
    file = fopen(pathToFile, "w");
    if (!file)
        return CUDA_ERROR_INVALID_VALUE;
    return fclose(file) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
                                         unsigned int flags) {
    (void)iterator;
    if (!buffer || !size || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (*size)
        buffer[0] = 0;
    *size = 0;
    return CUDA_SUCCESS;
}

/* ---- nothing here profiles ---- */

VCUDA_EXPORT CUresult cuProfilerStart(void) {
    struct thread *t;

    return guest_enter(&t);
}

VCUDA_EXPORT CUresult cuProfilerStop(void) {
    struct thread *t;

    return guest_enter(&t);
}
