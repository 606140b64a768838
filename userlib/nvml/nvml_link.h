/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session of libnvidia-ml.so.1: one for each process, from the first nvmlInit to the last
 * nvmlShutdown. It has no memory and no context, so that it can be made anew: when the worker died,
 * after a restore of the guest, and in a child of fork(), where native NVML works on as well.
 */
#ifndef VCUDA_NVML_LINK_H
#define VCUDA_NVML_LINK_H

#include <stdbool.h>

#include "cuda_types.h"
#include "info.h"
#include "nvml_types.h"

struct thread;

/* A device. Handles point to these, and stay good from one session to the next. */
struct nvmlDevice_st {
    struct vcuda_device_info info;
    bool known; /* is, or was, one of this domain's devices */
    bool gone;  /* a later session did not have it any more */
};

/* Counts one more nvmlInit; opens the session with the first. */
nvmlReturn_t link_init(void);
nvmlReturn_t link_shutdown(void);

/*
 * Between these two the session stays open and may be used by this thread: NVML_SUCCESS, or why
 * there is none.
 */
nvmlReturn_t link_enter(struct thread **t);
void link_leave(void);

/* After a call that said VCUDA_ERROR_LOST, outside of link_enter: the next one opens anew. */
void link_lost(void);

/* Whether nvmlInit was called. */
bool link_ready(void);

/* Number of devices, once initialised. */
unsigned int link_devices(void);

/* The device of an index below link_devices(). */
nvmlDevice_t link_device(unsigned int index);

/* The index of a handle, or -1 for what is none. */
int link_index(nvmlDevice_t device);

/* The driver's version as cuDriverGetVersion gives it, and the versions' texts. */
int link_cuda_version(void);
const struct vcuda_nvml_info *link_info(void);

#endif
