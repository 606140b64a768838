// SPDX-License-Identifier: Apache-2.0
/*
 * Texture and surface objects. The guest has the driver's own numbers; which of them are this
 * session's, the table of objects knows.
 */
#include "addresses.h"
#include "texel.h"
#include "texture.h"
#include "worker.h"

/* What is read of a row at most: the last one may end before the next would begin. */
static uint64_t row_bytes(const struct vcuda_resource *r) {
    uint64_t bytes;

    if (__builtin_mul_overflow(texel_bytes((CUarray_format)r->format, r->channels), r->width,
                               &bytes))
        return r->pitch;
    return bytes && bytes < r->pitch ? bytes : r->pitch;
}

/* The driver's description of what the guest's means. */
static CUresult unpack(struct worker *w, const void *record, uint32_t len, CUDA_RESOURCE_DESC *d) {
    const struct vcuda_resource *r = record;

    if (len != sizeof(*r))
        return CUDA_ERROR_INVALID_VALUE;
    *d = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)r->type, .flags = r->flags};
    switch (r->type) {
    case CU_RESOURCE_TYPE_ARRAY:
        return frame_object(w, VCUDA_KIND_ARRAY, r->place, (void **)&d->res.array.hArray);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return frame_object(w, VCUDA_KIND_MIPMAP, r->place,
                            (void **)&d->res.mipmap.hMipmappedArray);
    case CU_RESOURCE_TYPE_LINEAR:
        if (!addresses_ok(w, r->place, r->width))
            return CUDA_ERROR_INVALID_VALUE;
        d->res.linear.devPtr = r->place;
        d->res.linear.format = (CUarray_format)r->format;
        d->res.linear.numChannels = r->channels;
        d->res.linear.sizeInBytes = r->width;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!addresses_rows_ok(w, r->place, r->pitch, row_bytes(r), r->height))
            return CUDA_ERROR_INVALID_VALUE;
        d->res.pitch2D.devPtr = r->place;
        d->res.pitch2D.format = (CUarray_format)r->format;
        d->res.pitch2D.numChannels = r->channels;
        d->res.pitch2D.width = r->width;
        d->res.pitch2D.height = r->height;
        d->res.pitch2D.pitchInBytes = r->pitch;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The other way; an array that has ended meanwhile has no name. */
static void pack(struct worker *w, struct vcuda_resource *r, const CUDA_RESOURCE_DESC *d) {
    *r = (struct vcuda_resource){.type = d->resType, .flags = d->flags};
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        r->place = objects_known(&w->objects, VCUDA_KIND_ARRAY, d->res.array.hArray);
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r->place = objects_known(&w->objects, VCUDA_KIND_MIPMAP, d->res.mipmap.hMipmappedArray);
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        r->place = d->res.linear.devPtr;
        r->format = d->res.linear.format;
        r->channels = d->res.linear.numChannels;
        r->width = d->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        r->place = d->res.pitch2D.devPtr;
        r->format = d->res.pitch2D.format;
        r->channels = d->res.pitch2D.numChannels;
        r->width = d->res.pitch2D.width;
        r->height = d->res.pitch2D.height;
        r->pitch = d->res.pitch2D.pitchInBytes;
        break;
    }
}

static bool is_ours(struct worker *w, enum vcuda_kind kind, uint64_t object) {
    return object && objects_known(&w->objects, kind, (void *)object);
}

/* Notes a new object of the caller's context. */
static bool note(struct worker *w, const struct frame *f, enum vcuda_kind kind, uint64_t object) {
    struct object o = {.native = (void *)object, .owner = f->head.ctx};

    return objects_name(&w->objects, kind, &o) != 0;
}

