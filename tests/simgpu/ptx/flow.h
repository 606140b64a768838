/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, calls and returns. */
#ifndef PTX_FLOW_H
#define PTX_FLOW_H

#include "exec.h"

/* What every frame of registers starts with. */
struct frame_header {
    uint64_t frame[WARP]; /* the caller's, by lane */
    uint32_t pc[WARP];    /* of the call */
};

enum step exec_ret(struct warp *w, const struct insn *i, uint32_t mask);

/* Same parameters and results, at the same places of the frame. */
bool same_shape(const struct func *a, const struct func *b);

/* A function that the engine itself provides, such as vprintf: its executor, or NULL. */
px_exec find_system_call(const struct func *f);

#endif
