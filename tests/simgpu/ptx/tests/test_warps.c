// SPDX-License-Identifier: Apache-2.0
/* Divergence, synchronisation, and threads that wait for each other. */
#include <pthread.h>
#include <unistd.h>

#include "support.h"
#include "tests.h"

static int collatz(int v) {
    int steps = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        if (++steps > 200)
            break;
    }
    return steps;
}

void test_divergence(void **state) {
    struct ptx_module *m = load_file("warps.ptx");
    int *in = dev_alloc(65 * 4), *out = dev_alloc(64 * 4);

    (void)state;
    for (int i = 0; i < 64; i++)
        in[i] = 1 + i * 7;
    run_kernel(m, "diverge", (struct run){.grid = 1, .block = 64}, ARG(in), ARG(out));
    for (int w = 0; w < 64; w += 32) {
        int odd = 0;
        for (int i = w; i < w + 32; i++)
            odd += collatz(in[i]) & 1;
        for (int i = w; i < w + 32; i++)
            assert_int_equal(out[i], collatz(in[i]) + 1000 * odd);
    }
    for (int i = 0; i < 65; i++)
        in[i] = i % 9;
    run_kernel(m, "pick", (struct run){.grid = 1, .block = 64}, ARG(in), ARG(out));
    for (int i = 0; i < 64; i++) {
        int want[] = {10 * i, i - 5, i * i, -3, 4, i ^ 21, 1 << (i & 15), in[i + 1], 99};
        assert_int_equal(out[i], want[i % 9]);
    }
    ptx_module_unload(m);
}

void test_waiting(void **state) {
    struct ptx_module *m = load_file("warps.ptx");
    int *mutex = dev_alloc(4), *count = dev_alloc(4), *flag = dev_alloc(4), *out = dev_alloc(4);

    (void)state;
    run_kernel(m, "lock", (struct run){.grid = 8, .block = 64, .threads = 2}, ARG(mutex),
               ARG(count));
    assert_int_equal(*count, 8 * 64);
    run_kernel(m, "producer", (struct run){.grid = 1, .block = 64}, ARG(count), ARG(flag),
               ARG(out));
    assert_int_equal(*out, 77);
    ptx_module_unload(m);
}

void test_groups(void **state) {
    struct ptx_module *m = load_file("warps.ptx");
    int *out = dev_alloc(256 * 4), *data = dev_alloc(256 * 4);

    (void)state;
    run_kernel(m, "tiles", (struct run){.grid = 1, .block = 64}, ARG(out));
    for (int i = 0; i < 64; i++) {
        int first = i & ~7, sum = 8 * first + 28, rank = 0, size = 0;
        for (int k = i & ~31; k < (i & ~31) + 32; k++) {
            size += k % 3 == 0;
            rank += k % 3 == 0 && k < i;
        }
        assert_int_equal(out[i], i % 3 ? sum : sum + 1000 * size + 100000 * rank);
    }
    run_kernel(m, "group_sum", (struct run){.grid = 1, .block = 32}, ARG(out));
    for (int i = 0; i < 32; i++) {
        unsigned mask = 0;
        for (int k = 0; k < 32; k++)
            mask |= (unsigned)(k % 5 == i % 5) << k;
        assert_int_equal(out[i], i % 5 + 100 * __builtin_popcount(mask) + 10000); /* leader */
    }
    run_kernel(m, "grid_sum", (struct run){.grid = 8, .block = 32, .cooperative = true}, ARG(data),
               ARG(out));
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], (i + 128) % 256);
    ptx_module_unload(m);
}

void test_barriers(void **state) {
    struct ptx_module *m = load_file("warps.ptx");
    int *in = dev_alloc(100 * 4), *out = dev_alloc(128 * 4), n = 100, positive = 0, five = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        in[i] = i % 7 - 3;
        positive += in[i] > 0;
        five |= in[i] == 5;
    }
    run_kernel(m, "votes", (struct run){.grid = 1, .block = 100}, ARG(in), ARG(out));
    for (int i = 0; i < 100; i++)
        assert_int_equal(out[i], positive + 1000 + 10000 * five);
    run_kernel(m, "early", (struct run){.grid = 1, .block = 128}, ARG(out), ARG(n));
    for (int i = 0; i < n; i++)
        assert_int_equal(out[i], n - 1 - i);
    ptx_module_unload(m);
}

static volatile bool cancel;

static void *cancel_soon(void *arg) {
    (void)arg;
    usleep(50000);
    cancel = true;
    return NULL;
}

void test_cancel(void **state) {
    struct ptx_module *m = load_file("warps.ptx");
    int *never = dev_alloc(4);
    pthread_t t;

    (void)state;
    cancel = false;
    pthread_create(&t, NULL, cancel_soon, NULL);
    run_kernel(m, "spin",
               (struct run){.grid = 4,
                            .block = 64,
                            .cancel = &cancel,
                            .threads = 2,
                            .expect = PTX_ERR_LAUNCH_TIMEOUT},
               ARG(never));
    pthread_join(t, NULL);
    ptx_module_unload(m);

    /* without a loop, but with blocks for hours */
    m = load_body("st.global.u32 [%out], %r0;");
    cancel = false;
    pthread_create(&t, NULL, cancel_soon, NULL);
    run_kernel(
        m, "k",
        (struct run){
            .grid = 0x7fffffff, .block = 64, .cancel = &cancel, .expect = PTX_ERR_LAUNCH_TIMEOUT},
        ARG(never), ARG(never));
    pthread_join(t, NULL);
    ptx_module_unload(m);
}

/* Kernels that could never end are faults, not hangs. */
void test_deadlock(void **state) {
    struct ptx_module *m = load_body("setp.lt.u32 %p1, %r0, 5;\n@%p1 bar.sync 1, 64;\n");
    void *none = NULL;

    (void)state;
    run_kernel(m, "k", (struct run){.grid = 1, .block = 32, .expect = PTX_ERR_LAUNCH_TIMEOUT},
               ARG(none), ARG(none));
    ptx_module_unload(m);
    m = load_body("setp.lt.u32 %p1, %r0, 5;\n@%p1 bar.warp.sync 0x3f;\n@!%p1 bar.sync 0;\n");
    run_kernel(m, "k", (struct run){.grid = 1, .block = 32, .expect = PTX_ERR_LAUNCH_TIMEOUT},
               ARG(none), ARG(none));
    ptx_module_unload(m);
}

/* Lanes of one warp meet at different bar.warp.sync instructions. */
void test_warp_sync(void **state) {
    struct ptx_module *m = load_body("mov.u32 %r1, 1;\n"
                                     "setp.lt.u32 %p1, %r0, 16;\n"
                                     "@%p1 bra LOW;\n"
                                     "bar.warp.sync 0xffffffff;\n"
                                     "mov.u32 %r1, 2;\n"
                                     "bra DONE;\n"
                                     "LOW: bar.warp.sync 0xffffffff;\n"
                                     "mov.u32 %r1, 3;\n"
                                     "DONE: mul.wide.u32 %rd1, %r0, 4;\n"
                                     "add.u64 %rd1, %out, %rd1;\n"
                                     "st.global.u32 [%rd1], %r1;\n");
    unsigned *out = dev_alloc(128);

    (void)state;
    run_kernel(m, "k", (struct run){.grid = 1, .block = 32}, ARG(out), ARG(out));
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 16 ? 3 : 2);
    ptx_module_unload(m);
}
