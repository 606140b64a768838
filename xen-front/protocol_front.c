// SPDX-License-Identifier: GPL-2.0
/*
 * protocol/ for this module. Each module compiles it anew, since one object
 * must not be linked into two modules.
 */
#include "../protocol/ring.c"
#include "../protocol/control.c"
