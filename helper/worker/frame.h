/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record on its way through the worker: a private copy, checked slot by
 * slot and blob by blob as the call's decoder asks for them, and the answer.
 */
#ifndef VCUDA_WORKER_FRAME_H
#define VCUDA_WORKER_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda_types.h"
#include "record.h"

#define FRAME_OUTS_MAX 8

struct worker;

struct frame {
    struct vcuda_rec head;
    const uint64_t *slots;
    const uint8_t *blobs; /* what is left of them */
    uint32_t blobs_left;
    /* the answer */
    CUresult status;
    uint32_t out_count;
    uint64_t outs[FRAME_OUTS_MAX];
    uint8_t *reply; /* blob, allocated; its length is in the last out */
    void *handles;  /* allocated: a list of objects that the call takes */
    /* set by a call whose answer waits for the GPU */
    bool pending;
    bool event_is_ours;     /* from the pool; else the guest's own */
    CUevent event;          /* none, where the GPU tells */
    uint64_t event_context; /* name */
    uint32_t event_since;   /* how often names like that one had ended when it was taken */
    uint32_t told;          /* what the GPU writes to tell the program itself; 0: nothing */
    uint64_t told_stream;   /* name */
    /* what a new object belongs to; 0: the caller's context */
    uint64_t owner;
    uint64_t also_owner;
    uint64_t aux; /* kept with a new object */
};

/*
 * Prepares a frame over a private copy of a record with `slots` slots: false if the record is too
 * short for them.
 */
bool frame_open(struct frame *f, const void *record, uint32_t len, uint32_t slots);
/* The same once more, as if the call had not been made. */
void frame_again(struct frame *f, uint32_t slots);
/* Frees what the answer held. */
void frame_close(struct frame *f);

static inline uint64_t frame_slot(const struct frame *f, uint32_t index) {
    return f->slots[index];
}

/* The next blob, of the length that its slot says; NULL if the record does not hold it. */
const void *frame_blob(struct frame *f, uint64_t len);
/* The same for a string: NULL unless it ends in its only NUL. */
const char *frame_string(struct frame *f, uint64_t len);
/* Room for an answer's blob of up to `want` bytes; NULL if that is too much or `outs` is. */
void *frame_reserve(struct frame *f, uint32_t outs, uint64_t want, uint32_t *cap);
/* The same for a structure of exactly `bytes` bytes, which the caller asked for. */
void *frame_result(struct frame *f, uint32_t outs, uint64_t asked, uint32_t bytes);
/*
 * A structure in the record, aligned to 8; NULL if it was left out, which CUDA_ERROR_INVALID_VALUE
 * says of one that is `needed`. Valid as long as the frame's record.
 */
CUresult frame_struct(struct frame *f, uint64_t len, uint32_t bytes, bool needed,
                      const void **structure);
void frame_out(struct frame *f, uint32_t index, uint64_t value);

static inline uint64_t frame_bits(float value) {
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float frame_float(uint64_t slot) {
    uint32_t bits = (uint32_t)slot;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The driver's object of a name, or the error for a name that is none. */
CUresult frame_object(struct worker *w, enum vcuda_kind kind, uint64_t name, void **object);
/* The same where 0 means none: NULL. */
CUresult frame_object_or_null(struct worker *w, enum vcuda_kind kind, uint64_t name, void **object);
/* A stream: 0 is the default one. */
CUresult frame_stream(struct worker *w, uint64_t name, void **object);
/* A list of names, `bytes` long in the record: the driver's objects, in memory of the frame. */
CUresult frame_objects(struct worker *w, struct frame *f, enum vcuda_kind kind, uint64_t bytes,
                       void ***objects, size_t *count);
/*
 * Puts the name of an object into an out, for a kind that the worker names. NULL gives 0. A new one
 * belongs to f->owner, or an array and the like to the caller's context, and goes with it.
 */
CUresult frame_name(struct worker *w, struct frame *f, uint32_t out, enum vcuda_kind kind,
                    void *object);
/* Whether a new name may be bound: right kind, not in use. */
CUresult frame_new(struct worker *w, struct frame *f, enum vcuda_kind kind, uint64_t name);
/* Binds it. A NULL object is none: nothing is bound. */
CUresult frame_bind(struct worker *w, struct frame *f, uint64_t name, void *object);
void frame_unbind(struct worker *w, uint64_t name);

#endif
