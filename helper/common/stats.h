/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker counts, in a page that it shares with vcudad.
 *
 * The worker alone writes the numbers, with relaxed atomics; vcudad reads
 * whenever it likes and asks nobody. A worker's numbers are only ever printed, but for its state:
 * who finds no memory waits a moment for one that says that it ends.
 */
#ifndef VCUDA_HELPER_STATS_H
#define VCUDA_HELPER_STATS_H

#include <stdint.h>

enum vcuda_worker_state {
    VCUDA_WORKER_LOADING = 0, /* loads the driver */
    VCUDA_WORKER_READY = 1,   /* waits for its session */
    VCUDA_WORKER_SERVING = 2,
    VCUDA_WORKER_ENDING = 3, /* the session has ended, gives back what it held */
};

/* Name and meaning of each number that only grows. */
#define VCUDA_COUNTERS(X)                                                                          \
    X(calls, "records taken from the submission ring")                                             \
    X(posted, "of them, without a completion")                                                     \
    X(waited, "of them, with an answer")                                                           \
    X(chained, "launches that went to the driver in chains")                                       \
    X(slept, "times that the worker went to sleep for want of work or space")                      \
    X(notifications_sent, "wake-ups sent to the program")                                          \
    X(bytes_inline, "data that travelled inside records, both ways")                               \
    X(bytes_staged, "data copied through the arena for pageable memory")                           \
    X(bytes_zero_copy, "data that the GPU read or wrote in the program's own arena memory")        \
    X(errors, "calls that returned something else than CUDA_SUCCESS")

struct vcuda_stats {
    /* Who and what now. */
    uint64_t pid;
    uint64_t domid; /* VCUDA_SUPERVISE_LOCAL for the local transport */
    uint64_t session;
    uint64_t state;     /* enum vcuda_worker_state */
    uint64_t last_call; /* number (calls.tbl) of the call that was begun last */
    uint64_t pages;     /* of the program's memory that are mapped now, 4 KiB each */
    uint64_t program;   /* its process, as it says: a number of the guest; 0: not yet said */
    uint64_t light;     /* 1: the session asks NVML, and does nothing on a GPU */

#define X(name, text) uint64_t name;
    VCUDA_COUNTERS(X)
#undef X
};

/*
 * The whole page. The roster is vcudad's to write: the programs of the same domain (without Xen: of
 * the same user) that have sessions, for NVML, which must not tell of others.
 */
#define VCUDA_ROSTER_MAX 128

struct vcuda_worker_page {
    struct vcuda_stats stats;
    /* process of a worker << 32 | its program's process; 0: an empty place */
    uint64_t roster[VCUDA_ROSTER_MAX];
};

static inline const uint64_t *vcuda_roster(const struct vcuda_stats *stats) {
    return ((const struct vcuda_worker_page *)stats)->roster;
}

/* Adds to a number; any thread of the worker. */
static inline void vcuda_stats_add(uint64_t *counter, uint64_t n) {
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Adds one to a number that this thread alone writes. */
static inline void vcuda_stats_count(uint64_t *counter) {
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static inline void vcuda_stats_set(uint64_t *value, uint64_t n) {
    __atomic_store_n(value, n, __ATOMIC_RELAXED);
}

static inline uint64_t vcuda_stats_get(const uint64_t *value) {
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

#endif
