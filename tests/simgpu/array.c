// SPDX-License-Identifier: Apache-2.0
/* Arrays and mipmapped arrays. */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 32
#define SIDE_MAX 131072u

struct sim_mipmap {
    struct sim_object object;
    struct sim_context *context;
    uint64_t owner; /* the context's id */
    CUDA_ARRAY3D_DESCRIPTOR desc;
    unsigned int count;
    struct sim_array *levels[LEVELS_MAX];
    uint64_t addr;
};

static void destroy_array(struct sim_object *object) {
    struct sim_array *array = (struct sim_array *)object;

    sim_put(array->context);
    free(array);
}

static void destroy_mipmap(struct sim_object *object) {
    struct sim_mipmap *mipmap = (struct sim_mipmap *)object;

    for (unsigned int i = 0; i < mipmap->count; i++)
        sim_put(mipmap->levels[i]);
    sim_put(mipmap->context);
    free(mipmap);
}

static bool of_open_context(struct sim_context *context, uint64_t owner) {
    return atomic_load(&context->open) && context->id == owner;
}

CUresult sim_array_get(CUarray handle, struct sim_array **out) {
    *out = sim_handle_get(handle, SIM_ARRAY);
    if (!*out || !of_open_context((*out)->context, (*out)->owner))
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

static CUresult mipmap_get(CUmipmappedArray handle, struct sim_mipmap **out) {
    *out = sim_handle_get(handle, SIM_MIPMAP);
    if (!*out || !of_open_context((*out)->context, (*out)->owner))
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

/* Bytes of one channel; 0: a format that this driver does not have. */
static size_t channel_bytes(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static CUresult check_desc(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    const unsigned known = 0xff; /* bits that have a meaning */
    const unsigned served = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                            CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;

    if (d->Flags & ~known || !d->Width ||
        (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) ||
        d->Width > SIDE_MAX || d->Height > SIDE_MAX || d->Depth > SIDE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Depth && !d->Height && !(d->Flags & CUDA_ARRAY3D_LAYERED))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP && (d->Width != d->Height || d->Depth % 6 || !d->Depth ||
                                            (d->Depth != 6 && !(d->Flags & CUDA_ARRAY3D_LAYERED))))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER && (d->Depth || !d->Height))
        return CUDA_ERROR_INVALID_VALUE;
    if (!channel_bytes(d->Format))
        return d->Format < CU_AD_FORMAT_NV12 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    return d->Flags & ~served ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

/* An array without memory or handle; NULL: out of memory. */
static struct sim_array *describe(struct sim_context *context, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct sim_array *array = calloc(1, sizeof(*array));

    if (!array)
        return NULL;
    sim_object_init(&array->object, SIM_ARRAY, destroy_array);
    array->context = sim_ref(context);
    array->owner = context->id;
    array->desc = *d;
    array->element = channel_bytes(d->Format) * d->NumChannels;
    array->pitch = d->Width * array->element;
    array->rows = d->Height ? d->Height : 1;
    array->slices = d->Depth ? d->Depth : 1;
    return array;
}

static size_t bytes_of(const struct sim_array *array) {
    return array->pitch * array->rows * array->slices;
}

static CUresult reserve(struct sim_context *context, size_t bytes, uint64_t *addr) {
    struct sim_space space = {
        .heap = &context->device->heap,
        .owner = context->id,
        .context = SIM_HANDLE(context),
    };

    return sim_memory_alloc(&space, SIM_MEMORY_ARRAY, bytes, 512, addr);
}

static void give_back(struct sim_context *context, uint64_t addr) {
    struct sim_block block;

    sim_context_wait(context, SIM_ALL_STREAMS);
    if (sim_memory_find(addr, &block))
        sim_memory_free(&block);
}

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    SIM_AUTO struct sim_array *array = NULL;
    CUresult result;
    SIM_ENTER(context);

    if (!pHandle || !pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_desc(pAllocateArray);
    if (result != CUDA_SUCCESS)
        return result;
    array = describe(context, pAllocateArray);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = reserve(context, bytes_of(array), &array->addr);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_handle_open(&array->object)) {
        give_back(context, array->addr);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pHandle = SIM_HANDLE(array);
    return CUDA_SUCCESS;
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    SIM_ENTER(context);

    if (!pHandle || !pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    d.Width = pAllocateArray->Width;
    d.Height = pAllocateArray->Height;
    d.Format = pAllocateArray->Format;
    d.NumChannels = pAllocateArray->NumChannels;
    return cuArray3DCreate_v2(pHandle, &d);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    SIM_AUTO struct sim_array *array = NULL;
    SIM_ENTER(context);
    CUresult result = sim_array_get(hArray, &array);

    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *pArrayDescriptor = array->desc;
    return result;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult result = cuArray3DGetDescriptor_v2(&d, hArray);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    pArrayDescriptor->Width = d.Width;
    pArrayDescriptor->Height = d.Height;
    pArrayDescriptor->Format = d.Format;
    pArrayDescriptor->NumChannels = d.NumChannels;
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray hArray) {
    SIM_AUTO struct sim_array *array = NULL;
    SIM_ENTER(context);
    CUresult result = sim_array_get(hArray, &array);

    if (result != CUDA_SUCCESS)
        return result;
    if (array->level)
        return CUDA_ERROR_INVALID_VALUE;
    sim_handle_close(&array->object);
    give_back(array->context, array->addr);
    return CUDA_SUCCESS;
}

static size_t halved(size_t side, unsigned int level) {
    return side ? (side >> level ? side >> level : 1) : 0;
}

/* What level `level` of a mipmapped array is like; layers are not halved. */
static CUDA_ARRAY3D_DESCRIPTOR level_desc(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int level) {
    CUDA_ARRAY3D_DESCRIPTOR l = *d;

    l.Width = halved(d->Width, level);
    l.Height = halved(d->Height, level);
    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        l.Depth = halved(d->Depth, level);
    return l;
}

/* As many as there are sides that can be halved, and one. */
static unsigned int levels_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int asked) {
    size_t side = d->Width > d->Height ? d->Width : d->Height;
    unsigned int most = 1;

    if (d->Depth > side && !(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        side = d->Depth;
    while (side >>= 1)
        most++;
    if (!asked)
        return 1;
    return asked < most ? asked : most;
}

static CUresult add_levels(struct sim_mipmap *mipmap, size_t *bytes) {
    for (unsigned int i = 0; i < mipmap->count; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = level_desc(&mipmap->desc, i);
        struct sim_array *level = describe(mipmap->context, &d);

        if (!level) {
            mipmap->count = i;
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        level->level = true;
        level->addr = *bytes; /* from the start of all */
        mipmap->levels[i] = level;
        *bytes += (bytes_of(level) + SIM_LEVEL_ALIGN - 1) / SIM_LEVEL_ALIGN * SIM_LEVEL_ALIGN;
    }
    return CUDA_SUCCESS;
}

static void close_levels(struct sim_mipmap *mipmap) {
    for (unsigned int i = 0; i < mipmap->count; i++)
        sim_handle_close(&mipmap->levels[i]->object);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
    SIM_AUTO struct sim_mipmap *mipmap = NULL;
    CUresult result;
    size_t bytes = 0;
    SIM_ENTER(context);

    if (!pHandle || !pMipmappedArrayDesc)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_desc(pMipmappedArrayDesc);
    if (result != CUDA_SUCCESS)
        return result;
    mipmap = calloc(1, sizeof(*mipmap));
    if (!mipmap)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_object_init(&mipmap->object, SIM_MIPMAP, destroy_mipmap);
    mipmap->context = sim_ref(context);
    mipmap->owner = context->id;
    mipmap->desc = *pMipmappedArrayDesc;
    mipmap->count = levels_of(&mipmap->desc, numMipmapLevels);
    result = add_levels(mipmap, &bytes);
    if (result == CUDA_SUCCESS)
        result = reserve(context, bytes, &mipmap->addr);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned int i = 0; i < mipmap->count && result == CUDA_SUCCESS; i++) {
        mipmap->levels[i]->addr += mipmap->addr;
        if (!sim_handle_open(&mipmap->levels[i]->object))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS && !sim_handle_open(&mipmap->object))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        *pHandle = SIM_HANDLE(mipmap);
    } else {
        close_levels(mipmap);
        give_back(context, mipmap->addr);
    }
    return result;
}

CUresult sim_mipmap_get(CUmipmappedArray handle, struct sim_array **base, unsigned *levels) {
    SIM_AUTO struct sim_mipmap *mipmap = NULL;
    CUresult result = mipmap_get(handle, &mipmap);

    if (result != CUDA_SUCCESS)
        return result;
    *base = sim_ref(mipmap->levels[0]);
    *levels = mipmap->count;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level) {
    SIM_AUTO struct sim_mipmap *mipmap = NULL;
    SIM_ENTER(context);
    CUresult result = mipmap_get(hMipmappedArray, &mipmap);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pLevelArray || level >= mipmap->count)
        return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = SIM_HANDLE(mipmap->levels[level]);
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    SIM_AUTO struct sim_mipmap *mipmap = NULL;
    SIM_ENTER(context);
    CUresult result = mipmap_get(hMipmappedArray, &mipmap);

    if (result != CUDA_SUCCESS)
        return result;
    sim_handle_close(&mipmap->object);
    close_levels(mipmap);
    give_back(mipmap->context, mipmap->addr);
    return CUDA_SUCCESS;
}
