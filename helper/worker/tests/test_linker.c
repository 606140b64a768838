// SPDX-License-Identifier: Apache-2.0
/* Linkers: nothing of one stays when it is destroyed, whoever still uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jit.h"
#include "linker.h"
#include "objects_free.h"
#include "worker.h"

static struct worker w;
static uint32_t states; /* that the driver has */

/* ---- a driver that links nothing ---- */

static CUresult create(unsigned int count, CUjit_option *options, void **values,
                       CUlinkState *state) {
    (void)count, (void)options, (void)values;
    *state = (CUlinkState)&states;
    __atomic_fetch_add(&states, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

static CUresult complete(CUlinkState state, void **cubin, size_t *bytes) {
    *cubin = state;
    *bytes = sizeof(states);
    return CUDA_SUCCESS;
}

static CUresult destroy(CUlinkState state) {
    assert_ptr_equal(state, &states);
    __atomic_fetch_sub(&states, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

/* ---- what linkers need of the worker's other parts ---- */

CUresult jit_options(struct jit *jit, const void *blob, uint32_t bytes) {
    (void)blob, (void)bytes;
    *jit = (struct jit){0};
    return CUDA_SUCCESS;
}

void jit_logs(struct jit *jit, char *info, uint32_t info_cap, char *error, uint32_t error_cap) {
    (void)jit, (void)info, (void)info_cap, (void)error, (void)error_cap;
}

uint32_t jit_answer(const struct jit *jit, CUresult status, struct vcuda_module_log *log) {
    (void)jit;
    log->status = status;
    return sizeof(*log);
}

bool regions_hold(struct worker *worker, uint64_t address, uint64_t bytes) {
    (void)worker, (void)address, (void)bytes;
    return true;
}

CUresult cuda_image_measure(const void *data, size_t limit, struct cuda_image *image) {
    (void)data, (void)limit, (void)image;
    return CUDA_SUCCESS;
}

/* ---- */

static uint64_t name_of(CUlinkState link) {
    struct object o = {.native = link};
    uint64_t name = objects_name(&w.objects, VCUDA_KIND_LINK, &o);

    assert_true(name != 0);
    return name;
}

static uint64_t make(void) {
    struct args_link_create a = {0};
    struct frame f = {0};

    assert_int_equal(own_link_create(&w, &f, &a), CUDA_SUCCESS);
    return name_of(a.link);
}

static CUresult finish(uint64_t name) {
    struct vcuda_module_log log;
    struct args_link_complete a = {.link_name = name, .log = &log, .log_cap = sizeof(log)};

    return own_link_complete(&w, NULL, &a);
}

static CUresult read_made(uint64_t name) {
    char made[sizeof(states)];
    struct args_link_read a = {.link_name = name, .address = (uint64_t)made, .bytes = sizeof(made)};

    return own_link_read(&w, NULL, &a);
}

static CUresult end(uint64_t name) {
    struct args_link_destroy a = {.link_name = name};

    return own_link_destroy(&w, NULL, &a);
}

static void test_made_and_destroyed(void **state) {
    uint64_t name = make();

    (void)state;
    assert_int_equal(read_made(name), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(finish(name), CUDA_SUCCESS);
    assert_int_equal(read_made(name), CUDA_SUCCESS);
    assert_int_equal(end(name), CUDA_SUCCESS);
    assert_int_equal(states, 0);
    assert_int_equal(end(name), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(finish(name), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(read_made(name), CUDA_ERROR_INVALID_VALUE);
}

static void test_code_is_read_and_destroyed(void **state) {
    CUlinkState link;
    uint64_t name;

    (void)state;
    assert_int_equal(linker_of_code(calloc(1, sizeof(states)), sizeof(states), &link),
                     CUDA_SUCCESS);
    name = name_of(link);
    assert_int_equal(finish(name), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(read_made(name), CUDA_SUCCESS);
    assert_int_equal(end(name), CUDA_SUCCESS);
    assert_int_equal(read_made(name), CUDA_ERROR_INVALID_VALUE);
}

static void *use_and_end(void *name) {
    finish(*(uint64_t *)name);
    read_made(*(uint64_t *)name);
    return (void *)(uintptr_t)end(*(uint64_t *)name);
}

/* One of them destroys it, and the sanitizer finds nothing used or lost. */
static void test_threads_at_a_time(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        uint64_t name = make();
        pthread_t threads[3];
        int ended = 0;

        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, use_and_end, &name), 0);
        for (int i = 0; i < 3; i++) {
            void *r;

            pthread_join(threads[i], &r);
            ended += (CUresult)(uintptr_t)r == CUDA_SUCCESS;
        }
        assert_int_equal(ended, 1);
        assert_int_equal(states, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_and_destroyed),
        cmocka_unit_test(test_code_is_read_and_destroyed),
        cmocka_unit_test(test_threads_at_a_time),
    };
    int failed;

    objects_init(&w.objects);
    w.driver.cuLinkCreate_v2 = create;
    w.driver.cuLinkComplete = complete;
    w.driver.cuLinkDestroy = destroy;
    failed = cmocka_run_group_tests_name("linker", tests, NULL, NULL);
    objects_free(&w.objects);
    return failed;
}
