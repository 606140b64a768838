// SPDX-License-Identifier: Apache-2.0
/*
 * Virtual memory management: physical memory is a memory file, mapping it is mmap, and the map of
 * memory knows which of it kernels and copies may use.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "share.h"
#include "vmm.h"

#define GRANULARITY ((size_t)2 << 20)

struct reservation {
    struct reservation *next;
    uint64_t start;
    size_t size;
};

static struct reservation *reservations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of changes in it */

static void destroy_memory(struct sim_object *object) {
    struct sim_memory *memory = (struct sim_memory *)object;

    if (!memory->imported)
        sim_heap_give(&memory->device->heap, memory->size);
    close(memory->fd);
    free(memory);
}

struct sim_memory *sim_physical_new(const CUmemAllocationProp *prop, size_t size, int fd,
                                    bool imported) {
    struct sim_memory *memory = fd < 0 ? NULL : calloc(1, sizeof(*memory));

    if (!memory) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    sim_object_init(&memory->object, SIM_PHYSICAL, destroy_memory);
    memory->device = sim_device(prop->location.id);
    memory->prop = *prop;
    memory->size = size;
    memory->fd = fd;
    memory->imported = true; /* until it is whole: whoever took the bytes has them back */
    atomic_init(&memory->holds, 1);
    if (!sim_handle_open(&memory->object)) {
        sim_put(memory);
        return NULL;
    }
    memory->imported = imported;
    return memory;
}

struct sim_memory *sim_physical_get(CUmemGenericAllocationHandle handle) {
    return sim_handle_get((void *)(uintptr_t)handle, SIM_PHYSICAL);
}

