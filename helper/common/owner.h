/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that all workers of one owner share: a domain's, or a local user's. vcudad makes it
 * with the owner's first session and clears what a worker leaves in it.
 */
#ifndef VCUDA_HELPER_OWNER_H
#define VCUDA_HELPER_OWNER_H

#include "account.h"
#include "handoff.h"

struct vcuda_owner {
    struct vcuda_account account;
    struct vcuda_handoffs handoffs;
};

#endif
