/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of rows and slices: what the calls for 2D, 3D, peer and array copies share. */
#ifndef VCUDA_USERLIB_BOXES_H
#define VCUDA_USERLIB_BOXES_H

#include <stdbool.h>

#include "copy3d.h"
#include "guest.h"

/*
 * Makes the copy in the stream. The places' types may still be CU_MEMORYTYPE_UNIFIED; their host
 * memory is the program's. wait: the caller means the synchronous call.
 */
CUresult copy3d_run(struct thread *t, const struct vcuda_copy3d *copy, uint64_t stream, bool wait);

/* The same from the start: enters, resolves the stream. */
CUresult copy3d_call(const struct vcuda_copy3d *copy, CUstream stream, bool wait);

/* The synchronous copy between contexts, in the order that it has there (peer_order.h). */
CUresult copy3d_call_peer(const struct vcuda_copy3d *copy, CUstream stream);

#endif
