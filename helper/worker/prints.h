/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels print. The driver writes it to this process' standard output,
 * and what a failed assertion says to the standard error; both are files in
 * memory here, and go to the program as messages, ahead of the answers of calls
 * during which a driver would have written it.
 */
#ifndef VCUDA_WORKER_PRINTS_H
#define VCUDA_WORKER_PRINTS_H

#include <stdbool.h>

struct cuda_image;

/* Takes over both descriptors, once; the log goes on where it went. 0 or -errno. */
int prints_start(void);

/*
 * To be told of each image that is loaded: looking for text costs something, so only those sessions
 * do whose kernels may print. Any thread.
 */
void prints_image(const struct cuda_image *image);

/* Whether a kernel may have printed. */
bool prints_possible(void);

/* Says what is there. Executor only, before it answers. */
void prints_send(void);

#endif
