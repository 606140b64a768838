// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((uint64_t)4096)
#define GRANULE ((uint64_t)512) /* device memory is handed out in these */

/* Where the first device's addresses are asked for; the kernel chooses if they are taken. */
#define FIRST_BASE 0x300000000000ull
#define BASE_STRIDE 0x10000000000ull /* 1 TiB for each device */

/* All blocks, sorted by address; they never overlap. */
static struct sim_block *blocks;
static size_t block_count, block_room;
static uint64_t last_id;
static unsigned running; /* kernels */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) & ~(to - 1);
}

bool sim_heap_start(struct sim_heap *heap, int device, size_t limit) {
    size_t reserved = round_up(limit, PAGE) * 4 + (64 << 20);
    uint64_t wish = FIRST_BASE + (uint64_t)device * BASE_STRIDE;
    void *base = mmap((void *)(uintptr_t)wish, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return false;
    *heap = (struct sim_heap){
        .device = device,
        .base = (uintptr_t)base,
        .reserved = reserved,
        .limit = limit,
    };
    return true;
}

void sim_heap_info(const struct sim_heap *heap, size_t *free, size_t *total) {
    pthread_rwlock_rdlock(&lock);
    *free = heap->limit - heap->used;
    *total = heap->limit;
    pthread_rwlock_unlock(&lock);
}

/* The index of the first block that ends after addr. */
static size_t lower_bound(uint64_t addr) {
    size_t low = 0, high = block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (blocks[middle].base + blocks[middle].span <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sim_block *find_live(uint64_t addr) {
    size_t i = lower_bound(addr);

    if (i == block_count || blocks[i].base > addr || blocks[i].dead ||
        addr - blocks[i].base >= blocks[i].size)
        return NULL;
    return &blocks[i];
}

static bool insert(const struct sim_block *block) {
    size_t i = lower_bound(block->base);

    if (block_count == block_room) {
        size_t room = block_room ? block_room * 2 : 256;
        struct sim_block *more = realloc(blocks, room * sizeof(*blocks));

        if (!more)
            return false;
        blocks = more;
        block_room = room;
    }
    memmove(&blocks[i + 1], &blocks[i], (block_count - i) * sizeof(*blocks));
    blocks[i] = *block;
    blocks[i].id = ++last_id;
    block_count++;
    return true;
}

/* The lowest free addresses of the heap that hold `span` bytes; 0: none. */
static uint64_t first_fit(const struct sim_heap *heap, size_t span, size_t align) {
    uint64_t end = heap->base + heap->reserved, cursor = round_up(heap->base, align);

    for (size_t i = lower_bound(heap->base); i < block_count && blocks[i].base < end; i++) {
        if (cursor + span <= blocks[i].base)
            return cursor;
        cursor = round_up(blocks[i].base + blocks[i].span, align);
    }
    return cursor + span <= end ? cursor : 0;
}

CUresult sim_memory_alloc(const struct sim_space *space, enum sim_memory_kind kind, size_t size,
                          size_t align, uint64_t *addr) {
    struct sim_heap *heap = space->heap;
    struct sim_block block = {
        .size = size,
        .kind = kind,
        .heap = heap,
        .owner = space->owner,
        .context = space->context,
        .pool = space->pool,
    };
    bool good = false;

    if (size == 0 || size > heap->limit)
        return size ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    block.span = round_up(size, GRANULE);
    pthread_rwlock_wrlock(&lock);
    if (block.span <= heap->limit - heap->used) {
        block.base = first_fit(heap, block.span, align > GRANULE ? align : GRANULE);
        good = block.base && insert(&block);
        if (good)
            heap->used += block.span;
    }
    pthread_rwlock_unlock(&lock);
    *addr = block.base;
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

size_t sim_memory_pages(const struct sim_block *block, size_t *into) {
    uint64_t start = block->base & ~(PAGE - 1);

    *into = block->base - start;
    return round_up(block->base + block->span, PAGE) - start;
}

/* Under the lock: whether some of these pages are a file's. */
static bool any_shared(uint64_t start, uint64_t end) {
    for (size_t i = lower_bound(start); i < block_count; i++) {
        if ((blocks[i].base & ~(PAGE - 1)) >= end)
            break;
        if (blocks[i].shared)
            return true;
    }
    return false;
}

bool sim_memory_share(const struct sim_block *wanted, int fd) {
    size_t into, bytes = sim_memory_pages(wanted, &into);
    void *start = (void *)(uintptr_t)(wanted->base - into);
    struct sim_block *block;
    bool good = false;

    pthread_rwlock_wrlock(&lock);
    block = find_live(wanted->base);
    /* A page before may end in this one. */
    if (block && block->id == wanted->id && running == 0 &&
        !any_shared((uintptr_t)start, (uintptr_t)start + bytes))
        good = pwrite(fd, start, bytes, 0) == (ssize_t)bytes &&
               mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == start;
    if (good)
        block->shared = true;
    pthread_rwlock_unlock(&lock);
    return good;
}

CUresult sim_memory_import(const struct sim_space *space, int fd, size_t size, size_t into,
                           struct sim_block *out) {
    struct sim_block block = {
        .size = size,
        .kind = SIM_MEMORY_IMPORTED,
        .heap = space->heap,
        .owner = space->owner,
        .context = space->context,
        .pool = space->pool,
    };
    size_t bytes = round_up(into + size, PAGE);
    bool good = false;
    uint64_t start;

    pthread_rwlock_wrlock(&lock);
    start = first_fit(space->heap, bytes, PAGE);
    block.base = start + into;
    block.span = bytes - into; /* nobody else gets what is left of the last page */
    if (start && mmap((void *)(uintptr_t)start, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
        good = insert(&block);
    if (good)
        *out = *find_live(block.base);
    pthread_rwlock_unlock(&lock);
    return good ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool sim_heap_take(struct sim_heap *heap, size_t size) {
    bool good;

    pthread_rwlock_wrlock(&lock);
    good = size <= heap->limit - heap->used;
    if (good)
        heap->used += size;
    pthread_rwlock_unlock(&lock);
    return good;
}

void sim_heap_give(struct sim_heap *heap, size_t size) {
    pthread_rwlock_wrlock(&lock);
    heap->used -= size;
    pthread_rwlock_unlock(&lock);
}

/* Takes dead blocks of a range out: what is mapped there anew is no longer a kernel's old memory.
 */
static void forget_dead(uint64_t from, uint64_t to) {
    for (size_t i = lower_bound(from); i < block_count && blocks[i].base < to;) {
        if (!blocks[i].dead) {
            i++;
            continue;
        }
        block_count--;
        memmove(&blocks[i], &blocks[i + 1], (block_count - i) * sizeof(*blocks));
    }
}

CUresult sim_memory_map(const struct sim_block *block) {
    CUresult result = CUDA_SUCCESS;
    size_t i;

    pthread_rwlock_wrlock(&lock);
    forget_dead(block->base, block->base + block->span);
    i = lower_bound(block->base);
    if (i < block_count && blocks[i].base < block->base + block->span)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (!insert(block))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_rwlock_unlock(&lock);
    return result;
}

bool sim_memory_set_access(uint64_t addr, size_t size, unsigned access) {
    uint64_t at = addr;
    size_t first, i;

    pthread_rwlock_wrlock(&lock);
    first = lower_bound(addr);
    for (i = first; i < block_count && at < addr + size; i++) {
        if (blocks[i].base != at || blocks[i].dead || blocks[i].kind != SIM_MEMORY_MAPPED)
            break;
        at += blocks[i].span;
    }
    for (size_t k = first; k < i && at == addr + size; k++)
        blocks[k].access = access;
    pthread_rwlock_unlock(&lock);
    return at == addr + size;
}

static CUresult insert_host(const struct sim_space *space, struct sim_block block) {
    CUresult result = CUDA_SUCCESS;
    size_t i;

    block.heap = space->heap;
    block.owner = space->owner;
    block.context = space->context;
    pthread_rwlock_wrlock(&lock);
    i = lower_bound(block.base);
    if (i < block_count && blocks[i].base < block.base + block.span)
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else if (!insert(&block))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_rwlock_unlock(&lock);
    return result;
}

CUresult sim_memory_alloc_host(const struct sim_space *space, enum sim_memory_kind kind,
                               size_t size, unsigned flags, uint64_t *addr) {
    struct sim_block block = {.size = size, .kind = kind, .flags = flags};
    CUresult result;
    void *memory;

    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > SIZE_MAX - PAGE)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block.span = round_up(size, PAGE);
    memory = mmap(NULL, block.span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block.base = (uintptr_t)memory;
    result = insert_host(space, block);
    if (result != CUDA_SUCCESS)
        munmap(memory, block.span);
    *addr = block.base;
    return result;
}

/* Every page of the range is mapped, as pinning would require. */
static bool mapped(uint64_t addr, size_t size) {
    uint64_t start = addr & ~(PAGE - 1);

    return msync((void *)(uintptr_t)start, addr + size - start, MS_ASYNC) == 0;
}

CUresult sim_memory_register(const struct sim_space *space, uint64_t addr, size_t size,
                             unsigned flags) {
    struct sim_block block = {
        .base = addr,
        .size = size,
        .span = size,
        .kind = SIM_MEMORY_REGISTERED,
        .flags = flags,
    };

    if (addr == 0 || size == 0 || size > UINT64_MAX - addr || !mapped(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    return insert_host(space, block);
}

bool sim_memory_change(uint64_t addr, bool (*change)(struct sim_block *block, bool value),
                       bool value) {
    struct sim_block *block;
    bool result;

    pthread_rwlock_wrlock(&lock);
    block = find_live(addr);
    result = block && change(block, value);
    pthread_rwlock_unlock(&lock);
    return result;
}

bool sim_memory_find(uint64_t addr, struct sim_block *out) {
    struct sim_block *block;

    pthread_rwlock_rdlock(&lock);
    block = find_live(addr);
    if (block)
        *out = *block;
    pthread_rwlock_unlock(&lock);
    return block != NULL;
}

/* Takes the dead blocks out of the map, once nobody can hold their addresses. */
static void bury(void) {
    size_t kept = 0;

    for (size_t i = 0; i < block_count; i++) {
        if (!blocks[i].dead)
            blocks[kept++] = blocks[i];
        else if (blocks[i].kind == SIM_MEMORY_HOST || blocks[i].kind == SIM_MEMORY_MANAGED)
            munmap((void *)(uintptr_t)blocks[i].base, blocks[i].span);
    }
    block_count = kept;
}

/*
 * Ends a block; under the lock. Its pages go back at once. They read as zero until the addresses
 * are reused, so that a kernel that still holds them does no harm.
 */
static void kill(struct sim_block *block) {
    uint64_t start = round_up(block->base, PAGE), end = (block->base + block->span) & ~(PAGE - 1);

    block->dead = true;
    if (block->kind <= SIM_MEMORY_MODULE)
        block->heap->used -= block->span;
    if (block->kind == SIM_MEMORY_REGISTERED || block->kind == SIM_MEMORY_MAPPED)
        return;
    if (block->kind == SIM_MEMORY_IMPORTED)
        start = block->base & ~(PAGE - 1);
    /* What others have still is theirs from now on. */
    if (start < end && (block->shared || block->kind == SIM_MEMORY_IMPORTED))
        mmap((void *)(uintptr_t)start, end - start, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else if (start < end)
        madvise((void *)(uintptr_t)start, end - start, MADV_DONTNEED);
}

void sim_memory_free(const struct sim_block *gone) {
    struct sim_block *block;

    pthread_rwlock_wrlock(&lock);
    block = find_live(gone->base);
    if (block && block->id == gone->id) {
        kill(block);
        if (running == 0)
            bury();
    }
    pthread_rwlock_unlock(&lock);
}

void sim_memory_free_owner(uint64_t owner) {
    pthread_rwlock_wrlock(&lock);
    for (size_t i = 0; i < block_count; i++)
        if (blocks[i].owner == owner && !blocks[i].dead)
            kill(&blocks[i]);
    if (running == 0)
        bury();
    pthread_rwlock_unlock(&lock);
}

void sim_memory_kernel_begins(void) {
    pthread_rwlock_wrlock(&lock);
    running++;
    pthread_rwlock_unlock(&lock);
}

void sim_memory_kernel_ends(void) {
    pthread_rwlock_wrlock(&lock);
    if (--running == 0)
        bury();
    pthread_rwlock_unlock(&lock);
}

/*
 * A kernel reaches the device memory of its own context and of the peers that this has, what
 * belongs to no context and is its device's to use, and all host memory that is known.
 */
static struct sim_block *find_reachable(const struct sim_space *space, uint64_t addr) {
    struct sim_block *block = find_live(addr);

    if (!block || !sim_block_on_device(block))
        return block;
    if ((block->kind == SIM_MEMORY_MAPPED && !block->access) || block->asleep)
        return NULL;
    if (block->owner)
        return block->owner == space->owner || sim_peer_reaches(space->owner, block->owner) ? block
                                                                                            : NULL;
    return block->heap == space->heap ? block : NULL;
}

static void *resolve(void *opaque, uint64_t addr, size_t len) {
    const struct sim_block *block;
    bool good;

    pthread_rwlock_rdlock(&lock);
    block = find_reachable(opaque, addr);
    good = block && len <= block->size - (addr - block->base);
    pthread_rwlock_unlock(&lock);
    return good ? (void *)(uintptr_t)addr : NULL;
}

static bool range(void *opaque, uint64_t addr, uint64_t *base, uint64_t *size) {
    const struct sim_block *block;

    pthread_rwlock_rdlock(&lock);
    block = find_reachable(opaque, addr);
    if (block) {
        *base = block->base;
        *size = block->size;
    }
    pthread_rwlock_unlock(&lock);
    return block != NULL;
}

static uint64_t alloc_variables(void *opaque, size_t size, size_t align) {
    uint64_t addr;

    if (sim_memory_alloc(opaque, SIM_MEMORY_MODULE, size, align, &addr) != CUDA_SUCCESS)
        return 0;
    memset((void *)(uintptr_t)addr, 0, size);
    return addr;
}

static void free_variables(void *opaque, uint64_t addr) {
    const struct sim_space *space = opaque;
    struct sim_block block;

    /* With its context, the block may have gone before. */
    if (sim_memory_find(addr, &block) && block.owner == space->owner && block.base == addr)
        sim_memory_free(&block);
}

struct ptx_memory sim_space_memory(struct sim_space *space) {
    return (struct ptx_memory){
        .resolve = resolve,
        .range = range,
        .alloc = alloc_variables,
        .free = free_variables,
        .opaque = space,
    };
}
