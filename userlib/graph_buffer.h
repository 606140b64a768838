/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinary memory that nodes of graphs copy: pieces of it (buffers), each with its image in the
 * arena, and the blocks that images lie in. Under graph_uses_lock, but for what makes them.
 */
#ifndef VCUDA_USERLIB_GRAPH_BUFFER_H
#define VCUDA_USERLIB_GRAPH_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "copy3d.h"
#include "cuda_types.h"

struct thread;

/* Memory of the arena that stands for the program's from begin to end, byte for byte. */
struct graph_block {
    uint32_t refs;
    char *stage;
    uint64_t begin, end; /* both 0: for rows of the program's that lie apart, packed here */
};

struct graph_buffer {
    uint32_t refs;
    bool up; /* the GPU reads it */
    struct graph_block *block;
    struct vcuda_place image;  /* in the block */
    struct vcuda_copy3d copy;  /* as the program asked for it */
    uint64_t begin, end;       /* the program's memory, gaps between its rows included */
    struct graph_buffer *next; /* all of them */
};

/* With one reference. */
CUresult graph_block_new(struct thread *t, uint64_t begin, uint64_t end, struct graph_block **out);
void graph_block_put(struct graph_block *k);

/*
 * One side of a copy, with one reference. Its image lies in the block, whose reference is taken
 * over if that worked; NULL: in a block of its own.
 */
CUresult graph_buffer_new(struct thread *t, const struct vcuda_copy3d *c, bool up,
                          struct graph_block *block, struct graph_buffer **out);
void graph_buffer_put(struct graph_buffer *b);

/* What the GPU reads, or what it writes. */
static inline const struct vcuda_place *graph_side(const struct vcuda_copy3d *c, bool up) {
    return up ? &c->src : &c->dst;
}

/* Whether there are any: without the lock, of what the caller has made. */
bool graph_buffer_any(void);

/* Whether a copy that the worker told of has this buffer on its side. */
bool graph_buffer_is_in(const struct graph_buffer *b, const struct vcuda_copy3d *c);
/* The buffer that such a copy has on that side, or NULL. */
const struct graph_buffer *graph_buffer_find(const struct vcuda_copy3d *c, bool up);

static inline uint64_t graph_buffer_bytes(const struct graph_buffer *b) {
    return b->copy.width * b->copy.rows * b->copy.slices;
}

/* The image becomes what the program's memory is, or the other way. */
void graph_buffer_fill(const struct graph_buffer *b);
void graph_buffer_empty(const struct graph_buffer *b);
/* The program's bytes, dense; and what has become different from them goes to the image. */
void graph_buffer_note(const struct graph_buffer *b, char *bytes);
void graph_buffer_fill_changed(const struct graph_buffer *b, const char *bytes);

#endif
