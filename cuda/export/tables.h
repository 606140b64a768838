/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of functions that cuGetExportTable hands out, home-made over the public interface.
 * Those that NVIDIA's own libraries need are here, with the slots that they call. The first word of
 * a table is its size in bytes, if it has one.
 */
#ifndef CUDA_EXPORT_TABLES_H
#define CUDA_EXPORT_TABLES_H

#include "cuda_types.h"

extern const void *const export_cudart_interface[];
extern const void *const export_callback_hooks[];
extern const void *const export_tools_tls[];
extern const void *const export_context_locals[];
extern const void *const export_context_checks[];
extern const void *const export_integrity_check[];
extern const void *const export_streams[];
extern const void *const export_topology[];
extern const void *const export_module_functions[];

/* What stands in a slot that nobody was seen to call. */
CUresult export_refused(void);

#define EXPORT_SIZE(words) ((const void *)((words) * sizeof(void *)))
#define EXPORT_REFUSED ((const void *)export_refused)

#endif
