// SPDX-License-Identifier: Apache-2.0
#include "stage.h"

#include "arena.h"
#include "counters.h"

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

CUresult stage_run(struct stage_job *job) {
    struct stage_piece pieces[ARENA_STAGES], at = {.x = 0};
    unsigned int first = 0, count = 0;
    CUresult r = CUDA_SUCCESS, one;
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
        r = job->send(job, p);
        if (r == CUDA_SUCCESS)
            count++;
        else
            arena_stage_give(p->stage);
    }
    for (; count; count--, first = (first + 1) % ARENA_STAGES) {
        one = finish(job, &pieces[first]);
        if (r == CUDA_SUCCESS)
            r = one;
    }
    return r;
}