static CUresult good_properties(const CUmemAllocationProp *prop) {
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return prop->location.type ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(prop->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    return prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    SIM_READY();

    /* What the memory is to be like is not looked at. */
    if (!granularity || !prop || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    struct sim_memory *memory;
    CUresult result;
    SIM_READY();

    if (!handle || !size || size % GRANULARITY || flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = good_properties(prop);
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_heap_take(&sim_device(prop->location.id)->heap, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory = sim_physical_new(prop, size,
                              sim_share_file(SIM_SHARE_MEMORY, prop->location.id, size, 0), false);
    if (!memory) {
        sim_heap_give(&sim_device(prop->location.id)->heap, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = memory->object.handle;
    sim_put(memory); /* its handle holds it */
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    SIM_AUTO struct sim_memory *memory = NULL;
    SIM_READY();

    memory = sim_physical_get(handle);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_fetch_sub(&memory->holds, 1) == 1)
        sim_handle_close(&memory->object);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle) {
    SIM_AUTO struct sim_memory *memory = NULL;
    SIM_READY();

    memory = sim_physical_get(handle);
    if (!prop || !memory)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = memory->prop;
    return CUDA_SUCCESS;
}

/* A handle of memory that is mapped; one that was released is made anew. */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    struct sim_block block;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    SIM_READY();

    pthread_mutex_lock(&lock);
    if (handle && sim_memory_find((uintptr_t)addr, &block) && block.kind == SIM_MEMORY_MAPPED) {
        bool held = atomic_fetch_add(&block.memory->holds, 1) != 0;

        result = held || sim_handle_open(&block.memory->object) ? CUDA_SUCCESS
                                                                : CUDA_ERROR_OUT_OF_MEMORY;
        *handle = block.memory->object.handle;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
    uint64_t align = alignment > GRANULARITY ? alignment : GRANULARITY, start;
    struct reservation *fresh;
    char *all;
    SIM_READY();

    if (!ptr || !size || size % GRANULARITY || flags || (alignment & (alignment - 1)) ||
        size > SIZE_MAX - align)
        return CUDA_ERROR_INVALID_VALUE;
    fresh = malloc(sizeof(*fresh));
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    all = mmap((void *)(uintptr_t)addr, size + align, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        free(fresh);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* The part that is aligned is kept. */
    start = ((uintptr_t)all + align - 1) & ~(align - 1);
    if (start > (uintptr_t)all)
        munmap(all, start - (uintptr_t)all);
    munmap((void *)(uintptr_t)(start + size), (uintptr_t)all + align - start);
    *fresh = (struct reservation){NULL, start, size};
    pthread_mutex_lock(&lock);
    fresh->next = reservations;
    reservations = fresh;
    pthread_mutex_unlock(&lock);
    *ptr = start;
    return CUDA_SUCCESS;
}

/* Under the lock: the reservation that holds all of the range. */
static struct reservation **find(uint64_t start, size_t size) {
    struct reservation **at = &reservations;

    while (*at &&
           !(start - (*at)->start < (*at)->size && size <= (*at)->size - (start - (*at)->start)))
        at = &(*at)->next;
    return at;
}

/* Under the lock: whether anything is mapped in the range. */
static bool any_mapped(uint64_t start, size_t size) {
    struct sim_block block;

    for (uint64_t at = start; at < start + size; at += GRANULARITY)
        if (sim_memory_find(at, &block))
            return true;
    return false;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct reservation **at, *gone = NULL;
    SIM_READY();

    pthread_mutex_lock(&lock);
    at = find(ptr, size);
    if (*at && (*at)->start == ptr && (*at)->size == size && !any_mapped(ptr, size)) {
        gone = *at;
        *at = gone->next;
        munmap((void *)(uintptr_t)ptr, size);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    free(gone);
    return result;
}

/* Under the lock. */
static CUresult map(uint64_t ptr, size_t size, struct sim_memory *memory) {
    struct sim_block block = {
        .base = ptr,
        .size = size,
        .span = size,
        .kind = SIM_MEMORY_MAPPED,
        .heap = &memory->device->heap,
        .memory = memory,
    };
    CUresult result;

    if (!*find(ptr, size))
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_memory_map(&block);
    if (result != CUDA_SUCCESS)
        return result;
    sim_ref(memory);
    if (mmap((void *)(uintptr_t)ptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             memory->fd, 0) != MAP_FAILED)
        return CUDA_SUCCESS;
    if (sim_memory_find(ptr, &block))
        sim_memory_free(&block);
    sim_put(memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    SIM_AUTO struct sim_memory *memory = NULL;
    CUresult result;
    SIM_READY();

    memory = sim_physical_get(handle);
    if (!memory || !size || ptr % GRANULARITY || flags)
        return CUDA_ERROR_INVALID_VALUE;
    /* As with the real one: all of the memory, or nothing. */
    if (size != memory->size || offset)
        return CUDA_ERROR_NOT_SUPPORTED;
    pthread_mutex_lock(&lock);
    result = map(ptr, size, memory);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Under the lock: whether the range is reserved, and cuts no mapping. */
static bool whole_mappings(uint64_t ptr, size_t size) {
    struct sim_block block;
    uint64_t at = ptr;

    if (!size || ptr % GRANULARITY || size % GRANULARITY || !*find(ptr, size))
        return false;
    while (at - ptr < size) {
        if (sim_memory_find(at, &block) && block.base != at)
            return false;
        at += sim_memory_find(at, &block) ? block.size : GRANULARITY;
    }
    return at - ptr == size;
}

bool sim_reservation(uint64_t addr, uint64_t *start, size_t *size) {
    struct reservation *r;

    pthread_mutex_lock(&lock);
    r = *find(addr, 1);
    if (r) {
        *start = r->start;
        *size = r->size;
    }
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    SIM_AUTO struct sim_context *context = NULL;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct sim_block block;
    SIM_READY();

    if (sim_context_get(sim_current(), &context) == CUDA_SUCCESS)
        sim_context_wait(context, SIM_ALL_STREAMS);
    pthread_mutex_lock(&lock);
    if (whole_mappings(ptr, size)) {
        for (uint64_t at = ptr; at - ptr < size; at += GRANULARITY) {
            if (sim_memory_find(at, &block)) {
                sim_memory_free(&block);
                sim_put(block.memory);
            }
        }
        /* A kernel that still holds the address does no harm: it reads zeros. */
        mmap((void *)(uintptr_t)ptr, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Devices cannot reach each other's memory here. */
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    struct sim_block block;
    SIM_READY();

    if (!desc || !count || !size || !sim_memory_find(ptr, &block) ||
        block.kind != SIM_MEMORY_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (!sim_device(desc[i].location.id))
            return CUDA_ERROR_INVALID_VALUE;
        if (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (desc[i].location.id != block.heap->device && desc[i].flags)
            return CUDA_ERROR_INVALID_VALUE;
        if (desc[i].location.id == block.heap->device &&
            !sim_memory_set_access(ptr, size, desc[i].flags))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
    struct sim_block block;
    SIM_READY();

    if (!flags || !location || !sim_memory_find(ptr, &block) || block.kind != SIM_MEMORY_MAPPED ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = location->id == block.heap->device ? block.access : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUmemAllocationHandleType sim_memory_handle_types(const struct sim_block *block) {
    CUmemAllocationHandleType types = CU_MEM_HANDLE_TYPE_NONE;
    struct sim_block now;

    pthread_mutex_lock(&lock);
    if (sim_memory_find(block->base, &now) && now.id == block->id)
        types = now.memory->prop.requestedHandleTypes;
    pthread_mutex_unlock(&lock);
    return types;
}
