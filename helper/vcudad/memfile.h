/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that vcudad shares with workers.
 */
#ifndef VCUDAD_MEMFILE_H
#define VCUDAD_MEMFILE_H

#include <stddef.h>

/*
 * Makes a memory file of `bytes` bytes, zeroed, mapped at *memory. Its size is sealed, or a worker
 * could cut it and kill vcudad by SIGBUS. A descriptor, close-on-exec, or a negative errno.
 */
int memfile_make(const char *name, size_t bytes, void **memory);

#endif
