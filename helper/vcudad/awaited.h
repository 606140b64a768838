/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose end others may wait for: a native program has ended only once what it had is free.
 */
#ifndef VCUDAD_AWAITED_H
#define VCUDAD_AWAITED_H

#include "pool.h"

/*
 * Whether the worker ends, and may hold memory still. For three seconds from the first question
 * on: one that hangs, or lies, does not keep the programs of others waiting each time.
 */
bool awaited(struct worker *worker);

#endif
