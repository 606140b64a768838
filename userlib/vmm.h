/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: addresses reserved on both sides, memory mapped into them. */
#ifndef VCUDA_USERLIB_VMM_H
#define VCUDA_USERLIB_VMM_H

#include <stdbool.h>
#include <stdint.h>

/* Whether an address lies in a reservation, mapped or not. */
bool vmm_reserved(uint64_t address);

#endif
