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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies)};

    setenv("VCUDA_COPY_THREADS", "3", 1);
    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
