// SPDX-License-Identifier: Apache-2.0
#include "stage.h"

#include "arena.h"
#include "counters.h"
#include "guest.h"
#include "wire.h"

bool stage_splits(size_t bytes) {
    return bytes > arena_stage_bytes();
}

CUresult stage_fits(struct thread *t, uint64_t address, uint64_t bytes) {
    uint64_t start = 0, size = 0;
    CUresult r = guest_fault(t);

    if (r == CUDA_SUCCESS)
        r = wire_pointer_attribute(t, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address, &start);
    if (r == CUDA_SUCCESS)
        r = wire_pointer_attribute(t, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address, &size);
    if (r != CUDA_SUCCESS)
        return r;
    return address - start < size && bytes <= size - (address - start) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The piece that begins at p's x, y, z: as large as one staging area holds. */
static void measure(const struct stage_job *job, struct stage_piece *p) {
    size_t room = arena_stage_bytes();

    p->width = least(job->width - p->x, room);
    p->rows = p->slices = 1;
    if (p->width < job->width)
        return;
    p->rows = least(job->rows - p->y, room / p->width);
    if (p->rows < job->rows)
        return;
    p->slices = least(job->slices - p->z, room / (p->width * p->rows));
}

/* Goes on behind piece p: false at the end. */
static bool next(const struct stage_job *job, struct stage_piece *at, const struct stage_piece *p) {
    at->x = p->x + p->width;
    at->y = p->y;
    at->z = p->z;
    if (at->x == job->width) {
        at->x = 0;
        at->y = p->y + p->rows;
    }
    if (at->y == job->rows) {
        at->y = 0;
        at->z = p->z + p->slices;
    }
    return at->z < job->slices;
}

static CUresult finish(struct stage_job *job, struct stage_piece *p) {
    CUresult r = rpc_finish(&p->rpc, 0);

    if (r == CUDA_SUCCESS && job->land)
        job->land(job, p);
    arena_stage_give(p->stage);
    return r;
}

static CUresult send(struct stage_job *job, struct stage_piece *p) {
    CUresult r = job->send(job, p);

    if (r != CUDA_SUCCESS)
        arena_stage_give(p->stage);
    return r;
}

/* What ends within the array begins there, too: the driver says so of a piece of one row. */
static CUresult copy_end(struct stage_job *job) {
    struct stage_piece p = {.stage = arena_stage_take(true),
                            .y = job->rows - 1,
                            .z = job->slices - 1,
                            .width = least(job->width, arena_stage_bytes()),
                            .rows = 1,
                            .slices = 1,
                            .only = true};
    CUresult r;

    p.x = job->width - p.width;
    r = send(job, &p);
    return r == CUDA_SUCCESS ? finish(job, &p) : r;
}

CUresult stage_run(struct stage_job *job) {
    struct stage_piece pieces[ARENA_STAGES], at = {.x = 0};
    unsigned int first = 0, count = 0;
    CUresult r = job->end_first ? copy_end(job) : CUDA_SUCCESS, one;
    bool more = true;

    COUNT(bytes_staged, job->width * job->rows * job->slices);
    while (more && r == CUDA_SUCCESS) {
        struct stage_piece *p = &pieces[(first + count) % ARENA_STAGES];
        char *stage = count < ARENA_STAGES ? arena_stage_take(count == 0) : NULL;

        if (!stage) { /* all are taken: the oldest of ours must end first */
            r = finish(job, &pieces[first]);
            first = (first + 1) % ARENA_STAGES;
            count--;
            continue;
        }
        p->stage = stage;
        p->x = at.x;
        p->y = at.y;
        p->z = at.z;
        measure(job, p);
        more = next(job, &at, p);
        p->only = !count && !more;
        r = send(job, p);
        if (r == CUDA_SUCCESS)
            count++;
    }
    for (; count; count--, first = (first + 1) % ARENA_STAGES) {
        one = finish(job, &pieces[first]);
        if (r == CUDA_SUCCESS)
            r = one;
    }
    return r;
}
