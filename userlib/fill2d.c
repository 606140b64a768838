// SPDX-License-Identifier: Apache-2.0
/* Fills of rows. */
#include "arena.h"
#include "cuda_calls.h"
#include "guest.h"
#include "ranges.h"
#include "wire.h"

/* CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices: bytes. */
#define PITCH_MAX 0x7fffffffu

struct fill2d {
    uint64_t dst;
    size_t pitch; /* bytes */
    uint32_t value;
    uint32_t width; /* bytes an element */
    size_t columns; /* elements */
    size_t rows;
};

/* From its first byte to its last; 0: more than 64 bits hold. */
static uint64_t span(const struct fill2d *f) {
    uint64_t row, bytes;

    if (__builtin_mul_overflow(f->columns, f->width, &row) ||
        __builtin_mul_overflow(f->rows - 1, f->pitch, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes))
        return 0;
    return bytes;
}

/* The driver cannot find fault with it: it may be posted. */
static bool is_good(const struct fill2d *f) {
    uint64_t row = f->columns * f->width, bytes = span(f);

    return bytes && !(f->dst % f->width) && f->pitch <= PITCH_MAX &&
           (f->rows == 1 || (!(f->pitch % f->width) && f->pitch >= row)) &&
           ranges_cover(f->dst, bytes);
}

/*
 * The synchronous form does not wait for device memory, as native; but for memory that the program
 * sees.
 */
static CUresult fill2d(const struct fill2d *f, CUstream stream, bool wait) {
    uint64_t name;
    struct thread *t;
    bool good;
    CUresult r = guest_enter_stream(&t, stream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    /* Rows of so many bytes that their number wraps to none are none, as native. */
    if (f->columns * f->width == 0 || !f->rows)
        return CUDA_SUCCESS;
    good = is_good(f);
    /* The driver knows whole regions of the arena only. */
    if (!good && arena_overrun((const void *)f->dst, span(f)))
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_fill2d(t, good, f->dst, f->pitch, f->value, f->width, f->columns, f->rows, name);
    if (r == CUDA_SUCCESS && wait && arena_holds((const void *)f->dst, 1))
        r = wire_cuStreamSynchronize(t, name);
    return r;
}

#define REQUEST(value, width)                                                                      \
    &(struct fill2d) {                                                                             \
        dstDevice, dstPitch, value, width, Width, Height                                           \
    }

#define FILL2D(name, type, value, width)                                                           \
    VCUDA_EXPORT CUresult name##_v2(CUdeviceptr dstDevice, size_t dstPitch, type value,            \
                                    size_t Width, size_t Height) {                                 \
        return fill2d(REQUEST(value, width), NULL, true);                                          \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, type value,       \
                                         size_t Width, size_t Height) {                            \
        return fill2d(REQUEST(value, width), CU_STREAM_PER_THREAD, true);                          \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##Async(CUdeviceptr dstDevice, size_t dstPitch, type value,          \
                                      size_t Width, size_t Height, CUstream hStream) {             \
        return fill2d(REQUEST(value, width), hStream, false);                                      \
    }                                                                                              \
    /* The first version: lengths and addresses of 32 bits. */                                     \
    VCUDA_EXPORT CUresult name(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, type value,        \
                               unsigned int Width, unsigned int Height) {                          \
        return fill2d(REQUEST(value, width), NULL, true);                                          \
    }

FILL2D(cuMemsetD2D8, unsigned char, uc, 1)
FILL2D(cuMemsetD2D16, unsigned short, us, 2)
FILL2D(cuMemsetD2D32, unsigned int, ui, 4)
