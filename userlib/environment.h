/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the native library reads, with its meaning. */
#ifndef VCUDA_USERLIB_ENVIRONMENT_H
#define VCUDA_USERLIB_ENVIRONMENT_H

#include <stdbool.h>

/* CUDA_LAUNCH_BLOCKING: every launch waits for its end. Read once, at cuInit. */
bool environment_launch_blocking(void);
void environment_read(void);

#endif
