// SPDX-License-Identifier: Apache-2.0
/* Logs of the driver's compiler in the program's buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guest.h"
#include "jit.h"

#define ROOM 16

static struct {
    struct vcuda_module_log head;
    char text[2 * ROOM];
} answer;

static char info[ROOM], error[ROOM];
static CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                 CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};

/* What comes of an answer with this error log, in a buffer of that many bytes, and no other. */
static CUresult give(void **values, size_t room, const char *text, uint32_t bytes) {
    void *given[] = {info, (void *)sizeof(info), error, (void *)room};
    struct jit jit;

    memset(info, '#', sizeof(info));
    memset(error, '#', sizeof(error));
    answer.head = (struct vcuda_module_log){.status = CUDA_SUCCESS, .error_bytes = bytes};
    memcpy(answer.text, text, bytes);
    memcpy(values, given, sizeof(given));
    assert_int_equal(jit_read(&jit, 4, options, values), CUDA_SUCCESS);
    return jit_give(&jit, &answer, (uint32_t)sizeof(answer.head) + bytes);
}

static void test_logs_are_text(void **state) {
    void *values[4];

    (void)state;
    assert_int_equal(give(values, sizeof(error), "wrong", 5), CUDA_SUCCESS);
    assert_string_equal(error, "wrong");
    assert_string_equal(info, "");
    assert_int_equal((uintptr_t)values[1], 0);
    assert_int_equal((uintptr_t)values[3], 5);
}

static void test_no_byte_too_many(void **state) {
    void *values[4];

    (void)state;
    assert_int_equal(give(values, 5, "wrong", 5), CUDA_SUCCESS);
    assert_memory_equal(error, "wrong#", 6);
    assert_int_equal(give(values, 0, "", 0), CUDA_SUCCESS);
    assert_memory_equal(error, "#", 1);
    assert_int_equal(give(values, 1, "", 0), CUDA_SUCCESS);
    assert_memory_equal(error, "\0#", 2);
    assert_int_equal(give(values, 4, "wrong", 5), VCUDA_ERROR_LOST);
    assert_memory_equal(error, "#", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logs_are_text),
        cmocka_unit_test(test_no_byte_too_many),
    };

    return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}
