// SPDX-License-Identifier: Apache-2.0
#include "crew.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "barrier.h"
#include "own_thread.h"
#include "pace.h"
#include "spin.h"

#define SLICE_BYTES (32u << 10)   /* what a thread takes at a time: little, all wait for the last */
#define HELPER_BYTES (256u << 10) /* of a copy, for each helper */
#define HELPERS_MAX 15
#define HELPERS_DEFAULT_MAX 3
/* How long a helper looks for the next copy: the pieces of one program's copy follow each other. */
#define LOOK_NS 100000u

/*
 * One copy at a time. `ticket` is its number and the next slice that nobody has: who wants a slice
 * reads the ticket, then the copy, and takes the slice only if the ticket is still the one that was
 * read; so nobody copies by what has become of another copy.
 */
static struct {
    pthread_mutex_t owner;
    long helpers; /* -1: not started yet */
    char *dst;
    const char *src;
    size_t bytes;
    uint32_t out; /* past the caches */
    uint64_t ticket;
    uint32_t done; /* slices */
    uint32_t news; /* futex: the number of the copy */
    uint32_t asleep;
    uint32_t places;                      /* helpers that this copy may still have */
    struct pace pace[2][HELPERS_MAX + 1]; /* by `out` and by how many a copy could have */
} crew = {.owner = PTHREAD_MUTEX_INITIALIZER, .helpers = -1};

#define TICKET(number, slice) ((uint64_t)(number) << 32 | (slice))
#define NO_SLICE UINT32_MAX

static uint32_t slices(size_t bytes) {
    return (uint32_t)((bytes + SLICE_BYTES - 1) / SLICE_BYTES);
}

/*
 * Aligned in the middle, where 32 bytes at a time leave for memory: their lines are not read first,
 * and the GPU need not ask a processor's cache for them.
 */
