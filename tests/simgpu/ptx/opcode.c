// SPDX-License-Identifier: Apache-2.0
/* All instructions, by name. */
#include <string.h>

#include "load.h"

const struct opcode *find_opcode(const char *s, size_t len) {
    static const struct opcode *const tables[] = {
        ops_mov, ops_mem,  ops_int,  ops_float, ops_mul,  ops_bits, ops_cmp,     ops_flow, ops_cvt,
        ops_bar, ops_warp, ops_atom, ops_math,  ops_sign, ops_tex,  ops_cluster, ops_async};

    for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++)
        for (const struct opcode *o = tables[k]; o->name; o++)
            if (strlen(o->name) == len && !memcmp(o->name, s, len))
                return o;
    return NULL;
}
