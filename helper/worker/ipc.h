/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that programs of one domain or user pass to each other.
 */
#ifndef VCUDA_WORKER_IPC_H
#define VCUDA_WORKER_IPC_H

#include <stdint.h>

#include "owner.h"

/* Once, when the session is known. */
void ipc_start(struct vcuda_owner *owner, uint32_t place);
/* An allocation is about to end: its handle means nothing any more. Any thread. */
void ipc_memory_ends(uint64_t address);

#endif
