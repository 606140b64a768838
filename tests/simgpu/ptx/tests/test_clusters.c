// SPDX-License-Identifier: Apache-2.0
/* Clusters: cu/clusters.cu against what it should give. */
#include "support.h"
#include "tests.h"

static void expect(const int *out, int at, int rank, int blocks, int x, int y, int size, int id_y,
                   int clusters_x, int is_explicit) {
    const int should[8] = {rank, blocks, x, y, size, id_y, clusters_x, is_explicit};

    for (int k = 0; k < 8; k++)
        assert_int_equal(out[at * 8 + k], should[k]);
}

void test_cluster_places(void **state) {
    struct ptx_module *m = load_file("clusters.ptx");
    int *out = dev_alloc(8 * 4 * 8 * 4), *two = dev_alloc(4 * 4);

    (void)state;
    run_kernel(m, "places",
               (struct run){.grid = 8, .grid_y = 4, .block = 32, .cluster_x = 4, .cluster_y = 2},
               ARG(out));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            expect(out, x + 8 * y, x % 4 + 4 * (y % 2), 8, x % 4, y % 2, 42, y / 2, 2, 1);
    run_kernel(m, "places", (struct run){.grid = 3, .grid_y = 2, .block = 1}, ARG(out));
    for (int k = 0; k < 6; k++)
        expect(out, k, 0, 1, 0, 0, 11, k / 3, 3, 0);
    run_kernel(m, "fixed", (struct run){.grid = 4, .block = 1, .cluster_x = 2, .cluster_y = 1},
               ARG(two));
    for (int k = 0; k < 4; k++)
        assert_int_equal(two[k], k % 2);
    ptx_module_unload(m);
}

/* The number of each block goes round; every thread of the block before adds 1 each time. */
static void check_ring(struct ptx_module *m, int size, bool cooperative) {
    int blocks = 32, threads = 96, rounds = 5, *out = dev_alloc((size_t)blocks * 12);

    run_kernel(m, "ring",
               (struct run){.grid = (unsigned)blocks,
                            .block = (unsigned)threads,
                            .cluster_x = (unsigned)size,
                            .cluster_y = 1,
                            .cooperative = cooperative},
               ARG(out), ARG(rounds));
    for (int b = 0; b < blocks; b++) {
        int first = b / size * size, rank = b % size;
        assert_int_equal(out[b * 3], first + (rank + size * rounds - rounds) % size);
        assert_int_equal(out[b * 3 + 1], threads * rounds);
        assert_int_equal(out[b * 3 + 2], (rank + 1) % size);
    }
}

void test_cluster_memory(void **state) {
    struct ptx_module *m = load_file("clusters.ptx");
    int *out = dev_alloc(4);

    (void)state;
    for (int size = 1; size <= 16; size *= 2) {
        check_ring(m, size, false);
        check_ring(m, size, true);
    }
    run_kernel(m, "beyond",
               (struct run){.grid = 2,
                            .block = 32,
                            .cluster_x = 2,
                            .cluster_y = 1,
                            .expect = PTX_ERR_ILLEGAL_ADDRESS},
               ARG(out));
    ptx_module_unload(m);
}

void test_cluster_waits(void **state) {
    struct ptx_module *m = load_file("clusters.ptx");
    int *out = dev_alloc(12 * 4);

    (void)state;
    run_kernel(m, "leaving", (struct run){.grid = 12, .block = 90, .cluster_x = 4, .cluster_y = 1},
               ARG(out));
    for (int b = 0; b < 12; b += 4)
        assert_int_equal(out[b], 4 * 60);
    ptx_module_unload(m);
}

void test_cluster_checks(void **state) {
    struct ptx_module *m = load_file("clusters.ptx");
    struct ptx_func_info info;
    int *out = dev_alloc(64);

    (void)state;
    ptx_func_info(ptx_module_function(m, "fixed"), &info);
    assert_int_equal(info.cluster[0], 2);
    assert_int_equal(info.cluster[1], 1);
    assert_true(info.explicit_cluster);
    ptx_func_info(ptx_module_function(m, "places"), &info);
    assert_int_equal(info.cluster[0], 0);
    assert_false(info.explicit_cluster);
    run_kernel(
        m, "fixed",
        (struct run){
            .grid = 3, .block = 1, .cluster_x = 2, .cluster_y = 1, .expect = PTX_ERR_INVALID_VALUE},
        ARG(out));
    run_kernel(m, "fixed",
               (struct run){.grid = 34,
                            .block = 1,
                            .cluster_x = 17,
                            .cluster_y = 1,
                            .expect = PTX_ERR_INVALID_VALUE},
               ARG(out));
    ptx_module_unload(m);
}
