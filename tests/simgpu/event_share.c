// SPDX-License-Identifier: Apache-2.0
#include "event_share.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x73696d65u
#define LOOK_AGAIN_NS 20000
#define LOOKS_AT_PROCESS 500 /* times between looking whether the one that recorded it is there */

struct page {
    atomic_uint_fast64_t recorded, reached; /* numbers of records */
    atomic_uint recorder;                   /* the process of the last one */
};

struct handle {
    uint32_t magic;
    uint32_t pid;
    uint64_t token;
    uint8_t unused[48];
};

_Static_assert(sizeof(struct handle) == sizeof(CUipcEventHandle), "a handle is 64 bytes");

struct sim_event_share {
    atomic_uint refs;
    struct handle handle;
    struct page *page;
};

struct share_op {
    struct sim_op op;
    struct sim_event_share *share;
    uint64_t number; /* of the record */
};

static struct sim_event_share *map(const struct handle *handle, int fd) {
    struct sim_event_share *share = calloc(1, sizeof(*share));
    void *page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (share && page != MAP_FAILED) {
        atomic_init(&share->refs, 1);
        share->handle = *handle;
        share->page = page;
        return share;
    }
    free(share);
    if (page != MAP_FAILED)
        munmap(page, sizeof(struct page));
    return NULL;
}

struct sim_event_share *sim_event_share_new(void) {
    struct handle handle = {.magic = MAGIC, .pid = (uint32_t)getpid()};
    struct sim_event_share *share = NULL;
    char path[64];
    int fd;

    if (getrandom(&handle.token, sizeof(handle.token), 0) != sizeof(handle.token))
        return NULL;
    sim_ipc_path(path, handle.pid, handle.token);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    if (!ftruncate(fd, sizeof(struct page)))
        share = map(&handle, fd);
    close(fd);
    if (!share)
        unlink(path);
    return share;
}

CUresult sim_event_share_open(const CUipcEventHandle *from, struct sim_event_share **out) {
    struct handle handle;
    struct stat st;
    char path[64];
    int fd;

    *out = NULL;
    memcpy(&handle, from, sizeof(handle));
    if (handle.magic != MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle.pid == (uint32_t)getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_ipc_path(path, handle.pid, handle.token);
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fstat(fd, &st) && st.st_size == (off_t)sizeof(struct page))
        *out = map(&handle, fd);
    close(fd);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void sim_event_share_put(struct sim_event_share *share) {
    char path[64];

    if (!share || atomic_fetch_sub(&share->refs, 1) != 1)
        return;
    if (share->handle.pid == (uint32_t)getpid()) {
        sim_ipc_path(path, share->handle.pid, share->handle.token);
        unlink(path);
    }
    munmap(share->page, sizeof(struct page));
    free(share);
}

void sim_event_share_tell(const struct sim_event_share *share, CUipcEventHandle *handle) {
    memcpy(handle, &share->handle, sizeof(*handle));
}

static void release(struct sim_op *op) {
    sim_event_share_put(((struct share_op *)op)->share);
    free(op);
}

static struct share_op *new_op(struct sim_event_share *share, uint64_t number,
                               CUresult (*run)(struct sim_op *op, struct sim_context *context)) {
    struct share_op *op = sim_op_new(sizeof(*op), run);

    if (!op)
        return NULL;
    atomic_fetch_add(&share->refs, 1);
    op->op.release = release;
    op->share = share;
    op->number = number;
    return op;
}

/* A later record may be reached first, by another stream. */
static CUresult reach(struct sim_op *op, struct sim_context *context) {
    const struct share_op *o = (const struct share_op *)op;
    uint64_t reached = atomic_load(&o->share->page->reached);

    (void)context;
    while (reached < o->number &&
           !atomic_compare_exchange_weak(&o->share->page->reached, &reached, o->number))
        continue;
    return CUDA_SUCCESS;
}

CUresult sim_event_share_record(struct sim_event_share *share, struct sim_stream *stream) {
    uint64_t number = atomic_fetch_add(&share->page->recorded, 1) + 1;
    struct share_op *op = new_op(share, number, reach);

    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    atomic_store(&share->page->recorder, (unsigned)getpid());
    op->op.always = true; /* others wait for it, whatever became of this process' context */
    return sim_submit(stream, &op->op, NULL);
}

/* What a process that is gone recorded is over. */
static bool is_over(const struct sim_event_share *share) {
    return sim_ipc_gone(atomic_load(&share->page->recorder));
}

static void wait_for(struct sim_event_share *share, uint64_t number) {
    static const struct timespec pause = {0, LOOK_AGAIN_NS};

    for (unsigned i = 1; atomic_load(&share->page->reached) < number; i++) {
        if (__atomic_load_n(&sim_exiting, __ATOMIC_RELAXED) ||
            (i % LOOKS_AT_PROCESS == 0 && is_over(share)))
            return;
        nanosleep(&pause, NULL);
    }
}

static CUresult follow(struct sim_op *op, struct sim_context *context) {
    const struct share_op *o = (const struct share_op *)op;

    (void)context;
    wait_for(o->share, o->number);
    return CUDA_SUCCESS;
}

CUresult sim_event_share_follow(struct sim_event_share *share, struct sim_stream *stream) {
    struct share_op *op = new_op(share, atomic_load(&share->page->recorded), follow);

    return op ? sim_submit(stream, &op->op, NULL) : CUDA_ERROR_OUT_OF_MEMORY;
}

bool sim_event_share_done(struct sim_event_share *share) {
    return atomic_load(&share->page->reached) >= atomic_load(&share->page->recorded) ||
           is_over(share);
}

void sim_event_share_wait(struct sim_event_share *share) {
    wait_for(share, atomic_load(&share->page->recorded));
}
