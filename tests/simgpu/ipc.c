// SPDX-License-Identifier: Apache-2.0
/*
 * Memory between processes: the pages of an allocation become those of a file in /dev/shm, which
 * the handle names. A process that ends leaves its files; the next that starts removes them.
 */
#include "sim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_NAME "/dev/shm"
#define MAGIC 0x73696d67u
#define TRIES 1000 /* ms that kernels may run on */

struct handle {
    uint32_t magic;
    int32_t device;
    uint32_t pid;
    uint32_t into; /* bytes of the first page before the block */
    uint64_t token;
    uint64_t size;
    uint64_t pool; /* id of the one that it is of; 0: none */
    uint8_t unused[24];
};

_Static_assert(sizeof(struct handle) == sizeof(CUipcMemHandle), "a handle is 64 bytes");

/* What this process has given, or opened. */
struct shared {
    struct shared *next;
    struct handle handle;
    uint64_t base;
    uint64_t id; /* of the block */
    unsigned opened;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared *all;

void sim_ipc_path(char path[64], uint32_t pid, uint64_t token) {
    snprintf(path, 64, DIR_NAME "/simgpu-%u-%016llx", pid, (unsigned long long)token);
}

static void path_of(char path[64], const struct handle *h) {
    sim_ipc_path(path, h->pid, h->token);
}

bool sim_ipc_gone(unsigned pid) {
    char process[32];

    snprintf(process, sizeof(process), "/proc/%u", pid);
    return access(process, F_OK) && errno == ENOENT;
}

void sim_ipc_sweep(void) {
    DIR *dir = opendir(DIR_NAME);
    struct dirent *e;
    unsigned pid;

    while (dir && (e = readdir(dir))) {
        if (sscanf(e->d_name, "simgpu-%u-", &pid) != 1)
            continue;
        if (sim_ipc_gone(pid))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

/* Under the lock: removes what was of blocks that have ended. */
static void forget_ended(void) {
    struct shared **at = &all;

    while (*at) {
        struct shared *s = *at;
        struct sim_block block;
        char path[64];

        if (sim_memory_find(s->base, &block) && block.id == s->id) {
            at = &s->next;
            continue;
        }
        path_of(path, &s->handle);
        if (s->handle.pid == (uint32_t)getpid())
            unlink(path);
        *at = s->next;
        free(s);
    }
}

void sim_ipc_forget(void) {
    pthread_mutex_lock(&lock);
    forget_ended();
    pthread_mutex_unlock(&lock);
}

static struct shared *find(uint64_t base, uint64_t token) {
    struct shared *s = all;

    while (s && s->base != base && s->handle.token != token)
        s = s->next;
    return s;
}

static bool note(const struct handle *h, const struct sim_block *block, unsigned opened) {
    struct shared *s = malloc(sizeof(*s));

    if (!s)
        return false;
    *s = (struct shared){all, *h, block->base, block->id, opened};
    all = s;
    return true;
}

/* Under the lock. */
static CUresult share(const struct sim_block *block, uint64_t pool, struct handle *h) {
    size_t into, bytes = sim_memory_pages(block, &into);
    char path[64];
    bool good = false;
    int fd;

    *h = (struct handle){.magic = MAGIC,
                         .device = block->heap->device,
                         .pid = (uint32_t)getpid(),
                         .into = (uint32_t)into,
                         .size = block->size,
                         .pool = pool};
    if (getrandom(&h->token, sizeof(h->token), 0) != sizeof(h->token))
        return CUDA_ERROR_OPERATING_SYSTEM;
    path_of(path, h);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    for (int i = 0; i < TRIES && !good && !ftruncate(fd, (off_t)bytes); i++) {
        good = sim_memory_share(block, fd);
        if (!good)
            usleep(1000);
    }
    close(fd);
    if (good && note(h, block, 0))
        return CUDA_SUCCESS;
    unlink(path);
    return CUDA_ERROR_NOT_SUPPORTED; /* its pages hold another shared block, or kernels run on */
}

CUresult sim_ipc_give(const struct sim_block *block, uint64_t pool, void *handle) {
    CUresult result = CUDA_SUCCESS;
    struct handle h;
    struct shared *s;

    pthread_mutex_lock(&lock);
    forget_ended();
    s = find(block->base, 0);
    if (s)
        h = s->handle;
    else
        result = share(block, pool, &h);
    pthread_mutex_unlock(&lock);
    if (result == CUDA_SUCCESS)
        memcpy(handle, &h, sizeof(h));
    return result;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    struct sim_block block;
    SIM_ENTER(context);

    if (!pHandle || !sim_memory_find(dptr, &block) || block.kind != SIM_MEMORY_DEVICE || block.pool)
        return CUDA_ERROR_INVALID_VALUE;
    sim_context_wait(context, SIM_ALL_STREAMS);
    return sim_ipc_give(&block, 0, pHandle);
}

/* Under the lock. */
static CUresult import(const struct sim_space *space, const struct handle *h, uint64_t *address) {
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct sim_block block;
    struct stat st;
    char path[64];
    int fd;

    path_of(path, h);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fstat(fd, &st) && h->size && (uint64_t)st.st_size >= h->into + h->size &&
        h->size <= space->heap->limit)
        result = sim_memory_import(space, fd, h->size, h->into, &block);
    close(fd);
    if (result != CUDA_SUCCESS)
        return result;
    *address = block.base;
    return note(h, &block, 1) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_ipc_take(const struct sim_space *space, uint64_t pool, const void *handle,
                      uint64_t *address) {
    CUresult result = CUDA_SUCCESS;
    struct handle h;
    struct shared *s;

    memcpy(&h, handle, sizeof(h));
    if (h.magic != MAGIC || h.device != space->heap->device || h.into >= 4096 || h.pool != pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (h.pid == (uint32_t)getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    forget_ended();
    s = find(0, h.token);
    if (s) {
        s->opened++;
        *address = s->base;
    } else {
        result = import(space, &h, address);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
    struct sim_space space;
    uint64_t address = 0;
    CUresult result;
    SIM_ENTER(context);

    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    space = sim_context_space(context);
    result = sim_ipc_take(&space, 0, &handle, &address);
    *pdptr = address;
    return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
    return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct sim_block block;
    struct shared *s;
    SIM_ENTER(context);

    if (!dptr || !sim_memory_find(dptr, &block) || block.base != dptr ||
        block.kind != SIM_MEMORY_IMPORTED || block.pool)
        return CUDA_ERROR_INVALID_VALUE;
    sim_context_wait(context, SIM_ALL_STREAMS);
    pthread_mutex_lock(&lock);
    s = find(dptr, 0);
    if (s && s->opened) {
        result = CUDA_SUCCESS;
        if (--s->opened == 0)
            sim_memory_free(&block);
    }
    forget_ended();
    pthread_mutex_unlock(&lock);
    return result;
}
