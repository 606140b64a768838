// SPDX-License-Identifier: Apache-2.0
/* What devices say by themselves. */
#include "hostfunc.h"
#include "worker.h"

CUresult own_async_register(struct worker *w, struct frame *f, struct args_async_register *a) {
    (void)f;
    return w->driver.cuDeviceRegisterAsyncNotification(a->device, hostfunc_notify,
                                                       hostfunc_arg(a->id), &a->handle);
}

CUresult own_async_unregister(struct worker *w, struct frame *f, struct args_async_unregister *a) {
    (void)f;
    return w->driver.cuDeviceUnregisterAsyncNotification(a->device, a->handle);
}