__attribute__((target("avx"))) static void stream_avx(char *dst, const char *src, size_t bytes) {
    size_t head = -(uintptr_t)dst & 31;

    memcpy(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
    for (; bytes >= 128; dst += 128, src += 128, bytes -= 128) {
        __m256i a = _mm256_loadu_si256((const __m256i *)src);
        __m256i b = _mm256_loadu_si256((const __m256i *)(src + 32));
        __m256i c = _mm256_loadu_si256((const __m256i *)(src + 64));
        __m256i d = _mm256_loadu_si256((const __m256i *)(src + 96));

        _mm256_stream_si256((__m256i *)dst, a);
        _mm256_stream_si256((__m256i *)(dst + 32), b);
        _mm256_stream_si256((__m256i *)(dst + 64), c);
        _mm256_stream_si256((__m256i *)(dst + 96), d);
    }
    _mm_sfence();
    memcpy(dst, src, bytes);
}

static void copy_slice(char *dst, const char *src, size_t bytes, bool out) {
    if (out && bytes >= SLICE_BYTES && __builtin_cpu_supports("avx"))
        stream_avx(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
}

/* Copies slices until all are taken. */
static void take_slices(void) {
    uint64_t ticket = vcuda_load_acquire(&crew.ticket);

    for (;;) {
        char *dst = vcuda_load_once(&crew.dst);
        const char *src = vcuda_load_once(&crew.src);
        size_t bytes = vcuda_load_once(&crew.bytes), at, n;
        bool out = vcuda_load_once(&crew.out);

        at = (size_t)(uint32_t)ticket * SLICE_BYTES;
        if (at >= bytes)
            return;
        if (!__atomic_compare_exchange_n(&crew.ticket, &ticket, ticket + 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        n = bytes - at < SLICE_BYTES ? bytes - at : SLICE_BYTES;
        copy_slice(dst + at, src + at, n, out);
        __atomic_fetch_add(&crew.done, 1, __ATOMIC_RELEASE);
        ticket++;
    }
}

/* since: when it last had something to do. */
static void sleep_for_news(uint32_t seen, uint64_t since) {
    while (vcuda_load_once(&crew.news) == seen) {
        for (int i = 0; i < 64 && vcuda_load_once(&crew.news) == seen; i++)
            _mm_pause();
        if (vcuda_now_ns() - since < LOOK_NS)
            continue;
        __atomic_fetch_add(&crew.asleep, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &crew.news, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        __atomic_fetch_sub(&crew.asleep, 1, __ATOMIC_SEQ_CST);
    }
}

static bool take_place(void) {
    uint32_t places = vcuda_load_once(&crew.places);

    while (places && !__atomic_compare_exchange_n(&crew.places, &places, places - 1, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
    return places;
}

static void *helper(void *unused) {
    uint64_t since = vcuda_now_ns();
    uint32_t seen = 0;

    for (;;) {
        sleep_for_news(seen, since);
        seen = vcuda_load_acquire(&crew.news);
        if (!take_place())
            continue;
        take_slices();
        since = vcuda_now_ns();
    }
    return unused;
}

static long helpers_wanted(void) {
    const char *fixed = getenv("VCUDA_COPY_THREADS");
    long n = fixed ? strtol(fixed, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN) / 4;
    long most = fixed ? HELPERS_MAX : HELPERS_DEFAULT_MAX;

    return n < 0 ? 0 : n < most ? n : most;
}

/* By the owner, once. */
static void start(void) {
    crew.helpers = 0;
    while (crew.helpers < helpers_wanted() && own_thread_start(helper))
        crew.helpers++;
}

/* By the owner, when no slice of the copy before is left. */
static void share(void *dst, const void *src, size_t bytes, bool out, uint32_t wanted) {
    uint32_t number = crew.news + 1, awake;

    /* Who still holds the last ticket must not take a slice by what is half written. */
    vcuda_store_once(&crew.ticket, TICKET(number, NO_SLICE));
    vcuda_full_barrier();
    vcuda_store_once(&crew.bytes, bytes);
    vcuda_store_once(&crew.dst, (char *)dst);
    vcuda_store_once(&crew.src, (const char *)src);
    vcuda_store_once(&crew.out, (uint32_t)out);
    vcuda_store_once(&crew.done, 0u);
    vcuda_store_once(&crew.places, wanted);
    vcuda_store_release(&crew.ticket, TICKET(number, 0));
    __atomic_store_n(&crew.news, number, __ATOMIC_SEQ_CST);
    awake = (uint32_t)crew.helpers - __atomic_load_n(&crew.asleep, __ATOMIC_SEQ_CST);
    if (wanted > awake)
        syscall(SYS_futex, &crew.news, FUTEX_WAKE_PRIVATE, wanted - awake, NULL, NULL, 0);
    take_slices();
    /* A helper that holds a slice may have lost its processor. */
    for (int i = 0; vcuda_load_acquire(&crew.done) != slices(bytes); i++) {
        if (i < 1000)
            _mm_pause();
        else
            sched_yield();
    }
}

/* By the owner: with as many helpers as have turned out well. */
static void copy_helped(void *dst, const void *src, size_t bytes, bool out) {
    size_t most = bytes / HELPER_BYTES;
    uint32_t helpers;
    struct pace *pace;
    uint64_t since;

    if (most > (size_t)crew.helpers)
        most = (size_t)crew.helpers;
    pace = &crew.pace[out][most];
    helpers = pace_helpers(pace, (uint32_t)most);
    since = vcuda_now_ns();
    if (helpers)
        share(dst, src, bytes, out, helpers);
    else
        copy_slice(dst, src, bytes, out);
    pace_learn(pace, (uint32_t)most, bytes, vcuda_now_ns() - since);
}

static void copy(void *dst, const void *src, size_t bytes, bool out) {
    if (bytes >= HELPER_BYTES && !pthread_mutex_trylock(&crew.owner)) {
        bool helped;

        if (crew.helpers < 0)
            start();
        helped = crew.helpers > 0;
        if (helped)
            copy_helped(dst, src, bytes, out);
        pthread_mutex_unlock(&crew.owner);
        if (helped)
            return;
    }
    copy_slice(dst, src, bytes, out);
}

void crew_copy(void *dst, const void *src, size_t bytes) {
    copy(dst, src, bytes, false);
}

void crew_copy_out(void *dst, const void *src, size_t bytes) {
    copy(dst, src, bytes, true);
}
