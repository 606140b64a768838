/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and events that programs of one domain or user pass to each other.
 */
#ifndef VCUDA_WORKER_IPC_H
#define VCUDA_WORKER_IPC_H

#include <stdint.h>

#include "owner.h"

/* Once, when the session is known. */
void ipc_start(struct vcuda_owner *owner, uint32_t place);
/* An allocation or event, by its address or the driver's handle, is about to end. Any thread. */
void ipc_ends(uint64_t key);
/* A context has ended, with what it had of memory that is shared: is waited for. Any thread. */
void ipc_end_context(uint64_t context);

#endif
