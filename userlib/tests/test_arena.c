// SPDX-License-Identifier: Apache-2.0
/*
 * The arena's book-keeping, over memory that this file gives it in place of a
 * session's: blocks never overlap, come back, and are found.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "arena.h"
#include "guest.h"
#include "register.h"
#include "session.h"
#include "wire.h"

#define PAGE 4096u
#define REGION (8u << 20) /* what the arena asks for at least */

struct session session;

static struct thread thread;
static uint32_t regions; /* made so far */
static bool live[256];
static uint64_t bytes_live, bytes_max = UINT64_MAX;
static uint32_t offered; /* to the worker */
static int add_error, offer_error;
static CUresult map_result;

CUresult wire_map_region(struct thread *t, uint32_t region, uint64_t address, uint64_t bytes,
                         uint32_t *registered) {
    (void)t;
    (void)region;
    (void)address;
    (void)bytes;
    *registered = 1;
    return map_result;
}

static int region_add(struct transport *t, uint64_t bytes, uint32_t *region) {
    (void)t;
    if (add_error)
        return add_error;
    if (bytes_live + bytes > bytes_max)
        return -EDQUOT;
    for (*region = 1; live[*region];)
        ++*region;
    assert_in_range(*region, 1, 255);
    live[*region] = true;
    bytes_live += bytes;
    regions++;
    return 0;
}

static void region_del(struct transport *t, uint32_t region, uint64_t bytes) {
    (void)t;
    assert_true(live[region]);
    live[region] = false;
    bytes_live -= bytes;
}

CUresult wire_share_region(struct thread *t, uint32_t region, uint64_t address, uint64_t bytes) {
    (void)t;
    (void)region;
    (void)address;
    (void)bytes;
    return map_result;
}

static sem_t *unsharing; /* told of a worker that takes its time, once */

CUresult wire_unshare_region(struct thread *t, uint32_t region) {
    (void)t;
    (void)region;
    if (unsharing) {
        sem_t *told = unsharing;

        unsharing = NULL;
        sem_post(told);
        usleep(100000);
    }
    return CUDA_SUCCESS;
}

bool register_find(const void *p, size_t bytes, struct arena_block *block) {
    (void)p;
    (void)bytes;
    (void)block;
    return false;
}

static int region_map(struct transport *t, uint32_t region, void *address, uint64_t bytes,
                      enum transport_place place) {
    (void)t;
    (void)region;
    (void)place;
    return mmap(address, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == address
               ? 0
               : -errno;
}

static int region_offer(struct transport *t, uint32_t region, uint64_t bytes) {
    (void)t;
    (void)bytes;
    assert_true(live[region]);
    offered++;
    return offer_error;
}

static int setup(void **state) {
    (void)state;
    session.transport.region_add = region_add;
    session.transport.region_map = region_map;
    session.transport.region_offer = region_offer;
    session.transport.region_del = region_del;
    return 0;
}

static char *alloc(size_t bytes) {
    void *p = NULL;

    assert_int_equal(arena_alloc(&thread, bytes, ARENA_PINNED, 0, &p), CUDA_SUCCESS);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % PAGE, 0);
    return p;
}

