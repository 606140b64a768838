/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the workers are.
 */
#ifndef VCUDAD_IDENTITY_H
#define VCUDAD_IDENTITY_H

#include "options.h"

/*
 * The worker's --drop argument for the user that the options name, or NULL
 * where vcudad is not root (workers stay who they are). Resolved here, so that
 * a worker never asks a name service. Ends the program, with a remedy, when
 * the user does not exist.
 */
const char *identity_drop(const struct options *options);

#endif
