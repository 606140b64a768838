// SPDX-License-Identifier: Apache-2.0
/* cp.async: cu/async.cu against what it should give. */
#include "support.h"
#include "tests.h"

void test_async_stages(void **state) {
    struct ptx_module *m = load_file("async.ptx");
    int threads = 96, n = 5, words = threads * n * 4;
    int *in = dev_alloc((size_t)words * 4), *out = dev_alloc((size_t)words * 4);

    (void)state;
    for (int i = 0; i < words; i++)
        in[i] = i * 7;
    run_kernel(m, "stages",
               (struct run){.grid = 1, .block = (unsigned)threads, .shared = 2u * 16 * 96}, ARG(in),
               ARG(out), ARG(n));
    for (int i = 0; i < words; i++) {
        int stage = i / (threads * 4), thread = i / 4 % threads;
        assert_int_equal(out[i], in[(stage * threads + threads - 1 - thread) * 4 + i % 4]);
    }
    n = 1001;
    run_kernel(m, "by_group", (struct run){.grid = 1, .block = 64, .shared = 4004}, ARG(in),
               ARG(out), ARG(n));
    for (int i = 0; i < n; i++)
        assert_int_equal(out[i], in[n - 1 - i]);
    ptx_module_unload(m);
}

void test_async_parts(void **state) {
    struct ptx_module *m = load_file("async.ptx");
    uint8_t *in = dev_alloc(64 * 8), *enough = dev_alloc(61 * 8 + 7);
    uint8_t *few = dev_alloc(61 * 8 + 6);
    int64_t *out = dev_alloc(64 * 8);

    (void)state;
    for (int i = 0; i < 64 * 8; i++)
        in[i] = (uint8_t)(i * 3 + 1);
    run_kernel(m, "parts", (struct run){.grid = 1, .block = 64}, ARG(in), ARG(out));
    for (int i = 0; i < 64; i++) {
        int64_t expected = 0;
        memcpy(&expected, in + 8 * i, (size_t)(i % 9));
        assert_int_equal(out[i], expected);
    }
    /* The last thread reads seven bytes. */
    run_kernel(m, "parts", (struct run){.grid = 1, .block = 62}, ARG(enough), ARG(out));
    run_kernel(m, "parts", (struct run){.grid = 1, .block = 62, .expect = PTX_ERR_ILLEGAL_ADDRESS},
               ARG(few), ARG(out));
    ptx_module_unload(m);
}