/* First of all tests: the program sits where the arena would begin. */
static void test_steps_over_the_programs_mapping(void **state) {
    void *first = (void *)0x200000000000ull;
    char *own, *p;

    (void)state;
    own = mmap(first, PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(own, first);
    *own = 'x';
    p = alloc(PAGE);
    assert_true(p != own);
    memset(p, 'y', PAGE);
    assert_int_equal(*own, 'x');
    assert_int_equal(arena_free(p, ARENA_PINNED), CUDA_SUCCESS);
    munmap(own, PAGE);
}

static void test_sizes(void **state) {
    void *p;

    (void)state;
    assert_int_equal(arena_alloc(&thread, 0, ARENA_PINNED, 0, &p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(arena_alloc(&thread, SIZE_MAX, ARENA_PINNED, 0, &p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(arena_alloc(&thread, 1ull << 50, ARENA_PINNED, 0, &p),
                     CUDA_ERROR_OUT_OF_MEMORY);
}

static void test_find(void **state) {
    struct arena_block block;
    char *p = alloc(PAGE + 100);
    char on_stack;

    (void)state;
    assert_true(arena_find(p, PAGE + 100, &block));
    assert_ptr_equal(block.start, p);
    assert_int_equal(block.size, PAGE + 100);
    assert_true(arena_find(p + PAGE + 99, 1, &block));
    assert_false(arena_find(p + PAGE, 2 * PAGE, &block));
    assert_false(arena_find(p, SIZE_MAX, &block));
    assert_false(arena_find(&on_stack, 1, &block));
    assert_false(arena_find(NULL, 1, &block));
    assert_int_equal(arena_free(p + PAGE, ARENA_PINNED), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(arena_free(p, ARENA_PINNED), CUDA_SUCCESS);
    assert_int_equal(arena_free(p, ARENA_PINNED), CUDA_ERROR_INVALID_VALUE);
    assert_false(arena_find(p, 1, &block));
}

/* All that comes back joins: the same region then holds one block as large as itself. */
static void test_joins_what_is_free(void **state) {
    char *blocks[64];
    uint32_t before;
    char *all = alloc(REGION);

    (void)state;
    assert_int_equal(arena_free(all, ARENA_PINNED), CUDA_SUCCESS);
    before = regions;
    for (int i = 0; i < 64; i++)
        blocks[i] = alloc(REGION / 128);
    for (int i = 0; i < 64; i++)
        assert_int_equal(arena_free(blocks[(i * 29) % 64], ARENA_PINNED), CUDA_SUCCESS);
    assert_ptr_equal(alloc(REGION), all);
    assert_int_equal(regions, before);
    assert_int_equal(arena_free(all, ARENA_PINNED), CUDA_SUCCESS);
}

/* Each block is filled with its number: an overlap would show. */
static void test_never_overlap(void **state) {
    enum { BLOCKS = 50, ROUNDS = 3000 };
    struct {
        unsigned char *p;
        size_t bytes;
    } blocks[BLOCKS] = {0};
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int i;

        seed = seed * 1664525u + 1013904223u;
        i = (int)(seed >> 8) % BLOCKS;
        if (blocks[i].p) {
            for (size_t at = 0; at < blocks[i].bytes; at += PAGE / 2)
                assert_int_equal(blocks[i].p[at], i);
            assert_int_equal(arena_free(blocks[i].p, ARENA_PINNED), CUDA_SUCCESS);
            blocks[i].p = NULL;
            continue;
        }
        blocks[i].bytes = 1 + (seed >> 12) % (40 * PAGE);
        blocks[i].p = (unsigned char *)alloc(blocks[i].bytes);
        for (size_t at = 0; at < blocks[i].bytes; at += PAGE / 2)
            blocks[i].p[at] = (unsigned char)i;
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].p)
            assert_int_equal(arena_free(blocks[i].p, ARENA_PINNED), CUDA_SUCCESS);
}

static void test_limits(void **state) {
    uint32_t offers = offered;
    uint64_t before;
    void *p;

    (void)state;
    add_error = -EDQUOT;
    assert_int_equal(arena_alloc(&thread, 2 * REGION, ARENA_PINNED, 0, &p),
                     CUDA_ERROR_OUT_OF_MEMORY);
    add_error = -EPIPE;
    assert_int_equal(arena_alloc(&thread, 2 * REGION, ARENA_PINNED, 0, &p), VCUDA_ERROR_LOST);
    add_error = 0;
    before = bytes_live;
    /* More than there are addresses: the worker need not hear of that region. */
    assert_int_equal(arena_alloc(&thread, 2ull << 40, ARENA_PINNED, 0, &p),
                     CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(offered, offers);
    offer_error = -ENOBUFS;
    assert_int_equal(arena_alloc(&thread, 2 * REGION, ARENA_PINNED, 0, &p),
                     CUDA_ERROR_OUT_OF_MEMORY);
    offer_error = 0;
    assert_int_equal(bytes_live, before);
    map_result = CUDA_ERROR_OUT_OF_MEMORY;
    assert_int_equal(arena_alloc(&thread, 2 * REGION, ARENA_PINNED, 0, &p),
                     CUDA_ERROR_OUT_OF_MEMORY);
    map_result = CUDA_SUCCESS;
    assert_int_equal(arena_free(alloc(2 * REGION), ARENA_PINNED), CUDA_SUCCESS);
}

/* What is free beyond some goes, whole regions, and its addresses come again. */
static void test_shrinks(void **state) {
    char *blocks[4], *piece;
    uint64_t before;

    (void)state;
    arena_shrink(&thread);
    before = bytes_live;
    for (int i = 0; i < 4; i++)
        blocks[i] = alloc(48u << 20);
    assert_int_equal(bytes_live, before + (192u << 20));
    piece = alloc(PAGE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(arena_free(blocks[i], ARENA_PINNED), CUDA_SUCCESS);
    arena_shrink(&thread);
    assert_in_range(bytes_live, before, before + (64u << 20));
    memset(piece, 'x', PAGE);
    assert_int_equal(arena_free(piece, ARENA_PINNED), CUDA_SUCCESS);
    for (int i = 0; i < 40000; i++) { /* more than there are addresses */
        char *p = alloc(512u << 20);

        *p = 'x';
        assert_int_equal(arena_free(p, ARENA_PINNED), CUDA_SUCCESS);
        arena_shrink(&thread);
    }
}

/* At a limit, what is kept for later is no reason to refuse. */
static void test_makes_room(void **state) {
    char *small = alloc(24u << 20), *large;

    (void)state;
    arena_shrink(&thread);
    assert_int_equal(arena_free(small, ARENA_PINNED), CUDA_SUCCESS);
    bytes_max = bytes_live;
    large = alloc(32u << 20);
    bytes_max = UINT64_MAX;
    assert_int_equal(arena_free(large, ARENA_PINNED), CUDA_SUCCESS);
}

static void *shrink(void *unused) {
    arena_shrink(&thread);
    return unused;
}

/* Nor is what another thread is giving back at this moment. */
static void test_waits_for_room(void **state) {
    char *large = alloc(96u << 20);
    pthread_t shrinker;
    sem_t begun;

    (void)state;
    assert_int_equal(arena_free(large, ARENA_PINNED), CUDA_SUCCESS);
    bytes_max = bytes_live;
    sem_init(&begun, 0, 0);
    unsharing = &begun;
    assert_int_equal(pthread_create(&shrinker, NULL, shrink, NULL), 0);
    sem_wait(&begun);
    large = alloc(96u << 20);
    assert_int_equal(pthread_join(shrinker, NULL), 0);
    bytes_max = UINT64_MAX;
    assert_int_equal(arena_free(large, ARENA_PINNED), CUDA_SUCCESS);
}

static void *take_waiting(void *unused) {
    (void)unused;
    return arena_stage_take(true);
}

/* Last: staging areas are made once, and none is the program's. */
static void test_stages(void **state) {
    void *stages[ARENA_STAGES], *got;
    struct arena_block block;
    pthread_t taker;

    (void)state;
    assert_int_equal(arena_start(NULL), CUDA_SUCCESS);
    for (int i = 0; i < ARENA_STAGES; i++) {
        stages[i] = arena_stage_take(false);
        assert_non_null(stages[i]);
        memset(stages[i], i, arena_stage_bytes());
        assert_false(arena_find(stages[i], 1, &block));
        assert_int_equal(arena_free(stages[i], ARENA_PINNED), CUDA_ERROR_INVALID_VALUE);
    }
    for (int i = 0; i < ARENA_STAGES; i++)
        assert_int_equal(((char *)stages[i])[arena_stage_bytes() - 1], i);
    assert_null(arena_stage_take(false));
    assert_int_equal(pthread_create(&taker, NULL, take_waiting, NULL), 0);
    usleep(20000);
    arena_stage_give(stages[2]);
    assert_int_equal(pthread_join(taker, &got), 0);
    assert_ptr_equal(got, stages[2]);
    for (int i = 0; i < ARENA_STAGES; i++)
        arena_stage_give(stages[i]);
}

/* What is pinned in a context ends with it, and the library's own does not. */
static void test_ends_with_its_context(void **state) {
    struct arena_block block;
    void *own = NULL;
    char *kept, *gone;

    (void)state;
    thread.context = 7;
    kept = alloc(PAGE);
    assert_int_equal(arena_alloc(&thread, PAGE, ARENA_STAGING, 0, &own), CUDA_SUCCESS);
    thread.context = 8;
    gone = alloc(PAGE);
    arena_forget(8);
    assert_false(arena_find(gone, 1, &block));
    assert_int_equal(arena_free(gone, ARENA_PINNED), CUDA_ERROR_INVALID_VALUE);
    assert_true(arena_find(kept, 1, &block));
    arena_forget(7);
    assert_false(arena_find(kept, 1, &block));
    assert_int_equal(arena_free(own, ARENA_STAGING), CUDA_SUCCESS);
    thread.context = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_over_the_programs_mapping),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_joins_what_is_free),
        cmocka_unit_test(test_never_overlap),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_makes_room),
        cmocka_unit_test(test_waits_for_room),
        cmocka_unit_test(test_ends_with_its_context),
        cmocka_unit_test(test_stages),
    };

    return cmocka_run_group_tests_name("arena", tests, setup, NULL);
}
