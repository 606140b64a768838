/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver's binary interface, as far as this project serves it.
 *
 * These are our own declarations, so that nothing here needs the CUDA Toolkit to build. Names,
 * numbers and layouts are the interface of CUDA 13.0; where NVIDIA's cuda.h is installed,
 * `make -C cuda check` compares every one of them with it.
 */
#ifndef VCUDA_CUDA_ABI_H
#define VCUDA_CUDA_ABI_H

#include "cuda_types.h"
#include "cuda_calls.h"
#include "cuda_names.h"

#endif
