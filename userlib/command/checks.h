/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor looks at, from the machine up to a kernel's result. */
#ifndef VCUDA_COMMAND_CHECKS_H
#define VCUDA_COMMAND_CHECKS_H

#include "vcuda.h"

/* Whether the way to the helper is there: module, device and attachment; or the socket. */
void check_way(void);

/* Which libraries a program finds that is started without `vcuda run'. */
void check_loader(void);

/* A session, its devices, memory and a kernel. May be ended by a fault: call it in a child. */
void check_gpu(void);

#endif
