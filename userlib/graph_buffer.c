// SPDX-License-Identifier: Apache-2.0
#include "graph_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "barrier.h"
#include "graph_uses.h"

static struct graph_buffer *buffers;

CUresult graph_block_new(struct thread *t, uint64_t begin, uint64_t end, struct graph_block **out) {
    struct graph_block *k = calloc(1, sizeof(*k));
    void *stage;
    CUresult r;

    if (!k)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* Graphs outlive the context that was current. */
    r = arena_alloc(t, end - begin, ARENA_STAGING, 0, &stage);
    if (r != CUDA_SUCCESS) {
        free(k);
        return r;
    }
    *k = (struct graph_block){.refs = 1, .stage = stage, .begin = begin, .end = end};
    *out = k;
    return CUDA_SUCCESS;
}

void graph_block_put(struct graph_block *k) {
    if (--k->refs)
        return;
    arena_free(k->stage, ARENA_STAGING);
    free(k);
}

static uint64_t bytes_of(const struct vcuda_copy3d *c) {
    uint64_t bytes;

    if (__builtin_mul_overflow(c->width, c->rows, &bytes) ||
        __builtin_mul_overflow(bytes, c->slices, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* The program's rows lie one behind the other. */
static bool is_dense(const struct graph_buffer *b) {
    return bytes_of(&b->copy) == b->end - b->begin;
}

/* Rows that lie apart do so in a block that stands for the memory between them, too. */
static void put_image(struct graph_buffer *b) {
    const struct vcuda_place *p = graph_side(&b->copy, b->up);
    bool packed = !b->block->end, apart = !packed && !is_dense(b);

    b->image = (struct vcuda_place){
        .base = (uint64_t)b->block->stage + (packed ? 0 : b->begin - b->block->begin),
        .pitch = apart ? p->pitch : b->copy.width,
        .height = apart && p->height ? p->height : b->copy.rows,
        .type = VCUDA_PLACE_HOST,
    };
}

static CUresult own_block(struct thread *t, const struct graph_buffer *b,
                          struct graph_block **out) {
    CUresult r = is_dense(b) ? graph_block_new(t, b->begin, b->end, out)
                             : graph_block_new(t, 0, bytes_of(&b->copy), out);

    if (r == CUDA_SUCCESS && !is_dense(b))
        (*out)->end = 0;
    return r;
}

CUresult graph_buffer_new(struct thread *t, const struct vcuda_copy3d *c, bool up,
                          struct graph_block *block, struct graph_buffer **out) {
    struct graph_buffer *b = calloc(1, sizeof(*b));
    CUresult r = CUDA_SUCCESS;
    __u64 begin = 0, bytes = vcuda_place_span(c, graph_side(c, up), &begin);

    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *b = (struct graph_buffer){.refs = 1, .up = up, .block = block, .copy = *c};
    b->begin = begin;
    b->end = begin + bytes;
    if (!block)
        r = own_block(t, b, &b->block);
    if (r != CUDA_SUCCESS) {
        free(b);
        return r;
    }
    put_image(b);
    pthread_mutex_lock(&graph_uses_lock);
    b->next = buffers;
    vcuda_store_once(&buffers, b);
    pthread_mutex_unlock(&graph_uses_lock);
    *out = b;
    return CUDA_SUCCESS;
}

void graph_buffer_put(struct graph_buffer *b) {
    struct graph_buffer **at = &buffers;

    if (--b->refs)
        return;
    while (*at != b)
        at = &(*at)->next;
    vcuda_store_once(at, b->next);
    graph_block_put(b->block);
    free(b);
}

bool graph_buffer_any(void) {
    return vcuda_load_once(&buffers) != NULL;
}

bool graph_buffer_is_in(const struct graph_buffer *b, const struct vcuda_copy3d *c) {
    const struct vcuda_place *p = graph_side(c, b->up);

    return p->type != VCUDA_PLACE_ARRAY && p->base == b->image.base &&
           bytes_of(c) == bytes_of(&b->copy);
}

const struct graph_buffer *graph_buffer_find(const struct vcuda_copy3d *c, bool up) {
    for (const struct graph_buffer *b = buffers; b; b = b->next) {
        if (b->up == up && graph_buffer_is_in(b, c))
            return b;
    }
    return NULL;
}

static char *row_of(const struct vcuda_place *p, uint64_t y, uint64_t z) {
    return (char *)(p->base + p->x + p->pitch * (p->y + y + p->height * (p->z + z)));
}

/* Calls move(image, program's) for each row; dense: the place of that row's bytes in `bytes`. */
static void each_row(const struct graph_buffer *b, char *bytes,
                     void (*move)(char *image, char *own, char *dense, size_t width)) {
    const struct vcuda_place *own = graph_side(&b->copy, b->up);

    for (uint64_t z = 0; z < b->copy.slices; z++) {
        for (uint64_t y = 0; y < b->copy.rows; y++) {
            char *dense = bytes ? bytes + b->copy.width * (y + b->copy.rows * z) : NULL;

            move(row_of(&b->image, y, z), row_of(own, y, z), dense, b->copy.width);
        }
    }
}

static void fill_row(char *image, char *own, char *dense, size_t width) {
    (void)dense;
    memcpy(image, own, width);
}

static void empty_row(char *image, char *own, char *dense, size_t width) {
    (void)dense;
    memcpy(own, image, width);
}

static void note_row(char *image, char *own, char *dense, size_t width) {
    (void)image;
    memcpy(dense, own, width);
}

/* The GPU may write the others meanwhile. */
static void fill_changed_row(char *image, char *own, char *dense, size_t width) {
    if (!memcmp(own, dense, width))
        return;
    for (size_t i = 0; i < width; i++) {
        if (own[i] != dense[i])
            image[i] = own[i];
    }
}

void graph_buffer_fill(const struct graph_buffer *b) {
    each_row(b, NULL, fill_row);
}

void graph_buffer_empty(const struct graph_buffer *b) {
    each_row(b, NULL, empty_row);
}

void graph_buffer_note(const struct graph_buffer *b, char *bytes) {
    each_row(b, bytes, note_row);
}

void graph_buffer_fill_changed(const struct graph_buffer *b, const char *bytes) {
    each_row(b, (char *)bytes, fill_changed_row);
}
