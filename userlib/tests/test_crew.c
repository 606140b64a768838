// SPDX-License-Identifier: Apache-2.0
/* Copies that helpers share in are whole, whoever copies meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "crew.h"

#define MOST (3u << 20)
#define THREADS 3
#define ROUNDS 150

struct copier {
    pthread_t id;
    uint32_t seed;
    int wrong;
};

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Copies of any size and alignment; what lies around them stays. */
static void *copy_some(void *arg) {
    struct copier *c = arg;
    char *src = malloc(MOST + 128), *dst = malloc(MOST + 128);

    for (size_t i = 0; i < MOST + 128; i++)
        src[i] = (char)(i * 31 + i / 4096);
    for (int round = 0; round < ROUNDS; round++) {
        size_t from = 1 + next_random(&c->seed) % 63, to = 1 + next_random(&c->seed) % 63;
        size_t bytes = next_random(&c->seed) % MOST;

        memset(dst, round, MOST + 128);
        (round % 2 ? crew_copy : crew_copy_out)(dst + to, src + from, bytes);
        c->wrong += memcmp(dst + to, src + from, bytes) != 0;
        c->wrong += dst[to - 1] != (char)round || dst[to + bytes] != (char)round;
    }
    free(src);
    free(dst);
    return NULL;
}

static void test_copies(void **state) {
    struct copier copiers[THREADS];
    int wrong = 0;

    (void)state;
    for (uint32_t i = 0; i < THREADS; i++) {
        copiers[i] = (struct copier){.seed = i + 1};
        assert_int_equal(pthread_create(&copiers[i].id, NULL, copy_some, &copiers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(copiers[i].id, NULL);
        wrong += copiers[i].wrong;
    }
    assert_int_equal(wrong, 0);
}

#define PAGE 4096ul

/* As a program does that loads its memory when it is used. */
static void make_page(int number, siginfo_t *info, void *context) {
    char *page = (char *)((uintptr_t)info->si_addr & ~(PAGE - 1));

    (void)number;
    (void)context;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    memset(page, 9, PAGE);
}

/* Pages are made by the program's handler, whichever thread comes to them. */
static void test_guarded(void **state) {
    struct sigaction action = {.sa_sigaction = make_page, .sa_flags = SA_SIGINFO}, before;
    char *dst = malloc(MOST), *src;
    size_t wrong = 0;

    (void)state;
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    for (int round = 0; round < 10; round++) {
        src = mmap(NULL, MOST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(src != MAP_FAILED);
        crew_copy(dst, src, MOST);
        for (size_t i = 0; i < MOST; i++)
            wrong += dst[i] != 9;
        munmap(src, MOST);
    }
    sigaction(SIGSEGV, &before, NULL);
    free(dst);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_guarded),
    };

    setenv("VCUDA_COPY_THREADS", "3", 1);
    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
