/* SPDX-License-Identifier: Apache-2.0 */
/* Which buffers a graph has, or an executable: what the files share that know of them. */
#ifndef VCUDA_USERLIB_GRAPH_USES_H
#define VCUDA_USERLIB_GRAPH_USES_H

#include <pthread.h>
#include <stddef.h>

#include "graph_buffer.h"

struct graph_use {
    struct graph_buffer *buffer;
    uint64_t node;   /* name; 0: not known */
    uint64_t within; /* the child's node that this one is in; 0: none, or not known */
    bool off;        /* its node does nothing */
};

/* The note of a graph or an executable. */
struct graph_uses {
    size_t count;
    struct graph_use *use;
    CUevent event;    /* of an executable: behind its last launch, which is */
    uint64_t launch;  /* this one, of all that there have been */
    uint64_t context; /* where it was, and the event's */
    uint64_t stream;
    bool recorded;
    bool pending;            /* it is not known to be done */
    struct graph_uses *next; /* those that are pending and watched, the last launch first */
};

extern pthread_mutex_t graph_uses_lock;

/* Under the lock: they end, also where they are pending. */
void graph_launch_forget(struct graph_uses *u);

/* Under the lock: one more, with a reference of its own. False: out of memory. */
bool graph_uses_add(struct graph_uses *u, const struct graph_use *use);

#endif
