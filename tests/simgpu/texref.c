// SPDX-License-Identifier: Apache-2.0
/*
 * References to textures and surfaces, as CUDA had them before there were objects. A module's
 * variable holds the number of an object, which is made anew with each setting; what was launched
 * before has run by then.
 */
#include <stdlib.h>
#include <string.h>

#include "texture.h"

struct sim_reference {
    struct sim_object object;
    struct sim_context *context;
    struct sim_reference *next; /* of its module */
    uint64_t variable;          /* 0: of no module */
    bool surface;
    bool set; /* it has a resource */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    CUarray_format format; /* of memory */
    unsigned channels;
    struct sim_texture *now; /* what kernels see */
};

static void forget(struct sim_reference *r) {
    if (r->now)
        sim_handle_close(&r->now->object);
    sim_put(r->now);
    r->now = NULL;
}

static void destroy(struct sim_object *object) {
    struct sim_reference *r = (struct sim_reference *)object;

    forget(r);
    sim_put(r->context);
    free(r);
}

void sim_references_free(struct sim_reference *list) {
    while (list) {
        struct sim_reference *next = list->next;

        sim_handle_close(&list->object);
        sim_put(list);
        list = next;
    }
}

static struct sim_reference *new_reference(struct sim_context *context, bool surface) {
    struct sim_reference *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    sim_object_init(&r->object, surface ? SIM_SURFREF : SIM_TEXREF, destroy);
    r->context = sim_ref(context);
    r->surface = surface;
    r->format = CU_AD_FORMAT_FLOAT;
    r->channels = 1;
    if (sim_handle_open(&r->object))
        return r;
    sim_put(r);
    return NULL;
}

/* The same each time; under the context's lock. */
static CUresult of_module(struct sim_module *m, uint64_t variable, bool surface, void **handle) {
    struct sim_reference *r = m->references;

    while (r && r->variable != variable)
        r = r->next;
    if (!r) {
        r = new_reference(m->context, surface);
        if (!r)
            return CUDA_ERROR_OUT_OF_MEMORY;
        r->variable = variable;
        r->next = m->references;
        m->references = r;
    }
    *handle = SIM_HANDLE(r);
    return CUDA_SUCCESS;
}

static CUresult get(CUmodule hmod, const char *name, bool surface, void **handle) {
    SIM_AUTO struct sim_module *m = NULL;
    SIM_ENTER(context);
    uint64_t variable;
    CUresult result;

    m = sim_handle_get(hmod, SIM_MODULE);
    if (!m)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!handle || !name)
        return CUDA_ERROR_INVALID_VALUE;
    variable = ptx_module_reference(m->ptx, name, surface);
    if (!variable)
        return CUDA_ERROR_NOT_FOUND;
    pthread_mutex_lock(&m->context->lock);
    result = of_module(m, variable, surface, handle);
    pthread_mutex_unlock(&m->context->lock);
    return result;
}

CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name) {
    return get(hmod, name, false, (void **)pTexRef);
}

CUresult cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name) {
    return get(hmod, name, true, (void **)pSurfRef);
}

CUresult cuTexRefCreate(CUtexref *pTexRef) {
    struct sim_reference *r;
    SIM_ENTER(context);

    if (!pTexRef)
        return CUDA_ERROR_INVALID_VALUE;
    r = new_reference(context, false);
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pTexRef = SIM_HANDLE(r);
    sim_put(r); /* the handle's reference stays */
    return CUDA_SUCCESS;
}

