/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of launches, as a guest sends them. */
#ifndef VCUDA_WORKER_LAUNCH_H
#define VCUDA_WORKER_LAUNCH_H

#include "worker.h"

/*
 * One attribute for the driver: events by their names are looked up; CUDA_ERROR_INVALID_VALUE for
 * an attribute that holds a pointer.
 */
CUresult launch_attribute(struct worker *w, const struct vcuda_launch_attribute *given,
                          CUlaunchAttribute *a);
/* A blob of them, up to VCUDA_LAUNCH_ATTRIBUTES_MAX. */
CUresult launch_attributes(struct worker *w, const void *blob, uint32_t bytes,
                           CUlaunchAttribute *attributes, unsigned int *count);

#endif
