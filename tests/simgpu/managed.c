// SPDX-License-Identifier: Apache-2.0
/*
 * Managed memory: host memory, which everybody reaches. It does not move: advice and prefetching
 * are kept, and told again.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum subject { READ_MOSTLY, PREFERRED, PREFETCHED, ACCESSED_BY };

static const CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_INVALID,
                                      .id = CU_DEVICE_INVALID};

/* What was said of a range: later ones count. */
struct word {
    uint64_t start, end;
    enum subject subject;
    CUmemLocation location; /* by whom it is accessed; or the value */
    bool yes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct word *words;
static size_t word_count, word_room;

static bool same_place(const CUmemLocation *a, const CUmemLocation *b) {
    return a->type == b->type && a->id == b->id;
}

static bool about(const struct word *w, enum subject subject, const CUmemLocation *who) {
    return w->subject == subject && (subject != ACCESSED_BY || same_place(&w->location, who));
}

/*
 * Under the lock. What lies within the range alone is replaced; without a replacement the memory is
 * new, and whatever reaches into it is of memory that has gone.
 */
static void forget(uint64_t start, uint64_t end, const struct word *replaced_by) {
    size_t kept = 0;

    for (size_t i = 0; i < word_count; i++) {
        const struct word *w = &words[i];
        bool gone = replaced_by ? w->start >= start && w->end <= end &&
                                      about(w, replaced_by->subject, &replaced_by->location)
                                : w->start < end && w->end > start;

        if (!gone)
            words[kept++] = *w;
    }
    word_count = kept;
}

static CUresult say(const struct word *word) {
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    forget(word->start, word->end, word);
    if (word_count == word_room) {
        size_t room = word_room ? 2 * word_room : 16;
        struct word *more = realloc(words, room * sizeof(*more));

        if (more)
            words = more, word_room = room;
        else
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS)
        words[word_count++] = *word;
    pthread_mutex_unlock(&lock);
    return result;
}

static const struct word *last_word(uint64_t at, enum subject subject, const CUmemLocation *who) {
    for (size_t i = word_count; i; i--)
        if (about(&words[i - 1], subject, who) && words[i - 1].start <= at && at < words[i - 1].end)
            return &words[i - 1];
    return NULL;
}

/* Under the lock: what holds for all of a range; where that is not one thing, nothing does. */
static void look(uint64_t start, uint64_t end, enum subject subject, const CUmemLocation *who,
                 bool *yes, CUmemLocation *place) {
    const struct word *first = last_word(start, subject, who);

    *yes = first && first->yes;
    *place = first && first->yes ? first->location : nowhere;
    for (size_t i = 0; i < 2 * word_count; i++) {
        uint64_t at = i % 2 ? words[i / 2].end : words[i / 2].start;
        const struct word *here;

        if (at <= start || at >= end)
            continue;
        here = last_word(at, subject, who);
        if ((here && here->yes) == *yes && (!*yes || same_place(&here->location, place)))
            continue;
        *yes = false;
        *place = nowhere;
        return;
    }
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    SIM_ENTER(context);
    struct sim_space space = sim_context_space(context);
    uint64_t addr;
    CUresult result;

    if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_memory_alloc_host(&space, SIM_MEMORY_MANAGED, bytesize, flags, &addr);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock); /* what was there before is no matter */
    forget(addr, addr + bytesize, NULL);
    pthread_mutex_unlock(&lock);
    *dptr = addr;
    return CUDA_SUCCESS;
}

static bool is_managed(CUdeviceptr addr, size_t count, struct sim_block *block) {
    return count && sim_memory_find(addr, block) && block->kind == SIM_MEMORY_MANAGED &&
           count <= block->size - (addr - block->base);
}

