/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of all memory that the GPUs know: device memory, which lies in one range of addresses for
 * each device, and host memory that was allocated pinned or registered. Device addresses are
 * addresses of this process; whether an access is lawful, this map says.
 */
#ifndef SIMGPU_MEMORY_H
#define SIMGPU_MEMORY_H

#include "cuda_abi.h"
#include "ptx.h"

/* A device's memory. */
struct sim_heap {
    int device;
    uint64_t base;   /* of the reserved addresses; several times `limit` of them */
    size_t reserved; /* bytes */
    size_t limit;    /* bytes that may be in use */
    size_t used;     /* bytes in use */
};

/* On whose behalf memory is allocated or accessed: one context, while it is open. */
struct sim_space {
    struct sim_heap *heap;
    uint64_t owner; /* the context's id */
    CUcontext context;
    CUmemoryPool pool; /* that it comes from, or NULL */
};

enum sim_memory_kind {
    SIM_MEMORY_DEVICE,     /* cuMemAlloc, and what a pool gives: that has no owner */
    SIM_MEMORY_ARRAY,      /* an array's elements: no kernel is given its address */
    SIM_MEMORY_MODULE,     /* a module's variables */
    SIM_MEMORY_IMPORTED,   /* another process': accounted there */
    SIM_MEMORY_MAPPED,     /* cuMemMap: no owner, accounted by its physical memory */
    SIM_MEMORY_HOST,       /* cuMemHostAlloc: ours to unmap */
    SIM_MEMORY_MANAGED,    /* as the host's, but for what is said of it */
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister: the program's */
};

struct sim_block {
    uint64_t base;
    size_t size; /* bytes, as asked for */
    size_t span; /* bytes, with what rounding adds */
    enum sim_memory_kind kind;
    unsigned flags;        /* of host memory */
    struct sim_heap *heap; /* of the context it belongs to */
    bool dead;             /* freed, but a running kernel may still hold the address */
    uint64_t id;           /* never the same for two allocations */
    uint64_t owner;
    CUcontext context;
    CUmemoryPool pool;
    unsigned access;           /* of mapped memory: CUmemAccess_flags, the same for all devices */
    struct sim_memory *memory; /* of mapped memory */
    bool shared;               /* with other processes: its pages are a file's */
    /* A graph's, which comes into use and goes with its nodes: */
    bool graph;
    bool taken;       /* in the host's order: launched, and not given back */
    bool asleep;      /* in the streams' order: not in use, so that no kernel reaches it */
    bool sync_memops; /* told again, and nothing else: copies keep the host waiting anyway */
};

static inline bool sim_block_on_device(const struct sim_block *block) {
    return block->kind <= SIM_MEMORY_MAPPED;
}

/* Reserves addresses for `limit` bytes of device memory; false: there are none. */
bool sim_heap_start(struct sim_heap *heap, int device, size_t limit);
void sim_heap_info(const struct sim_heap *heap, size_t *free, size_t *total);

/* Device memory; `align` is a power of two. CUDA_ERROR_OUT_OF_MEMORY beyond the device's limit. */
CUresult sim_memory_alloc(const struct sim_space *space, enum sim_memory_kind kind, size_t size,
                          size_t align, uint64_t *addr);

/* Pinned host memory, or managed, in whole zeroed pages. */
CUresult sim_memory_alloc_host(const struct sim_space *space, enum sim_memory_kind kind,
                               size_t size, unsigned flags, uint64_t *addr);

/* The program's own memory. CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: some of it is known. */
CUresult sim_memory_register(const struct sim_space *space, uint64_t addr, size_t size,
                             unsigned flags);

/*
 * Makes a block's pages those of a file, which gets as many from offset 0 on: false if a kernel
 * runs, or others of its pages are a file's already.
 */
bool sim_memory_share(const struct sim_block *block, int fd);
/* Bytes of whole pages that hold a block, and how far into the first one it begins. */
size_t sim_memory_pages(const struct sim_block *block, size_t *into);
/* Maps a file's pages, in which `size` bytes from `into` on are another process' block. */
CUresult sim_memory_import(const struct sim_space *space, int fd, size_t size, size_t into,
                           struct sim_block *block);

/* Takes memory of the device's into use without an address, or gives it back. */
bool sim_heap_take(struct sim_heap *heap, size_t size);
void sim_heap_give(struct sim_heap *heap, size_t size);

/* Notes a mapping at block->base. CUDA_ERROR_INVALID_VALUE: something is mapped there. */
CUresult sim_memory_map(const struct sim_block *block);

/* All mappings of exactly this range get these rights; false: there is a gap, or half of one. */
bool sim_memory_set_access(uint64_t addr, size_t size, unsigned access);

/*
 * Changes the live block that holds addr, under the map's lock: what `change` says, or false if
 * there is none.
 */
bool sim_memory_change(uint64_t addr, bool (*change)(struct sim_block *block, bool value),
                       bool value);

/* The live block that holds addr; a copy, since it may go at any time. */
bool sim_memory_find(uint64_t addr, struct sim_block *out);

/* Ends the block that was found. Its addresses are not reused while any kernel runs. */
void sim_memory_free(const struct sim_block *block);

/* Ends all blocks of a context. */
void sim_memory_free_owner(uint64_t owner);

/* Bracket a kernel's run. */
void sim_memory_kernel_begins(void);
void sim_memory_kernel_ends(void);

/* vmm.c: how the memory of a mapping may be passed on. */
CUmemAllocationHandleType sim_memory_handle_types(const struct sim_block *block);

/* vmm.c: the reservation that holds addr. False: none does. */
bool sim_reservation(uint64_t addr, uint64_t *start, size_t *size);

/* peer.c: whether kernels of a context reach the memory of another one, on another device. */
bool sim_peer_reaches(uint64_t from, uint64_t to);

/* The engine's view of memory; `space` must outlive it. */
struct ptx_memory sim_space_memory(struct sim_space *space);

#endif
