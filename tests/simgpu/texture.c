// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects. Their handles are the numbers that kernels are given. */
#include "texture.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 512      /* of memory that a texture reads */
#define PITCH_ALIGNMENT 32 /* of its rows */
#define LINEAR_BYTES_MAX ((size_t)1 << 32)

static bool channel_of(CUarray_format format, enum ptx_channel *channel, size_t *bytes) {
    static const struct {
        CUarray_format format;
        enum ptx_channel channel;
        size_t bytes;
    } known[] = {{CU_AD_FORMAT_UNSIGNED_INT8, PTX_U8, 1},   {CU_AD_FORMAT_SIGNED_INT8, PTX_S8, 1},
                 {CU_AD_FORMAT_UNSIGNED_INT16, PTX_U16, 2}, {CU_AD_FORMAT_SIGNED_INT16, PTX_S16, 2},
                 {CU_AD_FORMAT_UNSIGNED_INT32, PTX_U32, 4}, {CU_AD_FORMAT_SIGNED_INT32, PTX_S32, 4},
                 {CU_AD_FORMAT_HALF, PTX_F16, 2},           {CU_AD_FORMAT_FLOAT, PTX_F32, 4}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (known[i].format == format) {
            *channel = known[i].channel;
            *bytes = known[i].bytes;
            return true;
        }
    }
    return false;
}

