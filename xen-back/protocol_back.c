// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol's code for this module: one object must not be linked into two
 * modules, and the frontend links its own.
 */
#include "../protocol/control.c"
#include "../protocol/ring.c"
