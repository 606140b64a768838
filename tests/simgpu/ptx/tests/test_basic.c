// SPDX-License-Identifier: Apache-2.0
/* Whole kernels as nvcc makes them, against the same computation on the host. */
#include <math.h>

#include "support.h"
#include "tests.h"

static unsigned next_random(void) {
    static unsigned state = 12345;
    return state = state * 1664525u + 1013904223u;
}

static float random_float(void) {
    return (float)(next_random() >> 8) / (1 << 24) - 0.5f;
}

void test_vector_add(void **state) {
    struct ptx_module *m = load_file("basic.ptx");
    int n = 10000;
    float *a = dev_alloc(n * 4), *b = dev_alloc(n * 4), *c = dev_alloc(n * 4);

    (void)state;
    for (int i = 0; i < n; i++) {
        a[i] = random_float();
        b[i] = random_float();
    }
    run_kernel(m, "vadd", (struct run){.grid = 40, .block = 256}, ARG(a), ARG(b), ARG(c), ARG(n));
    for (int i = 0; i < n; i++)
        assert_true(c[i] == a[i] + b[i]);
    ptx_module_unload(m);
}

void test_matmul(void **state) {
    struct ptx_module *m = load_file("basic.ptx");
    int n = 64;
    float *a = dev_alloc(n * n * 4), *b = dev_alloc(n * n * 4), *c = dev_alloc(n * n * 4);

    (void)state;
    for (int i = 0; i < n * n; i++) {
        a[i] = random_float();
        b[i] = random_float();
    }
    run_kernel(m, "matmul", (struct run){.grid = 4, .grid_y = 4, .block = 16, .block_y = 16},
               ARG(a), ARG(b), ARG(c), ARG(n));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum = fmaf(a[y * n + k], b[k * n + x], sum);
            assert_true(c[y * n + x] == sum);
        }
    ptx_module_unload(m);
}

void test_reduce(void **state) {
    struct ptx_module *m = load_file("basic.ptx");
    int n = 100000, *in = dev_alloc(n * 4), *out = dev_alloc(4);
    unsigned sum = 0;

    (void)state;
    for (int i = 0; i < n; i++)
        sum += (unsigned)(in[i] = (int)next_random());
    run_kernel(m, "reduce", (struct run){.grid = 13, .block = 192}, ARG(in), ARG(out), ARG(n));
    assert_int_equal(*out, (int)sum);
    ptx_module_unload(m);
}

void test_histogram(void **state) {
    struct ptx_module *m = load_file("basic.ptx");
    int n = 100000;
    unsigned char *in = dev_alloc(n);
    unsigned *out = dev_alloc(256 * 4), want[256] = {0};

    (void)state;
    for (int i = 0; i < n; i++)
        want[in[i] = (unsigned char)(next_random() >> 20)]++;
    run_kernel(m, "histogram", (struct run){.grid = 16, .block = 128, .shared = 1024}, ARG(in),
               ARG(out), ARG(n));
    assert_memory_equal(out, want, sizeof(want));
    ptx_module_unload(m);
}

void test_em_step(void **state) {
    struct ptx_module *m = load_file("basic.ptx");
    int n = 1000, k = 5;
    float *x = dev_alloc(n * 4), *w = dev_alloc(k * 4), *mean = dev_alloc(k * 4),
          *var = dev_alloc(k * 4), *resp = dev_alloc(n * k * 4), *ll = dev_alloc(n * 4);

    (void)state;
    for (int i = 0; i < n; i++)
        x[i] = 20 * random_float();
    for (int j = 0; j < k; j++) {
        w[j] = 0.2f;
        mean[j] = 4.0f * j - 8;
        var[j] = 1 + 0.5f * j;
    }
    run_kernel(m, "em_step", (struct run){.grid = 8, .block = 128}, ARG(x), ARG(w), ARG(mean),
               ARG(var), ARG(resp), ARG(ll), ARG(n), ARG(k));
    for (int i = 0; i < n; i++) {
        double p[5], total = 0;
        for (int j = 0; j < k; j++) {
            double d = x[i] - mean[j];
            p[j] = w[j] * exp(-0.5 * d * d / var[j]) / sqrt(6.283185307179586 * var[j]);
            total += p[j];
        }
        for (int j = 0; j < k; j++)
            assert_true(fabs(resp[i * k + j] - p[j] / total) < 2e-5);
        assert_true(fabs(ll[i] - log(total)) < 1e-4 * (1 + fabs(log(total))));
    }
    ptx_module_unload(m);
}
