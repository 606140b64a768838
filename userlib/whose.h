/* SPDX-License-Identifier: Apache-2.0 */
/* Whose memory an address is of, where the call does not say. */
#ifndef VCUDA_USERLIB_WHOSE_H
#define VCUDA_USERLIB_WHOSE_H

#include <stdbool.h>
#include <stdint.h>

/* Memory of a device that the program was given, or addresses that it reserved for such. */
bool whose_known_device(uint64_t address);

/*
 * The same, or what is not mapped in the program: the driver shall judge it. Kernels tell of memory
 * that nobody was given: of modules, of their own heap.
 */
bool whose_device(uint64_t address);

#endif
