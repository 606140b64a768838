// SPDX-License-Identifier: Apache-2.0
/*
 * Managed memory: pages of the arena, which program and GPU reach at one address. It does not move:
 * the GPU reads and writes it over the bus. So advice and prefetching change nothing but what is
 * told of them again.
 */
#include "managed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "layout.h"

/* What a piece of managed memory was advised. */
struct advice {
    bool read_mostly;
    CUmemLocation preferred;  /* type 0: none */
    CUmemLocation prefetched; /* last; type 0: never */
    uint32_t accessed_by;     /* bit i: device i */
    bool accessed_by_host;
};

/* What was ever advised, until other memory lies there: sorted, and no two pieces overlap. */
struct piece {
    struct piece *next;
    uint64_t start, end;
    struct advice advice;
};

static struct piece *pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Memory is new: what is noted there is of memory that has gone, freed or with its context. So is
 * all of a piece that begins or ends elsewhere, since none is of two blocks.
 */
static void drop_advice(uint64_t start, uint64_t end) {
    struct piece **at = &pieces;

    pthread_mutex_lock(&lock);
    while (*at) {
        struct piece *p = *at;

        if (p->start < end && p->end > start) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
    pthread_mutex_unlock(&lock);
}

CUresult managed_alloc(struct thread *t, size_t bytes, enum arena_kind kind, unsigned int flags,
                       void **out) {
    CUresult r = arena_alloc(t, bytes, kind, flags, out);

    if (r == CUDA_SUCCESS)
        drop_advice((uint64_t)*out, (uint64_t)*out + bytes);
    return r;
}

VCUDA_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    struct thread *t;
    void *p;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_fault(t);
    if (r == CUDA_SUCCESS)
        r = managed_alloc(t, bytesize, ARENA_MANAGED, flags, &p);
    if (r == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)p;
    return r;
}

/* Under the lock: cuts the piece in which `at` lies, so that one starts there. */
static bool cut(uint64_t at) {
    for (struct piece *p = pieces; p; p = p->next) {
        struct piece *rest;

        if (p->start >= at || at >= p->end)
            continue;
        rest = malloc(sizeof(*rest));
        if (!rest)
            return false;
        *rest = *p;
        rest->start = at;
        p->end = at;
        p->next = rest;
        return true;
    }
    return true;
}

/* Under the lock: pieces for all of [start, end), and none that crosses its ends. */
static bool cover(uint64_t start, uint64_t end) {
    struct piece **at = &pieces;

    if (!cut(start) || !cut(end))
        return false;
    while (*at && (*at)->end <= start)
        at = &(*at)->next;
    while (start < end) {
        uint64_t until = *at && (*at)->start < end ? (*at)->start : end;

        if (start < until) { /* not advised yet */
            struct piece *fresh = calloc(1, sizeof(*fresh));

            if (!fresh)
                return false;
            fresh->start = start;
            fresh->end = until;
            fresh->next = *at;
            *at = fresh;
        }
        start = (*at)->end;
        at = &(*at)->next;
    }
    return true;
}

static bool is_managed(uint64_t address, size_t count) {
    struct arena_block block;

    return count && arena_find((const void *)address, count, &block) &&
           (block.kind == ARENA_MANAGED || block.kind == ARENA_VARIABLES);
}

static bool location_ok(const CUmemLocation *l) {
    switch (l->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return l->id >= 0 && l->id < guest_device_count();
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return true;
    default:
        return false;
    }
}

/* The old form of a place: a device, or the host. */
static CUmemLocation place_of(CUdevice device) {
    if (device == CU_DEVICE_CPU)
        return (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

static void apply(struct advice *a, CUmem_advise advice, const CUmemLocation *where) {
    uint32_t bit;

    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        a->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        a->preferred = *where;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        a->preferred = (CUmemLocation){0};
        break;
    default:
        if (where->type != CU_MEM_LOCATION_TYPE_DEVICE) {
            a->accessed_by_host = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
            break;
        }
        bit = 1u << where->id;
        a->accessed_by =
            advice == CU_MEM_ADVISE_SET_ACCESSED_BY ? a->accessed_by | bit : a->accessed_by & ~bit;
    }
}

/* Whether the advice looks at the place at all. */
static bool has_place(CUmem_advise advice) {
    return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
           advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

VCUDA_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                                     CUmemLocation location) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        !is_managed(devPtr, count))
        return CUDA_ERROR_INVALID_VALUE;
    if (has_place(advice) && !location_ok(&location))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (!cover(devPtr, devPtr + count))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    for (struct piece *p = pieces; p && r == CUDA_SUCCESS; p = p->next) {
        if (p->start >= devPtr && p->end <= devPtr + count)
            apply(&p->advice, advice, &location);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

VCUDA_EXPORT CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                                  CUdevice device) {
    return cuMemAdvise_v2(devPtr, count, advice, place_of(device));
}

static CUresult prefetch(CUdeviceptr devPtr, size_t count, const CUmemLocation *location) {
    CUresult r = CUDA_SUCCESS;

    if (!is_managed(devPtr, count))
        return CUDA_ERROR_INVALID_VALUE;
    if (!location_ok(location))
        return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                             : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (!cover(devPtr, devPtr + count))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    for (struct piece *p = pieces; p && r == CUDA_SUCCESS; p = p->next) {
        if (p->start >= devPtr && p->end <= devPtr + count)
            p->advice.prefetched = *location;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

static CUresult enter_stream(CUstream stream) {
    uint64_t name;
    struct thread *t;

    return guest_enter_stream(&t, stream, &name);
}

VCUDA_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count,
                                            CUmemLocation location, unsigned int flags,
                                            CUstream hStream) {
    CUresult r = enter_stream(hStream);

    if (r != CUDA_SUCCESS)
        return r;
    return flags ? CUDA_ERROR_INVALID_VALUE : prefetch(devPtr, count, &location);
}

VCUDA_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                         CUstream hStream) {
    return cuMemPrefetchAsync_v2(devPtr, count, place_of(dstDevice), 0, hStream);
}