#define REFERENCE(name, handle, type)                                                              \
    SIM_AUTO struct sim_reference *name = NULL;                                                    \
    SIM_ENTER(name##_context);                                                                     \
    name = sim_handle_get(handle, type);                                                           \
    if (!name)                                                                                     \
    return CUDA_ERROR_INVALID_VALUE

CUresult cuTexRefDestroy(CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (r->variable)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_handle_close(&r->object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Kernels see what is set from now on. */
static CUresult apply(struct sim_reference *r) {
    struct sim_texture *t = NULL;
    CUresult result;

    if (!r->set)
        return CUDA_SUCCESS;
    result =
        r->surface ? sim_surface_new(&r->resource, &t) : sim_texture_new(&r->resource, &r->how, &t);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_handle_open(&t->object)) {
        sim_put(t);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_context_wait(r->context, SIM_ALL_STREAMS);
    forget(r);
    r->now = t;
    if (r->variable)
        memcpy((void *)(uintptr_t)r->variable, &t->object.handle, sizeof(t->object.handle));
    return CUDA_SUCCESS;
}

static CUresult set_resource(struct sim_reference *r, const CUDA_RESOURCE_DESC *resource) {
    CUDA_RESOURCE_DESC before = r->resource;
    bool was_set = r->set;
    CUresult result;

    r->resource = *resource;
    r->set = true;
    result = apply(r);
    if (result == CUDA_SUCCESS)
        return result;
    r->resource = before;
    r->set = was_set;
    return result;
}

static CUresult set_array(struct sim_reference *r, CUarray handle) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    SIM_AUTO struct sim_array *array = NULL;
    CUresult result = sim_array_get(handle, &array);

    resource.res.array.hArray = handle;
    if (result == CUDA_SUCCESS)
        result = set_resource(r, &resource);
    if (result != CUDA_SUCCESS)
        return result;
    r->format = array->desc.Format;
    r->channels = array->desc.NumChannels;
    return CUDA_SUCCESS;
}

CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (Flags & ~CU_TRSA_OVERRIDE_FORMAT)
        return CUDA_ERROR_INVALID_VALUE;
    return set_array(r, hArray);
}

CUresult cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
                               size_t bytes) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    REFERENCE(r, hTexRef, SIM_TEXREF);
    CUresult result;

    resource.res.linear.devPtr = dptr;
    resource.res.linear.format = r->format;
    resource.res.linear.numChannels = r->channels;
    resource.res.linear.sizeInBytes = bytes;
    result = set_resource(r, &resource);
    if (result == CUDA_SUCCESS && ByteOffset)
        *ByteOffset = 0;
    return result;
}

CUresult cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                                 CUdeviceptr dptr, size_t Pitch) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    REFERENCE(r, hTexRef, SIM_TEXREF);
    CUresult result;

    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    resource.res.pitch2D.devPtr = dptr;
    resource.res.pitch2D.format = desc->Format;
    resource.res.pitch2D.numChannels = desc->NumChannels;
    resource.res.pitch2D.width = desc->Width;
    resource.res.pitch2D.height = desc->Height;
    resource.res.pitch2D.pitchInBytes = Pitch;
    result = set_resource(r, &resource);
    if (result != CUDA_SUCCESS)
        return result;
    r->format = desc->Format;
    r->channels = desc->NumChannels;
    return CUDA_SUCCESS;
}

CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (NumPackedComponents != 1 && NumPackedComponents != 2 && NumPackedComponents != 4)
        return CUDA_ERROR_INVALID_VALUE;
    r->format = fmt;
    r->channels = (unsigned)NumPackedComponents;
    return CUDA_SUCCESS;
}

/* Calls that set one thing, and take the old value back if it cannot be. */
#define SETTER(name, good, field, type, ...)                                                       \
    CUresult name(CUtexref hTexRef, __VA_ARGS__) {                                                 \
        REFERENCE(r, hTexRef, SIM_TEXREF);                                                         \
        type before;                                                                               \
        CUresult result;                                                                           \
                                                                                                   \
        if (!(good))                                                                               \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        before = r->how.field;                                                                     \
        r->how.field = value;                                                                      \
        result = apply(r);                                                                         \
        if (result != CUDA_SUCCESS)                                                                \
            r->how.field = before;                                                                 \
        return result;                                                                             \
    }