CUresult own_cuTexObjectCreate(struct worker *w, struct frame *f,
                               struct args_cuTexObjectCreate *a) {
    CUDA_RESOURCE_DESC resource;
    CUtexObject object = 0;
    CUresult r = unpack(w, a->resource, a->resource_len, &resource);

    if (r == CUDA_SUCCESS)
        r = w->driver.cuTexObjectCreate(&object, &resource, a->texture, a->view);
    if (r != CUDA_SUCCESS)
        return r;
    a->pTexObject = object;
    if (note(w, f, VCUDA_KIND_TEXOBJECT, object))
        return CUDA_SUCCESS;
    w->driver.cuTexObjectDestroy(object);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult own_cuTexObjectDestroy(struct worker *w, struct frame *f,
                                struct args_cuTexObjectDestroy *a) {
    CUresult r;

    (void)f;
    if (!a->texObject) /* seen: no object ends well */
        return CUDA_SUCCESS;
    if (!is_ours(w, VCUDA_KIND_TEXOBJECT, a->texObject))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuTexObjectDestroy(a->texObject);
    if (r == CUDA_SUCCESS)
        objects_end_native(&w->objects, VCUDA_KIND_TEXOBJECT, (void *)a->texObject);
    return r;
}

CUresult own_cuTexObjectGetResourceDesc(struct worker *w, struct frame *f,
                                        struct args_cuTexObjectGetResourceDesc *a) {
    CUDA_RESOURCE_DESC resource = {0};
    CUresult r;

    (void)f;
    if (!is_ours(w, VCUDA_KIND_TEXOBJECT, a->texObject) ||
        a->resource_cap < sizeof(struct vcuda_resource))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuTexObjectGetResourceDesc(&resource, a->texObject);
    if (r != CUDA_SUCCESS)
        return r;
    pack(w, a->resource, &resource);
    a->resource_len = sizeof(struct vcuda_resource);
    return CUDA_SUCCESS;
}

CUresult own_cuTexObjectGetTextureDesc(struct worker *w, struct frame *f,
                                       struct args_cuTexObjectGetTextureDesc *a) {
    (void)f;
    return is_ours(w, VCUDA_KIND_TEXOBJECT, a->texObject)
               ? w->driver.cuTexObjectGetTextureDesc(a->pTexDesc, a->texObject)
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult own_cuTexObjectGetResourceViewDesc(struct worker *w, struct frame *f,
                                            struct args_cuTexObjectGetResourceViewDesc *a) {
    (void)f;
    return is_ours(w, VCUDA_KIND_TEXOBJECT, a->texObject)
               ? w->driver.cuTexObjectGetResourceViewDesc(a->pResViewDesc, a->texObject)
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult own_cuSurfObjectCreate(struct worker *w, struct frame *f,
                                struct args_cuSurfObjectCreate *a) {
    CUDA_RESOURCE_DESC resource;
    CUsurfObject object = 0;
    CUresult r = unpack(w, a->resource, a->resource_len, &resource);

    if (r == CUDA_SUCCESS)
        r = w->driver.cuSurfObjectCreate(&object, &resource);
    if (r != CUDA_SUCCESS)
        return r;
    a->pSurfObject = object;
    if (note(w, f, VCUDA_KIND_SURFOBJECT, object))
        return CUDA_SUCCESS;
    w->driver.cuSurfObjectDestroy(object);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult own_cuSurfObjectDestroy(struct worker *w, struct frame *f,
                                 struct args_cuSurfObjectDestroy *a) {
    CUresult r;

    (void)f;
    if (!a->surfObject) /* seen: no object ends well */
        return CUDA_SUCCESS;
    if (!is_ours(w, VCUDA_KIND_SURFOBJECT, a->surfObject))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuSurfObjectDestroy(a->surfObject);
    if (r == CUDA_SUCCESS)
        objects_end_native(&w->objects, VCUDA_KIND_SURFOBJECT, (void *)a->surfObject);
    return r;
}

CUresult own_cuSurfObjectGetResourceDesc(struct worker *w, struct frame *f,
                                         struct args_cuSurfObjectGetResourceDesc *a) {
    CUDA_RESOURCE_DESC resource = {0};
    CUresult r;

    (void)f;
    if (!is_ours(w, VCUDA_KIND_SURFOBJECT, a->surfObject) ||
        a->resource_cap < sizeof(struct vcuda_resource))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuSurfObjectGetResourceDesc(&resource, a->surfObject);
    if (r != CUDA_SUCCESS)
        return r;
    pack(w, a->resource, &resource);
    a->resource_len = sizeof(struct vcuda_resource);
    return CUDA_SUCCESS;
}