static CUresult look_at_array(const struct sim_array *array, bool surface,
                              struct ptx_image *image) {
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->desc;
    size_t bytes;
    bool layered;

    if (surface && !(d->Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return CUDA_ERROR_NOT_SUPPORTED;
    layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    *image = (struct ptx_image){.data = (char *)(uintptr_t)array->addr,
                                .channels = d->NumChannels,
                                .dims = d->Depth && !layered ? 3
                                        : d->Height          ? 2
                                                             : 1,
                                .size = {d->Width, array->rows, layered ? 1 : array->slices},
                                .layers = layered ? array->slices : 0,
                                .pitch = array->pitch,
                                .slice = array->pitch * array->rows};
    return channel_of(d->Format, &image->channel, &bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult of_array(const CUDA_RESOURCE_DESC *r, bool surface, struct ptx_image *image) {
    SIM_AUTO struct sim_array *array = NULL;

    if (sim_array_get(r->res.array.hArray, &array) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return look_at_array(array, surface, image);
}

static CUresult of_mipmap(const CUDA_RESOURCE_DESC *r, struct ptx_image *image) {
    SIM_AUTO struct sim_array *base = NULL;
    unsigned levels;
    CUresult result;

    if (sim_mipmap_get(r->res.mipmap.hMipmappedArray, &base, &levels) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    result = look_at_array(base, false, image);
    image->levels = levels;
    image->level_align = SIM_LEVEL_ALIGN;
    return result;
}

/* Whether memory holds so many bytes from an address on. */
static bool holds(CUdeviceptr address, size_t bytes) {
    struct sim_block block;

    return bytes && sim_memory_find(address, &block) &&
           bytes <= block.size - (address - block.base);
}

static bool good_channels(unsigned count) {
    return count == 1 || count == 2 || count == 4;
}

static CUresult of_linear(const CUDA_RESOURCE_DESC *r, struct ptx_image *image) {
    size_t bytes, all = r->res.linear.sizeInBytes;

    if (!channel_of(r->res.linear.format, &image->channel, &bytes) ||
        !good_channels(r->res.linear.numChannels) || r->res.linear.devPtr % ALIGNMENT ||
        all > LINEAR_BYTES_MAX || !holds(r->res.linear.devPtr, all))
        return CUDA_ERROR_INVALID_VALUE;
    image->data = (char *)(uintptr_t)r->res.linear.devPtr;
    image->channels = r->res.linear.numChannels;
    image->dims = 1;
    image->size[0] = all / (bytes * image->channels);
    image->size[1] = image->size[2] = 1;
    return image->size[0] ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult of_pitched(const CUDA_RESOURCE_DESC *r, struct ptx_image *image) {
    size_t bytes, row, pitch = r->res.pitch2D.pitchInBytes;

    if (!channel_of(r->res.pitch2D.format, &image->channel, &bytes) ||
        !good_channels(r->res.pitch2D.numChannels) || r->res.pitch2D.devPtr % ALIGNMENT ||
        pitch % PITCH_ALIGNMENT || !r->res.pitch2D.width || !r->res.pitch2D.height ||
        r->res.pitch2D.width > 131072 || r->res.pitch2D.height > 65000)
        return CUDA_ERROR_INVALID_VALUE;
    row = r->res.pitch2D.width * bytes * r->res.pitch2D.numChannels;
    if (row > pitch || pitch > SIZE_MAX / 131072 ||
        !holds(r->res.pitch2D.devPtr, pitch * (r->res.pitch2D.height - 1) + row))
        return CUDA_ERROR_INVALID_VALUE;
    *image = (struct ptx_image){.data = (char *)(uintptr_t)r->res.pitch2D.devPtr,
                                .channel = image->channel,
                                .channels = r->res.pitch2D.numChannels,
                                .dims = 2,
                                .size = {r->res.pitch2D.width, r->res.pitch2D.height, 1},
                                .pitch = pitch};
    return CUDA_SUCCESS;
}

static CUresult look_at(const CUDA_RESOURCE_DESC *r, bool surface, struct ptx_image *image) {
    if (r->flags)
        return CUDA_ERROR_INVALID_VALUE;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return of_array(r, surface, image);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return surface ? CUDA_ERROR_INVALID_VALUE : of_mipmap(r, image);
    case CU_RESOURCE_TYPE_LINEAR:
        return surface ? CUDA_ERROR_INVALID_VALUE : of_linear(r, image);
    case CU_RESOURCE_TYPE_PITCH2D:
        return surface ? CUDA_ERROR_INVALID_VALUE : of_pitched(r, image);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_how(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *how,
                        struct ptx_image *image) {
    for (int i = 0; i < 3; i++) {
        if ((unsigned)how->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        image->beyond[i] = (enum ptx_beyond)how->addressMode[i];
    }
    if ((unsigned)how->filterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    if (how->flags & CU_TRSF_SRGB)
        return CUDA_ERROR_NOT_SUPPORTED;
    if ((unsigned)how->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR ||
        (image->levels && !(how->flags & CU_TRSF_NORMALIZED_COORDINATES)))
        return CUDA_ERROR_INVALID_VALUE;
    image->between_levels = how->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    image->level_bias = how->mipmapLevelBias;
    image->least_level = how->minMipmapLevelClamp;
    image->greatest_level = how->maxMipmapLevelClamp;
    image->filtered = how->filterMode == CU_TR_FILTER_MODE_LINEAR;
    image->normalized_coordinates = how->flags & CU_TRSF_NORMALIZED_COORDINATES;
    image->integers = how->flags & CU_TRSF_READ_AS_INTEGER;
    memcpy(image->border, how->borderColor, sizeof(image->border));
    if (r->resType == CU_RESOURCE_TYPE_LINEAR) { /* it is read by number, and is 0 beyond */
        image->beyond[0] = PTX_BORDER;
        image->filtered = image->normalized_coordinates = false;
        memset(image->border, 0, sizeof(image->border));
    }
    return CUDA_SUCCESS;
}

static void destroy(struct sim_object *object) {
    free(object);
}

static CUresult make(enum sim_type type, const CUDA_RESOURCE_DESC *resource,
                     struct sim_texture **out) {
    struct sim_texture *t = calloc(1, sizeof(*t));
    CUresult result;

    if (!t)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&t->object, type, destroy);
    t->resource = *resource;
    result = look_at(resource, type == SIM_SURFACE, &t->image);
    if (result == CUDA_SUCCESS)
        *out = t;
    else
        sim_put(t);
    return result;
}

CUresult sim_surface_new(const CUDA_RESOURCE_DESC *resource, struct sim_texture **out) {
    return make(SIM_SURFACE, resource, out);
}

CUresult sim_texture_new(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                         struct sim_texture **out) {
    CUresult result = make(SIM_TEXTURE, resource, out);

    if (result != CUDA_SUCCESS)
        return result;
    (*out)->how = *how;
    result = set_how(resource, how, &(*out)->image);
    if (result != CUDA_SUCCESS) {
        sim_put(*out);
        *out = NULL;
    }
    return result;
}

bool sim_image_find(void *opaque, uint64_t number, bool surface, struct ptx_image *out) {
    SIM_AUTO struct sim_texture *t =
        sim_handle_get((void *)(uintptr_t)number, surface ? SIM_SURFACE : SIM_TEXTURE);

    (void)opaque;
    if (t)
        *out = t->image;
    return t;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    SIM_AUTO struct sim_texture *t = NULL;
    CUresult result;
    SIM_ENTER(context);

    if (!pTexObject || !pResDesc || !pTexDesc)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_texture_new(pResDesc, pTexDesc, &t);
    if (result != CUDA_SUCCESS)
        return result;
    if (pResViewDesc) { /* of the same elements: no other is served */
        if (pResViewDesc->format != CU_RES_VIEW_FORMAT_FLOAT_1X32 || t->image.channel != PTX_F32 ||
            t->image.channels != 1 || pResViewDesc->firstLayer || pResViewDesc->firstMipmapLevel)
            return CUDA_ERROR_NOT_SUPPORTED;
        t->view = *pResViewDesc;
    }
    if (!sim_handle_open(&t->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pTexObject = t->object.handle;
    return CUDA_SUCCESS;
}

static struct sim_texture *find(uint64_t number, enum sim_type type) {
    return sim_handle_get((void *)(uintptr_t)number, type);
}

/* 0 is none, which can be ended at any time. */
static CUresult end(uint64_t number, enum sim_type type) {
    SIM_AUTO struct sim_texture *t = NULL;
    SIM_ENTER(context);

    t = find(number, type);
    return !number || (t && sim_handle_close(&t->object)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
    return end(texObject, SIM_TEXTURE);
}

static CUresult tell_resource(CUDA_RESOURCE_DESC *out, uint64_t number, enum sim_type type) {
    SIM_AUTO struct sim_texture *t = NULL;
    SIM_ENTER(context);

    t = find(number, type);
    if (!out || !t)
        return CUDA_ERROR_INVALID_VALUE;
    *out = t->resource;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    return tell_resource(pResDesc, texObject, SIM_TEXTURE);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
    SIM_AUTO struct sim_texture *t = NULL;
    SIM_ENTER(context);

    t = find(texObject, SIM_TEXTURE);
    if (!pTexDesc || !t)
        return CUDA_ERROR_INVALID_VALUE;
    *pTexDesc = t->how;
    return CUDA_SUCCESS;
}

/* All zero where there is none. */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                        CUtexObject texObject) {
    SIM_AUTO struct sim_texture *t = NULL;
    SIM_ENTER(context);

    t = find(texObject, SIM_TEXTURE);
    if (!pResViewDesc || !t)
        return CUDA_ERROR_INVALID_VALUE;
    *pResViewDesc = t->view;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    SIM_AUTO struct sim_texture *t = NULL;
    CUresult result;
    SIM_ENTER(context);

    if (!pSurfObject || !pResDesc)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_surface_new(pResDesc, &t);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_handle_open(&t->object))
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pSurfObject = t->object.handle;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    return end(surfObject, SIM_SURFACE);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    return tell_resource(pResDesc, surfObject, SIM_SURFACE);
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                            unsigned numChannels, CUdevice dev) {
    enum ptx_channel channel;
    size_t bytes;
    SIM_READY();

    if (!maxWidthInElements || !channel_of(format, &channel, &bytes) || !good_channels(numChannels))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *maxWidthInElements = LINEAR_BYTES_MAX / (bytes * numChannels);
    return CUDA_SUCCESS;
}