SETTER(cuTexRefSetAddressMode, dim >= 0 && dim < 3 && (unsigned)value <= CU_TR_ADDRESS_MODE_BORDER,
       addressMode[dim], CUaddress_mode, int dim, CUaddress_mode value)
SETTER(cuTexRefSetFilterMode, (unsigned)value <= CU_TR_FILTER_MODE_LINEAR, filterMode,
       CUfilter_mode, CUfilter_mode value)
SETTER(cuTexRefSetMipmapFilterMode, (unsigned)value <= CU_TR_FILTER_MODE_LINEAR, mipmapFilterMode,
       CUfilter_mode, CUfilter_mode value)
SETTER(cuTexRefSetMipmapLevelBias, true, mipmapLevelBias, float, float value)
SETTER(cuTexRefSetMaxAnisotropy, true, maxAnisotropy, unsigned, unsigned int value)
SETTER(cuTexRefSetFlags, true, flags, unsigned, unsigned int value)

CUresult cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp,
                                     float maxMipmapLevelClamp) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    r->how.minMipmapLevelClamp = minMipmapLevelClamp;
    r->how.maxMipmapLevelClamp = maxMipmapLevelClamp;
    return apply(r);
}

CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pBorderColor)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(r->how.borderColor, pBorderColor, sizeof(r->how.borderColor));
    return apply(r);
}

static bool has_memory(const struct sim_reference *r) {
    return r->set && r->resource.resType != CU_RESOURCE_TYPE_ARRAY;
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pdptr || !has_memory(r))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = r->resource.resType == CU_RESOURCE_TYPE_LINEAR ? r->resource.res.linear.devPtr
                                                            : r->resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!phArray || !r->set || has_memory(r))
        return CUDA_ERROR_INVALID_VALUE;
    *phArray = r->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pam || dim < 0 || dim > 2)
        return CUDA_ERROR_INVALID_VALUE;
    *pam = r->how.addressMode[dim];
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pFormat && !pNumChannels)
        return CUDA_ERROR_INVALID_VALUE;
    if (pFormat)
        *pFormat = r->format;
    if (pNumChannels)
        *pNumChannels = (int)r->channels;
    return CUDA_SUCCESS;
}

/* Calls that tell one thing. */
#define GETTER(name, type, field)                                                                  \
    CUresult name(type *out, CUtexref hTexRef) {                                                   \
        REFERENCE(r, hTexRef, SIM_TEXREF);                                                         \
        if (!out)                                                                                  \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *out = (type)r->how.field;                                                                 \
        return CUDA_SUCCESS;                                                                       \
    }

GETTER(cuTexRefGetFilterMode, CUfilter_mode, filterMode)
GETTER(cuTexRefGetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, float, mipmapLevelBias)
GETTER(cuTexRefGetMaxAnisotropy, int, maxAnisotropy)
GETTER(cuTexRefGetFlags, unsigned int, flags)

CUresult cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp,
                                     CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pminMipmapLevelClamp || !pmaxMipmapLevelClamp)
        return CUDA_ERROR_INVALID_VALUE;
    *pminMipmapLevelClamp = r->how.minMipmapLevelClamp;
    *pmaxMipmapLevelClamp = r->how.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef) {
    REFERENCE(r, hTexRef, SIM_TEXREF);
    if (!pBorderColor)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(pBorderColor, r->how.borderColor, sizeof(r->how.borderColor));
    return CUDA_SUCCESS;
}

CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
    REFERENCE(r, hSurfRef, SIM_SURFREF);
    return Flags ? CUDA_ERROR_INVALID_VALUE : set_array(r, hArray);
}

CUresult cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef) {
    REFERENCE(r, hSurfRef, SIM_SURFREF);
    if (!phArray || !r->set)
        return CUDA_ERROR_INVALID_VALUE;
    *phArray = r->resource.res.array.hArray;
    return CUDA_SUCCESS;
}
