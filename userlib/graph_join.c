// SPDX-License-Identifier: Apache-2.0
/* Buffers whose memory overlaps: what one node writes another one reads, so they lie together. */
#include <stdlib.h>

#include "cuda_calls.h"
#include "graph_host.h"
#include "graph_node.h"
#include "graph_uses.h"
#include "notes.h"
#include "wire.h"

/* A buffer, and the one in another block that takes its place; NULL: it stays. */
struct move {
    struct graph_buffer *from, *to;
    bool done; /* a node has it */
};

static int by_begin(const void *a, const void *b) {
    const struct move *x = a, *y = b;

    return x->from->begin < y->from->begin ? -1 : x->from->begin > y->from->begin;
}

/* All buffers of a graph, each once for each use, in the order of their memory. */
static struct move *list_moves(const struct graph_uses *u, size_t *count) {
    struct move *moves;

    pthread_mutex_lock(&graph_uses_lock);
    moves = calloc(u->count, sizeof(*moves));
    *count = moves ? u->count : 0;
    for (size_t i = 0; i < *count; i++) {
        moves[i].from = u->use[i].buffer;
        moves[i].from->refs++;
    }
    pthread_mutex_unlock(&graph_uses_lock);
    if (moves)
        qsort(moves, *count, sizeof(*moves), by_begin);
    return moves;
}

static void drop_moves(struct move *moves, size_t count) {
    pthread_mutex_lock(&graph_uses_lock);
    for (size_t i = 0; i < count; i++) {
        graph_buffer_put(moves[i].from);
        if (moves[i].to)
            graph_buffer_put(moves[i].to);
    }
    pthread_mutex_unlock(&graph_uses_lock);
    free(moves);
}

/* How many of them overlap, one the next; `end`: of their memory. */
static size_t run_of(const struct move *moves, size_t count, uint64_t *end) {
    size_t n = 1;

    *end = moves[0].from->end;
    for (; n < count && moves[n].from->begin < *end; n++) {
        if (moves[n].from->end > *end)
            *end = moves[n].from->end;
    }
    return n;
}

/* What is only read is the same in any block. */
static bool lie_apart(const struct move *moves, size_t count) {
    bool apart = false, written = false;

    for (size_t i = 0; i < count; i++) {
        apart |= moves[i].from->block != moves[0].from->block;
        written |= !moves[i].from->up;
    }
    return apart && written;
}

static CUresult put_together(struct thread *t, struct move *moves, size_t count, uint64_t end) {
    struct graph_block *block;
    CUresult r = graph_block_new(t, moves[0].from->begin, end, &block);

    if (r != CUDA_SUCCESS)
        return r;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        pthread_mutex_lock(&graph_uses_lock);
        block->refs++;
        pthread_mutex_unlock(&graph_uses_lock);
        r = graph_buffer_new(t, &moves[i].from->copy, moves[i].from->up, block, &moves[i].to);
        if (r != CUDA_SUCCESS)
            block->refs--;
    }
    pthread_mutex_lock(&graph_uses_lock);
    graph_block_put(block);
    pthread_mutex_unlock(&graph_uses_lock);
    return r;
}

/* Makes the new buffers. *any: there are some. */
static CUresult plan(struct thread *t, struct move *moves, size_t count, bool *any) {
    CUresult r = CUDA_SUCCESS;
    uint64_t end;

    *any = false;
    for (size_t i = 0, n; i < count && r == CUDA_SUCCESS; i += n) {
        n = run_of(moves + i, count - i, &end);
        if (!lie_apart(moves + i, n))
            continue;
        *any = true;
        r = put_together(t, moves + i, n, end);
    }
    return r;
}

struct plan {
    struct thread *t;
    struct move *moves;
    size_t count;
};

/* Whether it is one of this side of a copy: there may be several, which come to the same. */
static bool is_of(const struct move *m, const struct vcuda_copy3d *c, bool up) {
    return m->to && m->from->up == up && graph_buffer_is_in(m->from, c);
}

