/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a completion: the one place that parses what a worker wrote. */
#ifndef VCUDA_USERLIB_COMPLETION_H
#define VCUDA_USERLIB_COMPLETION_H

#include <stdbool.h>
#include "rpc.h"

/*
 * Fills in the answer of `rpc` from a private copy of its completion, `len` bytes with its header.
 * False if it makes no sense: wrong call, ragged slots, a blob longer than the record or than what
 * was asked for.
 */
bool completion_parse(const struct vcuda_rec *head, uint32_t len, struct rpc *rpc);

#endif
