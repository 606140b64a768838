/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of other processes that is open here.
 */
#ifndef VCUDA_USERLIB_IPC_H
#define VCUDA_USERLIB_IPC_H

#include <stdint.h>

/* What was opened in a context is open no more: the context has ended. */
void ipc_forget(uint64_t context);

#endif