/* What the calls on lists of ranges check alike. */
static CUresult check_ranges(const CUdeviceptr *dptrs, const size_t *sizes, size_t count,
                             unsigned long long flags) {
    if (!dptrs || !sizes || !count || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!is_managed(dptrs[i], sizes[i]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                              CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                              size_t numPrefetchLocs, unsigned long long flags,
                                              CUstream hStream) {
    CUresult r = enter_stream(hStream);
    size_t where = 0;

    if (r == CUDA_SUCCESS)
        r = check_ranges(dptrs, sizes, count, flags);
    if (r != CUDA_SUCCESS)
        return r;
    if (!prefetchLocs || !prefetchLocIdxs || !numPrefetchLocs || numPrefetchLocs > count ||
        prefetchLocIdxs[0])
        return CUDA_ERROR_INVALID_VALUE;
    /* A place holds from its range on, until the next place's. */
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        if (where + 1 < numPrefetchLocs && prefetchLocIdxs[where + 1] == i)
            where++;
        r = prefetch(dptrs[i], sizes[i], &prefetchLocs[where]);
    }
    return r;
}

/* Whoever discards does not care what is there afterwards: it may stay. */
VCUDA_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                             unsigned long long flags, CUstream hStream) {
    CUresult r = enter_stream(hStream);

    return r == CUDA_SUCCESS ? check_ranges(dptrs, sizes, count, flags) : r;
}

VCUDA_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(
    CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
    size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream) {
    return cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                   numPrefetchLocs, flags, hStream);
}

/* Program and GPU may use the memory at one time, whatever stream it is attached to. */
VCUDA_EXPORT CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                             unsigned int flags) {
    CUresult r = enter_stream(hStream);
    struct arena_block block;

    if (r != CUDA_SUCCESS)
        return r;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_MEM_ATTACH_SINGLE && (!hStream || hStream == CU_STREAM_LEGACY))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_managed(dptr, length ? length : 1) || !arena_find((const void *)dptr, 1, &block))
        return CUDA_ERROR_INVALID_VALUE;
    /* An allocation as a whole; but a variable shares its block with others. */
    if (block.kind == ARENA_MANAGED &&
        (block.start != (char *)dptr || (length && length != block.size)))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* What holds for all of a range: where pieces differ, as if there were no advice. */
static struct advice common_advice(uint64_t start, uint64_t end) {
    struct advice a = {0};
    uint64_t done = start;

    for (const struct piece *p = pieces; p && done < end; p = p->next) {
        if (p->end <= start || p->start >= end)
            continue;
        if (p->start > done)
            return (struct advice){0};
        if (done == start)
            a = p->advice;
        a.read_mostly &= p->advice.read_mostly;
        a.accessed_by &= p->advice.accessed_by;
        a.accessed_by_host &= p->advice.accessed_by_host;
        if (memcmp(&a.preferred, &p->advice.preferred, sizeof(a.preferred)))
            a.preferred = (CUmemLocation){0};
        if (memcmp(&a.prefetched, &p->advice.prefetched, sizeof(a.prefetched)))
            a.prefetched = (CUmemLocation){0};
        done = p->end;
    }
    return done >= end ? a : (struct advice){0};
}

/* A place in its old form. */
static int device_of(const CUmemLocation *l) {
    if (l->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return l->id;
    return l->type ? CU_DEVICE_CPU : CU_DEVICE_INVALID;
}

/* A list of devices, filled up with 'none'. */
static CUresult give_accessed_by(void *data, size_t size, const struct advice *a) {
    int *out = data;
    size_t room = size / sizeof(int), at = 0;

    if (!room || size % sizeof(int))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < guest_device_count() && at < room; i++) {
        if (a->accessed_by >> i & 1)
            out[at++] = i;
    }
    if (a->accessed_by_host && at < room)
        out[at++] = CU_DEVICE_CPU;
    while (at < room)
        out[at++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult give(void *data, size_t size, CUmem_range_attribute attribute,
                     const struct advice *a) {
    int value;

    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return give_accessed_by(data, size, a);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = a->read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = device_of(&a->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = device_of(&a->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        value = (int)a->preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        value = a->preferred.type ? a->preferred.id : CU_DEVICE_INVALID;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = (int)a->prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = a->prefetched.type ? a->prefetched.id : CU_DEVICE_INVALID;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size != sizeof(value))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof(value));
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                              CUmem_range_attribute *attributes,
                                              size_t numAttributes, CUdeviceptr devPtr,
                                              size_t count) {
    struct advice a;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!data || !dataSizes || !attributes || !numAttributes || !is_managed(devPtr, count))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    a = common_advice(devPtr, devPtr + count);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < numAttributes && r == CUDA_SUCCESS; i++)
        r = data[i] ? give(data[i], dataSizes[i], attributes[i], &a) : CUDA_ERROR_INVALID_VALUE;
    return r;
}

VCUDA_EXPORT CUresult cuMemRangeGetAttribute(void *data, size_t dataSize,
                                             CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                             size_t count) {
    return cuMemRangeGetAttributes(&data, &dataSize, &attribute, 1, devPtr, count);
}
