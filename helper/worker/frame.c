// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include <stdlib.h>

#include "worker.h"

bool frame_open(struct frame *f, const void *record, uint32_t len, uint32_t slots) {
    uint32_t fixed = (uint32_t)sizeof(struct vcuda_rec) + 8 * slots;

    if (len < fixed)
        return false;
    /* One by one: that many bytes at a time have compilers choose what takes longest to begin. */
    f->status = CUDA_SUCCESS;
    f->out_count = 0;
    f->reply = NULL;
    f->handles = NULL;
    f->pending = f->event_is_ours = false;
    f->event = NULL;
    f->event_context = 0;
    f->told = 0;
    f->owner = f->also_owner = f->aux = 0;
    memcpy(&f->head, record, sizeof(f->head));
    f->slots = (const uint64_t *)((const uint8_t *)record + sizeof(struct vcuda_rec));
    f->blobs = (const uint8_t *)record + fixed;
    f->blobs_left = len - fixed;
    return true;
}

void frame_again(struct frame *f, uint32_t slots) {
    const uint8_t *record = (const uint8_t *)f->slots - sizeof(struct vcuda_rec);

    frame_close(f);
    frame_open(f, record, f->head.len, slots);
}

void frame_close(struct frame *f) {
    free(f->reply);
    free(f->handles);
    f->reply = NULL;
    f->handles = NULL;
}

const void *frame_blob(struct frame *f, uint64_t len) {
    const void *blob = f->blobs;

    /* Blobs are padded to 8, and so is the record: the padded length fits as well. */
    if (len > f->blobs_left || VCUDA_PAD8(len) > f->blobs_left)
        return NULL;
    f->blobs += VCUDA_PAD8(len);
    f->blobs_left -= (uint32_t)VCUDA_PAD8(len);
    return blob;
}

const char *frame_string(struct frame *f, uint64_t len) {
    const char *text = frame_blob(f, len);

    if (!text || !len || strnlen(text, len) != len - 1)
        return NULL;
    return text;
}

void *frame_reserve(struct frame *f, uint32_t outs, uint64_t want, uint32_t *cap) {
    if (f->reply || want > VCUDA_REC_MAX - sizeof(struct vcuda_rec) - 8 * outs - 8)
        return NULL;
    *cap = (uint32_t)want;
    f->reply = calloc(1, want + 8);
    return f->reply;
}

void *frame_result(struct frame *f, uint32_t outs, uint64_t asked, uint32_t bytes) {
    uint32_t cap;

    return asked == bytes ? frame_reserve(f, outs, bytes, &cap) : NULL;
}

CUresult frame_struct(struct frame *f, uint64_t len, uint32_t bytes, bool needed,
                      const void **structure) {
    *structure = NULL;
    if (!len && !needed)
        return CUDA_SUCCESS;
    if (len != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *structure = frame_blob(f, len);
    return *structure ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void frame_out(struct frame *f, uint32_t index, uint64_t value) {
    while (f->out_count <= index)
        f->outs[f->out_count++] = 0;
    f->outs[index] = value;
}

CUresult frame_object(struct worker *w, enum vcuda_kind kind, uint64_t name, void **object) {
    struct object found;

    if (!objects_get(&w->objects, kind, name, &found)) {
        if (kind == VCUDA_KIND_CONTEXT || kind == VCUDA_KIND_GREEN)
            return CUDA_ERROR_INVALID_CONTEXT;
        /* Or no array, nor what the guest names. */
        return kind > VCUDA_KIND_MIPMAP ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *object = found.native;
    return CUDA_SUCCESS;
}

CUresult frame_object_or_null(struct worker *w, enum vcuda_kind kind, uint64_t name,
                              void **object) {
    *object = NULL;
    return name ? frame_object(w, kind, name, object) : CUDA_SUCCESS;
}

CUresult frame_objects(struct worker *w, struct frame *f, enum vcuda_kind kind, uint64_t bytes,
                       void ***objects, size_t *count) {
    const uint64_t *names = frame_blob(f, bytes);
    CUresult r = CUDA_SUCCESS;

    *objects = NULL;
    *count = bytes / 8;
    if (!names || bytes % 8 || f->handles)
        return CUDA_ERROR_INVALID_VALUE;
    if (!bytes)
        return CUDA_SUCCESS;
    f->handles = *objects = malloc(bytes);
    if (!f->handles)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < *count && r == CUDA_SUCCESS; i++)
        r = frame_object(w, kind, names[i], &(*objects)[i]);
    return r;
}

/* Whether what the worker names goes with the context in which it was made. */
static bool of_context(enum vcuda_kind kind) {
    return kind == VCUDA_KIND_ARRAY || kind == VCUDA_KIND_MIPMAP || kind == VCUDA_KIND_TEXREF ||
           kind == VCUDA_KIND_SURFREF;
}

CUresult frame_name(struct worker *w, struct frame *f, uint32_t out, enum vcuda_kind kind,
                    void *object) {
    uint64_t owner = !f->owner && of_context(kind) ? f->head.ctx : f->owner;
    struct object o = {object, owner, f->aux, f->also_owner};
    uint64_t name = object ? objects_name(&w->objects, kind, &o) : 0;

    if (object && !name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    frame_out(f, out, name);
    return CUDA_SUCCESS;
}

CUresult frame_stream(struct worker *w, uint64_t name, void **object) {
    *object = NULL;
    return name ? frame_object(w, VCUDA_KIND_STREAM, name, object) : CUDA_SUCCESS;
}

CUresult frame_new(struct worker *w, struct frame *f, enum vcuda_kind kind, uint64_t name) {
    (void)f;
    return objects_may_add(&w->objects, kind, name) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static bool has_ended(struct worker *w, uint64_t owner) {
    struct object o;

    return owner && !objects_get(&w->objects, vcuda_name_kind(owner), owner, &o);
}

CUresult frame_bind(struct worker *w, struct frame *f, uint64_t name, void *object) {
    struct object o = {object, f->owner ? f->owner : f->head.ctx, f->aux, f->also_owner};
    uint32_t kind = vcuda_name_kind(name);

    if (!object)
        return CUDA_SUCCESS;
    if (kind == VCUDA_KIND_CONTEXT || kind == VCUDA_KIND_LIBRARY)
        o.owner = 0;
    if (objects_add(&w->objects, name, &o))
        return CUDA_SUCCESS;
    if (has_ended(w, f->head.ctx))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return has_ended(w, o.owner) ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_OUT_OF_MEMORY;
}

void frame_unbind(struct worker *w, uint64_t name) {
    objects_end(&w->objects, name);
}
