// SPDX-License-Identifier: Apache-2.0
/*
 * Texture and surface objects. Kernels are given them as they are, so they are the driver's own
 * numbers; what they read is described with the names of arrays.
 */
#include "texture.h"

#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/*
 * CUDA_ERROR_INVALID_VALUE for a type that there is not, and for no array; the rest is the driver's
 * to judge.
 */
static CUresult pack(struct vcuda_resource *w, const CUDA_RESOURCE_DESC *d) {
    *w = (struct vcuda_resource){.type = d->resType, .flags = d->flags};
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        w->place = (uint64_t)d->res.array.hArray;
        return w->place ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        w->place = (uint64_t)d->res.mipmap.hMipmappedArray;
        return w->place ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_LINEAR:
        w->place = d->res.linear.devPtr;
        w->format = d->res.linear.format;
        w->channels = d->res.linear.numChannels;
        w->width = d->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        w->place = d->res.pitch2D.devPtr;
        w->format = d->res.pitch2D.format;
        w->channels = d->res.pitch2D.numChannels;
        w->width = d->res.pitch2D.width;
        w->height = d->res.pitch2D.height;
        w->pitch = d->res.pitch2D.pitchInBytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static void unpack(CUDA_RESOURCE_DESC *d, const struct vcuda_resource *w) {
    *d = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)w->type, .flags = w->flags};
    switch (w->type) {
    case CU_RESOURCE_TYPE_ARRAY:
        d->res.array.hArray = (CUarray)w->place;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        d->res.mipmap.hMipmappedArray = (CUmipmappedArray)w->place;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        d->res.linear.devPtr = w->place;
        d->res.linear.format = (CUarray_format)w->format;
        d->res.linear.numChannels = w->channels;
        d->res.linear.sizeInBytes = w->width;
        break;
    default:
        d->res.pitch2D.devPtr = w->place;
        d->res.pitch2D.format = (CUarray_format)w->format;
        d->res.pitch2D.numChannels = w->channels;
        d->res.pitch2D.width = w->width;
        d->res.pitch2D.height = w->height;
        d->res.pitch2D.pitchInBytes = w->pitch;
    }
}

VCUDA_EXPORT CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                        const CUDA_TEXTURE_DESC *pTexDesc,
                                        const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    struct vcuda_resource resource;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pTexObject || !pResDesc || !pTexDesc)
        return CUDA_ERROR_INVALID_VALUE;
    r = pack(&resource, pResDesc);
    return r == CUDA_SUCCESS ? wire_cuTexObjectCreate(t, (uint64_t *)pTexObject, &resource,
                                                      sizeof(resource), pTexDesc, pResViewDesc)
                             : r;
}

VCUDA_EXPORT CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject,
                                         const CUDA_RESOURCE_DESC *pResDesc) {
    struct vcuda_resource resource;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pSurfObject || !pResDesc)
        return CUDA_ERROR_INVALID_VALUE;
    r = pack(&resource, pResDesc);
    return r == CUDA_SUCCESS
               ? wire_cuSurfObjectCreate(t, (uint64_t *)pSurfObject, &resource, sizeof(resource))
               : r;
}

typedef CUresult (*get_resource)(struct thread *t, uint64_t object, void *resource, uint32_t cap,
                                 uint32_t *len);

static CUresult resource_of(uint64_t object, get_resource get, CUDA_RESOURCE_DESC *d) {
    struct vcuda_resource resource;
    struct thread *t;
    uint32_t len;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    r = get(t, object, &resource, sizeof(resource), &len);
    if (r == CUDA_SUCCESS && len != sizeof(resource))
        r = CUDA_ERROR_UNKNOWN;
    if (r == CUDA_SUCCESS)
        unpack(d, &resource);
    return r;
}

VCUDA_EXPORT CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc,
                                                 CUtexObject texObject) {
    return resource_of(texObject, wire_cuTexObjectGetResourceDesc, pResDesc);
}

VCUDA_EXPORT CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc,
                                                  CUsurfObject surfObject) {
    return resource_of(surfObject, wire_cuSurfObjectGetResourceDesc, pResDesc);
}