/* One side of a copy, if it is to move. */
static bool move_side(const struct plan *p, const struct vcuda_copy3d *before, bool up,
                      struct vcuda_copy3d *c) {
    struct vcuda_place *place = up ? &c->src : &c->dst;
    const struct graph_buffer *to = NULL;

    for (size_t i = 0; i < p->count && !to; i++) {
        if (is_of(&p->moves[i], before, up))
            to = p->moves[i].to;
    }
    if (!to)
        return false;
    *place = to->image;
    if (to->image.pitch == to->copy.width) { /* dense, whatever its rows are called */
        place->pitch = c->width;
        place->height = c->rows;
    }
    return true;
}

static void note_moved(const struct plan *p, const struct vcuda_copy3d *before) {
    for (size_t i = 0; i < p->count; i++) {
        struct move *m = &p->moves[i];

        m->done = m->done || is_of(m, before, true) || is_of(m, before, false);
    }
}

/* A node that does not tell what it copies stays as it is. */
static CUresult move_copy(const struct plan *p, CUgraphNode node) {
    struct vcuda_copy3d before;
    struct node_record r;
    bool up, down;
    CUresult result;

    if (node_ask(node, CU_GRAPH_NODE_TYPE_MEMCPY, node, &r) != CUDA_SUCCESS)
        return CUDA_SUCCESS;
    before = r.node.copy;
    up = move_side(p, &before, true, &r.node.copy);
    down = move_side(p, &before, false, &r.node.copy);
    if (!up && !down)
        return CUDA_SUCCESS;
    result = node_settle_copy(&r.node.copy);
    if (result == CUDA_SUCCESS)
        result = wire_graph_node_set(p->t, (uint64_t)node, &r, node_bytes(&r));
    if (result == CUDA_SUCCESS)
        note_moved(p, &before);
    return result;
}

static CUresult move_nodes(const struct plan *p, CUgraph graph);

static CUresult move_node(const struct plan *p, CUgraphNode node) {
    CUgraphNodeType type;
    CUgraph child;
    CUresult r = cuGraphNodeGetType(node, &type);

    if (r == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_MEMCPY)
        r = move_copy(p, node);
    if (r != CUDA_SUCCESS || type != CU_GRAPH_NODE_TYPE_GRAPH)
        return r;
    r = cuGraphChildGraphNodeGetGraph(node, &child);
    return r == CUDA_SUCCESS ? move_nodes(p, child) : r;
}

/* What a graph uses moves as its nodes did. */
static void move_uses(const struct plan *p, CUgraph graph) {
    struct graph_uses *u = notes_get((uint64_t)graph);

    pthread_mutex_lock(&graph_uses_lock);
    for (size_t i = 0; u && i < u->count; i++) {
        struct graph_use *use = &u->use[i];

        for (size_t k = 0; k < p->count; k++) {
            if (p->moves[k].from != use->buffer || !p->moves[k].done)
                continue;
            p->moves[k].to->refs++;
            graph_buffer_put(use->buffer);
            use->buffer = p->moves[k].to;
            break;
        }
    }
    pthread_mutex_unlock(&graph_uses_lock);
}

/* The nodes of a graph, and of those in it. */
static CUresult move_nodes(const struct plan *p, CUgraph graph) {
    CUgraphNode *nodes;
    size_t count = 0;
    CUresult r = cuGraphGetNodes(graph, NULL, &count);

    if (r != CUDA_SUCCESS || !count)
        return r;
    nodes = calloc(count, sizeof(*nodes));
    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = cuGraphGetNodes(graph, nodes, &count);
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = move_node(p, nodes[i]);
    free(nodes);
    move_uses(p, graph);
    return r;
}

CUresult graph_host_join(struct thread *t, uint64_t graph) {
    struct graph_uses *u = notes_get(graph);
    struct plan p = {.t = t};
    struct move *moves;
    bool any;
    CUresult r;

    if (!u || u->count < 2)
        return CUDA_SUCCESS;
    moves = list_moves(u, &p.count);
    if (!moves)
        return CUDA_ERROR_OUT_OF_MEMORY;
    p.moves = moves;
    r = plan(t, moves, p.count, &any);
    if (r == CUDA_SUCCESS && any)
        r = move_nodes(&p, (CUgraph)graph);
    drop_moves(moves, p.count);
    return r;
}
