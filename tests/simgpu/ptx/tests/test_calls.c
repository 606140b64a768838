// SPDX-License-Identifier: Apache-2.0
/* Functions: stacks, pointers, methods, values, printf, assert; and module variables. */
#include "support.h"
#include "tests.h"

static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

void test_recursion(void **state) {
    struct ptx_module *m = load_file("calls.ptx");
    int *out = dev_alloc(64 * 4);

    (void)state;
    run_kernel(m, "recurse", (struct run){.grid = 1, .block = 64}, ARG(out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], fib(i % 16));
    run_kernel(m, "overflow", (struct run){.grid = 1, .block = 1, .expect = PTX_ERR_STACK},
               ARG(out));
    ptx_module_unload(m);
}

void test_function_pointers(void **state) {
    struct ptx_module *m = load_file("calls.ptx");
    float *out = dev_alloc(96 * 4);
    int k = 4;

    (void)state;
    for (int i = 0; i < 96; i++)
        out[i] = (float)i;
    run_kernel(m, "pointers", (struct run){.grid = 1, .block = 96}, ARG(out), ARG(k));
    for (int i = 0; i < 96; i++)
        assert_true(out[i] == (float)(i % 3 == 0 ? i + k : i % 3 == 1 ? i * k : i - k));
    for (int i = 0; i < 96; i++)
        out[i] = (float)i;
    run_kernel(m, "methods", (struct run){.grid = 1, .block = 96}, ARG(out));
    for (int i = 0; i < 96; i++)
        assert_true(out[i] == (float)((i & 1 ? 1 : 3) * i * i));
    ptx_module_unload(m);
}

struct big {
    double d[5];
    short s;
    char c[3];
};

void test_values(void **state) {
    struct ptx_module *m = load_file("calls.ptx");
    struct big in = {{1, 2, 3, 4, 5}, -7, "ab"}, *out = dev_alloc(40 * sizeof(*out));

    (void)state;
    run_kernel(m, "by_value", (struct run){.grid = 1, .block = 40}, ARG(in), ARG(out));
    for (int k = 0; k < 40; k++)
        for (int i = 0; i < 5; i++) {
            assert_true(out[k].d[i] == in.d[i] * k - 7);
            assert_int_equal(out[k].s, -7);
            assert_int_equal(out[k].c[k % 3], k);
        }
    ptx_module_unload(m);
}

void test_printf(void **state) {
    struct ptx_module *m = load_file("calls.ptx");
    long long big = 0x123456789abcdef;
    int limit = 32;

    (void)state;
    run_kernel(m, "speak", (struct run){.grid = 1, .block = 32}, ARG(big));
    assert_string_equal(printed, "-7| 2.50|text|c|123456789abcdef|%|42  |   9\n");
    run_kernel(m, "claim", (struct run){.grid = 1, .block = 32}, ARG(limit));
    limit = 20;
    run_kernel(m, "claim", (struct run){.grid = 1, .block = 32, .expect = PTX_ERR_ASSERT},
               ARG(limit));
    assert_non_null(strstr(printed, "thread: [20,0,0] Assertion `(int)threadIdx.x < limit`"));
    ptx_module_unload(m);
}

void test_variables(void **state) {
    struct ptx_module *m = load_file("calls.ptx");
    float *out = dev_alloc(16);
    uint64_t addr;
    size_t size;

    (void)state;
    run_kernel(m, "variables", (struct run){.grid = 1, .block = 1}, ARG(out));
    assert_true(out[0] == 2.5f && out[1] == 3.5f && out[2] == 'o' && out[3] == 49);
    assert_true(ptx_module_global(m, "counter", &addr, &size));
    assert_int_equal(size, 4);
    assert_int_equal(*(int *)(uintptr_t)addr, 42);
    assert_true(ptx_module_global(m, "coeff", &addr, &size));
    assert_int_equal(size, 16);
    assert_true(((float *)(uintptr_t)addr)[3] == 4.5f);
    assert_false(ptx_module_global(m, "nothing", &addr, &size));
    ptx_module_unload(m);
}
