// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of rows and slices. As with those of bytes: pinned memory lies in the arena and travels as
 * it lies there; other host memory is staged, row by row, into dense pieces.
 */
#include "boxes.h"

#include <string.h>

#include "arena.h"
#include "calls.h"
#include "capture.h"
#include "counters.h"
#include "crew.h"
#include "graph_host.h"
#include "ranges.h"
#include "rpc.h"
#include "stage.h"
#include "whose.h"
#include "wire.h"

/* CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices: bytes. */
#define PITCH_MAX 0x7fffffffu

struct box_copy {
    struct stage_job job; /* when it is staged */
    struct thread *t;
    struct vcuda_copy3d c;
    uint64_t stream; /* name */
    bool wait;       /* the call returns when the data is there */
};

/* The address of a row of a linear place. */
static uint64_t row_of(const struct vcuda_place *p, uint64_t x, uint64_t y, uint64_t z) {
    return p->base + p->x + x + p->pitch * (p->y + y + p->height * (p->z + z));
}

/*
 * Says of memory by its address what it is, whatever it is called: pinned memory is host memory,
 * and device memory that is called host memory is device memory.
 */
static CUresult settle_type(struct vcuda_place *p) {
    if (p->type == CU_MEMORYTYPE_ARRAY)
        return guest_check(VCUDA_KIND_ARRAY, (const void *)p->base) == CUDA_SUCCESS
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    if (!p->base)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_MEMORYTYPE_UNIFIED:
        p->type = whose_device(p->base) ? VCUDA_PLACE_DEVICE : VCUDA_PLACE_HOST;
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_HOST:
        p->type = whose_known_device(p->base) ? VCUDA_PLACE_DEVICE : VCUDA_PLACE_HOST;
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
        if (arena_holds((const void *)p->base, 1))
            p->type = VCUDA_PLACE_HOST;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* It begins in a block of the arena, and does not end there. */
static bool place_overruns(const struct vcuda_copy3d *c, const struct vcuda_place *p) {
    __u64 first = 0, bytes = vcuda_place_span(c, p, &first);

    return bytes && arena_overrun((const void *)first, bytes);
}

static CUresult settle_place(struct vcuda_copy3d *c, struct vcuda_place *p) {
    CUresult r = settle_type(p);

    if (r != CUDA_SUCCESS || p->type == VCUDA_PLACE_ARRAY)
        return r;
    /* Left out: rows, or slices, lie close. */
    if (!p->pitch)
        p->pitch = p->x + c->width;
    if (!p->height)
        p->height = p->y + c->rows;
    if (!vcuda_place_apart(c, p))
        return CUDA_ERROR_INVALID_VALUE;
    return p->type == VCUDA_PLACE_HOST && place_overruns(c, p) ? CUDA_ERROR_INVALID_VALUE
                                                               : CUDA_SUCCESS;
}

/* The driver cannot find fault with a place: all of it lies in memory that is known to be there. */
static bool good_place(const struct vcuda_copy3d *c, const struct vcuda_place *p) {
    __u64 first = 0, bytes = vcuda_place_span(c, p, &first);

    if (!bytes || p->lod || p->context || p->pitch > PITCH_MAX)
        return false;
    if (p->type == VCUDA_PLACE_HOST)
        return arena_holds((const void *)first, bytes);
    return p->type == VCUDA_PLACE_DEVICE && ranges_cover(first, bytes);
}

static bool pinned(const struct vcuda_copy3d *c, const struct vcuda_place *p) {
    __u64 first = 0, bytes = vcuda_place_span(c, p, &first);

    return bytes && arena_holds((const void *)first, bytes);
}

/* What may be wrong with it must be told at once. */
static CUresult send_async(struct box_copy *b) {
    bool post = b->c.form != VCUDA_FORM_PEER && good_place(&b->c, &b->c.dst) &&
                good_place(&b->c, &b->c.src);

    return wire_copy3d_async(b->t, post, &b->c, sizeof(b->c), b->stream);
}

/* Rows of the program's memory into a dense piece, or back. */
static void move_rows(const struct vcuda_place *host, const struct stage_piece *p, bool up) {
    size_t together = host->pitch == p->width ? p->rows : 1, bytes = p->width * together;
    char *dense = p->stage;

    for (size_t z = 0; z < p->slices; z++) {
        for (size_t y = 0; y < p->rows; y += together, dense += bytes) {
            char *row = (char *)row_of(host, p->x, p->y + y, p->z + z);

            if (up)
                crew_copy_out(dense, row, bytes);
            else
                crew_copy(row, dense, bytes);
        }
    }
}

/* The part of a copy that one piece is, its host side in the piece's staging area. */
static struct vcuda_copy3d piece_of(const struct vcuda_copy3d *c, const struct stage_piece *p,
                                    bool up) {
    struct vcuda_copy3d part = *c;
    struct vcuda_place *host = up ? &part.src : &part.dst, *far = up ? &part.dst : &part.src;

    part.width = p->width;
    part.rows = p->rows;
    part.slices = p->slices;
    far->x += p->x;
    far->y += p->y;
    far->z += p->z;
    host->base = (uint64_t)p->stage;
    host->x = host->y = host->z = 0;
    host->pitch = p->width;
    host->height = p->rows;
    return part;
}

static CUresult send_piece(struct stage_job *job, struct stage_piece *p) {
    const struct box_copy *b = (const struct box_copy *)job;
    bool up = b->c.src.type == VCUDA_PLACE_HOST;
    struct vcuda_copy3d part = piece_of(&b->c, p, up);
    CUresult r = rpc_begin(&p->rpc, b->t, VCUDA_CALL_copy3d_done, false);

    if (r != CUDA_SUCCESS)
        return r;
    if (up)
        move_rows(&b->c.src, p, true);
    rpc_slot(&p->rpc, sizeof(part));
    rpc_slot(&p->rpc, b->stream);
    rpc_blob(&p->rpc, &part, sizeof(part));
    return rpc_send(&p->rpc, p->only);
}

static void land_piece(struct stage_job *job, struct stage_piece *p) {
    move_rows(&((struct box_copy *)job)->c.dst, p, false);
}

/* As a node of a graph: what it does to the program's memory it does when it runs. */
static CUresult capture(struct box_copy *b, uint64_t graph) {
    struct graph_held held;
    CUresult r = graph_host_capture(b->t, graph, &b->c, &held);

    return r == CUDA_SUCCESS ? graph_host_captured(b->t, graph, b->stream, &held, send_async(b))
                             : r;
}

/* Natively a copy for which the device's side is too small leaves all as it was. */
static CUresult copy_staged(struct box_copy *b, bool up) {
    const struct vcuda_place *far = up ? &b->c.dst : &b->c.src;
    bool splits = stage_splits(b->c.width * b->c.rows * b->c.slices);
    __u64 first = 0, bytes = vcuda_place_span(&b->c, far, &first);
    CUresult r = CUDA_SUCCESS;

    b->job = (struct stage_job){.width = b->c.width,
                                .rows = b->c.rows,
                                .slices = b->c.slices,
                                .send = send_piece,
                                .land = up ? NULL : land_piece,
                                .end_first = splits && far->type == VCUDA_PLACE_ARRAY};
    if (splits && far->type == VCUDA_PLACE_DEVICE && !ranges_cover(first, bytes))
        r = bytes ? stage_fits(b->t, first, bytes) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? stage_run(&b->job) : r;
}

static CUresult copy_with_host(struct box_copy *b) {
    bool up = b->c.src.type == VCUDA_PLACE_HOST;
    uint64_t bytes = b->c.width * b->c.rows * b->c.slices, graph;

    if (pinned(&b->c, up ? &b->c.src : &b->c.dst)) {
        COUNT(bytes_moved_pinned, bytes);
        if (b->wait)
            return wire_copy3d_done(b->t, &b->c, sizeof(b->c), b->stream);
        return send_async(b);
    }
    COUNT(bytes_moved_pageable, bytes);
    if (!b->wait && (graph = capture_graph(b->t, b->stream)))
        return capture(b, graph);
    return copy_staged(b, up);
}

/* Not by the driver, which makes its caller wait for such a copy: that would be the worker. */
static CUresult copy_on_host(struct box_copy *b) {
    const struct vcuda_copy3d *c = &b->c;
    uint64_t graph;
    CUresult r;

    if (!b->wait && (graph = capture_graph(b->t, b->stream)))
        return capture(b, graph);
    r = wire_cuStreamSynchronize(b->t, b->stream);

    for (size_t z = 0; z < c->slices && r == CUDA_SUCCESS; z++) {
        for (size_t y = 0; y < c->rows; y++)
            memmove((void *)row_of(&c->dst, 0, y, z), (void *)row_of(&c->src, 0, y, z), c->width);
    }
    return r;
}

CUresult copy3d_run(struct thread *t, const struct vcuda_copy3d *copy, uint64_t stream, bool wait) {
    struct box_copy b = {.t = t, .c = *copy, .stream = stream, .wait = wait};
    bool to_host, from_host;
    CUresult r;

    if (!copy->width || !copy->rows || !copy->slices)
        return CUDA_SUCCESS;
    r = settle_place(&b.c, &b.c.src);
    if (r == CUDA_SUCCESS)
        r = settle_place(&b.c, &b.c.dst);
    if (r != CUDA_SUCCESS)
        return r;
    to_host = b.c.dst.type == VCUDA_PLACE_HOST;
    from_host = b.c.src.type == VCUDA_PLACE_HOST;
    if (to_host && from_host)
        return copy_on_host(&b);
    if (to_host || from_host)
        return copy_with_host(&b);
    /* Not even the synchronous form waits for a copy within the device. */
    return send_async(&b);
}

CUresult copy3d_call(const struct vcuda_copy3d *copy, CUstream stream, bool wait) {
    uint64_t name;
    struct thread *t;
    CUresult r = guest_enter_stream(&t, stream, &name);

    return r == CUDA_SUCCESS ? copy3d_run(t, copy, name, wait) : r;
}
