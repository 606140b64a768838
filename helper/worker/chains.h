/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of kernels one after another, kept for the streams that launch most: their parameters are
 * set anew for each use. Executor only, but for chains_forget().
 */
#ifndef VCUDA_WORKER_CHAINS_H
#define VCUDA_WORKER_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "launch.h"

struct worker;

/* Lengths are powers of two, up to 1 << CHAINS_POWER_MAX. */
#define CHAINS_POWER_MAX 4u
#define CHAINS_MAX (1u << CHAINS_POWER_MAX)

/* A stream as the program names it, which need not be one of its own: in which context. */
struct chains_stream {
    CUstream native;
    uint64_t name, context;
};

/* Reads after how many launches a stream gets any. Once, at the start. */
void chains_start(void);
/* Whether that was said (VCUDA_CHAINS_AFTER): then there are chains whether they pay or not. */
bool chains_forced(void);

/* One more launch in the stream: whether it has launched so often that chains are kept for it. */
bool chains_deserved(struct worker *w, const struct chains_stream *s);

/*
 * Launches 1 << power kernels, in the context that is current, which is the stream's. False: none
 * was. *refused is then the first that cannot be launched so; CHAINS_MAX: that is none's fault.
 */
bool chains_launch(struct worker *w, const struct chains_stream *s, const struct launch *launches,
                   uint32_t power, uint32_t *refused);

/*
 * Before code or a context ends, or the driver moves what all graphs use: they are gone, and made
 * again where they are needed. What was launched runs.
 */
void chains_forget(struct worker *w);

#endif
