/* SPDX-License-Identifier: Apache-2.0 */
/* A worker keeps its table to its end; a test gives the memory back. */
#ifndef VCUDA_WORKER_TESTS_OBJECTS_FREE_H
#define VCUDA_WORKER_TESTS_OBJECTS_FREE_H

#include <search.h>
#include <stdlib.h>

#include "objects.h"

static inline void objects_free(struct objects *o) {
    for (int kind = 0; kind < VCUDA_KIND_MAX; kind++) {
        for (int piece = 0; piece < OBJECTS_PIECES; piece++)
            free(o->kinds[kind].pieces[piece]);
        tdestroy(o->kinds[kind].names, free);
    }
}

#endif
