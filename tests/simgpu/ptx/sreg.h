/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers, and other values that only the running warp knows. */
#ifndef PTX_SREG_H
#define PTX_SREG_H

#include "ir.h"

enum {
    SREG_FRAME,   /* the function's frame in local memory, plus imm */
    SREG_DYNAMIC, /* where dynamic shared memory starts, plus imm */
    SREG_FIRST,
};

/* The number of a special register; `dim` is its 'x', or 0. Negative: there is none. */
int find_sreg(const char *s, size_t len, char dim, unsigned *size);

/* Special registers that PTX has and this engine has not. */
bool is_other_sreg(const char *s, size_t len);

enum step exec_sreg(struct warp *w, const struct insn *i, uint32_t mask);

#endif
