// SPDX-License-Identifier: Apache-2.0
/* Fills of rows. */
#include <string.h>

#include "copy.h"
#include "graph.h"

struct fill2d {
    uint64_t dst;
    size_t pitch;   /* bytes */
    unsigned width; /* bytes of the pattern */
    uint32_t pattern;
    size_t columns, rows;
};

struct fill2d_op {
    struct sim_op op;
    struct fill2d fill;
};

static CUresult run_fill(struct sim_op *op, struct sim_context *context) {
    const struct fill2d *f = &((struct fill2d_op *)op)->fill;

    (void)context;
    for (size_t y = 0; y < f->rows; y++) {
        char *row = (char *)(uintptr_t)f->dst + y * f->pitch;

        for (size_t x = 0; x < f->columns; x++)
            memcpy(row + x * f->width, &f->pattern, f->width);
    }
    return CUDA_SUCCESS;
}

static void tell(const struct sim_op *op, CUgraphNodeParams *params) {
    const struct fill2d *f = &((const struct fill2d_op *)op)->fill;

    params->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = f->dst,
        .pitch = f->pitch,
        .value = f->pattern,
        .elementSize = f->width,
        .width = f->columns,
        .height = f->rows,
    };
}

static enum sim_place place_of(const struct fill2d *f) {
    size_t row, bytes;

    if (__builtin_mul_overflow(f->columns, f->width, &row) ||
        __builtin_mul_overflow(f->rows - 1, f->pitch, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes) || f->dst % f->width ||
        (f->rows > 1 && (f->pitch < row || f->pitch % f->width)))
        return SIM_BAD;
    return sim_place_of(f->dst, bytes);
}

static struct fill2d_op *new_op(const struct fill2d *f) {
    struct fill2d_op *op = sim_op_new(sizeof(*op), run_fill);

    if (!op)
        return NULL;
    op->op.kind = CU_GRAPH_NODE_TYPE_MEMSET;
    op->op.tell = tell;
    op->fill = *f;
    return op;
}

CUresult sim_fill2d_op(const CUDA_MEMSET_NODE_PARAMS_v2 *p, struct sim_op **op) {
    struct fill2d f = {p->dst, p->pitch, p->elementSize, p->value, p->width, p->height};
    struct fill2d_op *fill;

    if ((f.width != 1 && f.width != 2 && f.width != 4) || !f.columns || !f.rows ||
        !sim_is_device(place_of(&f)))
        return CUDA_ERROR_INVALID_VALUE;
    fill = new_op(&f);
    *op = (struct sim_op *)fill;
    return fill ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fill(const struct fill2d *f, CUstream handle, bool async, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    enum sim_place place;
    struct fill2d_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    /* Rows of so many bytes that their number wraps to none are none. */
    if (result != CUDA_SUCCESS || f->columns * f->width == 0 || !f->rows)
        return result;
    place = place_of(f);
    if (!sim_is_device(place))
        return CUDA_ERROR_INVALID_VALUE;
    op = new_op(f);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* The host sees pinned memory at once, so it waits for what it did not ask to be async. */
    return place != SIM_DEVICE && !async ? sim_submit_and_wait(stream, &op->op)
                                         : sim_submit_with_room(stream, &op->op);
}

#define FILL(value, width, stream, async, per_thread)                                              \
    fill(&(struct fill2d){dstDevice, dstPitch, width, value, Width, Height}, stream, async,        \
         per_thread)

#define FILLS(name, type, value, width)                                                            \
    CUresult name##_v2(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width,           \
                       size_t Height) {                                                            \
        return FILL(value, width, NULL, false, false);                                             \
    }                                                                                              \
    CUresult name##_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width,      \
                            size_t Height) {                                                       \
        return FILL(value, width, NULL, false, true);                                              \
    }                                                                                              \
    CUresult name##Async(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width,         \
                         size_t Height, CUstream hStream) {                                        \
        return FILL(value, width, hStream, true, false);                                           \
    }                                                                                              \
    CUresult name##Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch, type value, size_t Width,    \
                              size_t Height, CUstream hStream) {                                   \
        return FILL(value, width, hStream, true, true);                                            \
    }

FILLS(cuMemsetD2D8, unsigned char, uc, 1)
FILLS(cuMemsetD2D16, unsigned short, us, 2)
FILLS(cuMemsetD2D32, unsigned int, ui, 4)
