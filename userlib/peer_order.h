/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of synchronous copies between contexts. They are made in a stream of the current
 * context; but natively they come after all that the default streams of both contexts were given
 * before, and what those are given later comes after them.
 */
#ifndef VCUDA_USERLIB_PEER_ORDER_H
#define VCUDA_USERLIB_PEER_ORDER_H

#include "cuda_types.h"

/*
 * Around a copy in this stream. They wait for nothing. A context that is not there is left out: the
 * copy itself says so.
 */
CUresult peer_order_before(CUcontext dst, CUcontext src, CUstream stream);
CUresult peer_order_behind(CUcontext dst, CUcontext src, CUstream stream);

#endif