/* The host's nodes are one here. */
static bool good_place(const CUmemLocation *l) {
    switch (l->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return sim_device(l->id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return true;
    default:
        return false;
    }
}

/* The old form of a place, and back. */
static CUmemLocation place_of(CUdevice device) {
    if (device == CU_DEVICE_CPU)
        return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST};
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static int device_of(const CUmemLocation *l) {
    if (l->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return l->id;
    return l->type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUmemLocation location) {
    struct word word = {.start = devPtr, .end = devPtr + count, .location = location};
    struct sim_block block;
    SIM_ENTER(context);

    (void)context;
    if (!is_managed(devPtr, count, &block))
        return CUDA_ERROR_INVALID_VALUE;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        word.subject = READ_MOSTLY;
        word.location = nowhere;
        word.yes = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        return say(&word);
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        word.subject = PREFERRED;
        word.yes = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
        return word.yes && !good_place(&location) ? CUDA_ERROR_INVALID_VALUE : say(&word);
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        word.subject = ACCESSED_BY;
        word.yes = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        return good_place(&location) ? say(&word) : CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(devPtr, count, advice, place_of(device));
}

static CUresult prefetch(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned flags,
                         CUstream handle, bool per_thread) {
    struct word word = {devPtr, devPtr + count, PREFETCHED, location, true};
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_block block;
    CUresult result = sim_stream_look(handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags || !is_managed(devPtr, count, &block))
        return CUDA_ERROR_INVALID_VALUE;
    if (!good_place(&location))
        return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                            : CUDA_ERROR_INVALID_VALUE;
    return say(&word);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                               unsigned int flags, CUstream hStream) {
    return prefetch(devPtr, count, location, flags, hStream, false);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream) {
    return prefetch(devPtr, count, location, flags, hStream, true);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                            CUstream hStream) {
    return prefetch(devPtr, count, place_of(dstDevice), 0, hStream, false);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                 CUstream hStream) {
    return prefetch(devPtr, count, place_of(dstDevice), 0, hStream, true);
}

/* An allocation as a whole. Both sides may use it at one time, whatever it is attached to. */
static CUresult attach(CUstream handle, CUdeviceptr dptr, size_t length, unsigned flags,
                       bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_block block;
    CUresult result = sim_stream_look(handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if ((flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
         flags != CU_MEM_ATTACH_SINGLE) ||
        (flags == CU_MEM_ATTACH_SINGLE && stream == stream->context->legacy) ||
        !is_managed(dptr, length ? length : 1, &block) || block.base != dptr ||
        (length && length != block.size))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                unsigned int flags) {
    return attach(hStream, dptr, length, flags, false);
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr dptr, size_t length,
                                     unsigned int flags) {
    return attach(hStream, dptr, length, flags, true);
}

/* Under the lock: a list of devices, filled up with 'none'. */
static CUresult tell_accessed_by(int *out, size_t size, uint64_t start, uint64_t end) {
    size_t room = size / sizeof(*out), at = 0;
    CUmemLocation who, found;
    bool yes;

    if (!room || size % sizeof(*out))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i <= sim_device_count() && at < room; i++) {
        who = place_of(i < sim_device_count() ? i : CU_DEVICE_CPU);
        look(start, end, ACCESSED_BY, &who, &yes, &found);
        if (yes)
            out[at++] = device_of(&who);
    }
    while (at < room)
        out[at++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

/* Under the lock. */
static CUresult tell(void *data, size_t size, CUmem_range_attribute attribute, uint64_t start,
                     uint64_t end) {
    bool prefetched = attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION ||
                      attribute >= CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
    CUmemLocation place;
    bool yes;
    int value;

    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return tell_accessed_by(data, size, start, end);
    if (size != sizeof(value))
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)
        look(start, end, READ_MOSTLY, &nowhere, &yes, &place);
    else
        look(start, end, prefetched ? PREFETCHED : PREFERRED, &nowhere, &yes, &place);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = yes;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = device_of(&place);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = (int)place.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = place.id;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(data, &value, sizeof(value));
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    CUresult result = CUDA_SUCCESS;
    struct sim_block block;
    SIM_ENTER(context);

    (void)context;
    if (!data || !dataSizes || !attributes || !numAttributes || !is_managed(devPtr, count, &block))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < numAttributes && result == CUDA_SUCCESS; i++)
        result = data[i] ? tell(data[i], dataSizes[i], attributes[i], devPtr, devPtr + count)
                         : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) {
    return cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}
