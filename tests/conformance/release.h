/* SPDX-License-Identifier: Apache-2.0 */
/* A host function that holds its stream up until another thread releases it. */
#ifndef VCUDA_CONFORMANCE_RELEASE_H
#define VCUDA_CONFORMANCE_RELEASE_H

#include <unistd.h>

static volatile int released;

static inline void wait_for_release(void *unused) {
    (void)unused;
    while (!released)
        usleep(1000);
}

/* A thread: long enough for what shall be seen to wait. */
static inline void *release_later(void *unused) {
    usleep(300000);
    released = 1;
    return unused;
}

#endif
