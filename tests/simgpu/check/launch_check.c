// SPDX-License-Identifier: Apache-2.0
/* Launches: parameters, shapes, what is refused at once, and what a fault leaves behind. */

#include "check.h"

#define COUNT 1000

static void adds_vectors(void **state) {
    float a[COUNT], b[COUNT], c[COUNT];
    CUdeviceptr pa, pb, pc;
    int n = COUNT;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        a[i] = (float)i, b[i] = (float)i / 4;
    OK(cuMemAlloc(&pa, sizeof(a)));
    OK(cuMemAlloc(&pb, sizeof(b)));
    OK(cuMemAlloc(&pc, sizeof(c)));
    OK(cuMemcpyHtoD(pa, a, sizeof(a)));
    OK(cuMemcpyHtoD(pb, b, sizeof(b)));
    OK(cuLaunchKernel(function("add"), (COUNT + 255) / 256, 1, 1, 256, 1, 1, 0, NULL,
                      (void *[]){&pa, &pb, &pc, &n}, NULL));
    OK(cuMemcpyDtoH(c, pc, sizeof(c)));
    for (int i = 0; i < COUNT; i++)
        assert_true(c[i] == a[i] + b[i]);
}

struct three {
    char c;
    double d;
    short s;
};

static void takes_parameters_in_both_forms(void **state) {
    struct {
        char c;
        struct three t;
        long l;
        CUdeviceptr out;
    } packed = {1, {2, 3.5, 4}, 5, 0};
    size_t size = sizeof(packed), offset, bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *params[] = {&packed.c, &packed.t, &packed.l, &packed.out};
    CUfunction take = function("take");
    double result = 0;

    (void)state;
    OK(cuMemAlloc(&packed.out, 8));
    OK(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH(&result, packed.out, 8));
    assert_true(result == 15.5);
    packed.l = 6;
    OK(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    packed.l = 0; /* they were taken by the call */
    OK(cuMemcpyDtoH(&result, packed.out, 8));
    assert_true(result == 16.5);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    size = 8;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));

    OK(cuFuncGetParamInfo(take, 1, &offset, &bytes));
    assert_int_equal(offset, 8);
    assert_int_equal(bytes, sizeof(struct three));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(take, 4, &offset, &bytes));
}

static CUresult shape(const char *name, unsigned grid, unsigned block, unsigned z,
                      unsigned shared) {
    CUdeviceptr p = 0;

    return cuLaunchKernel(function(name), grid, 1, 1, block, 1, z, shared, NULL, (void *[]){&p},
                          NULL);
}

static void refuses_bad_shapes_at_once(void **state) {
    (void)state;
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 0, 32, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 1, 0, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 1, 2048, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 1, 32, 64, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 1, 1, 65, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 0x80000000u, 1, 1, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("reverse", 1, 32, 1, 49153));
    FAILS(CUDA_ERROR_INVALID_VALUE, shape("bounded", 1, 65, 1, 0)); /* as native, above .maxntid */
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel((CUfunction)1, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuLaunchKernel((CUfunction)module, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize()); /* nothing of it lasts */
}

static void gives_dynamic_shared_memory(void **state) {
    int data[32], out[32], value;
    CUfunction reverse = function("reverse");
    CUdeviceptr p;

    (void)state;
    for (int i = 0; i < 32; i++)
        data[i] = i;
    OK(cuMemAlloc(&p, sizeof(data)));
    OK(cuMemcpyHtoD(p, data, sizeof(data)));
    OK(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, reverse));
    assert_int_equal(value, 100000);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
    OK(cuLaunchKernel(reverse, 1, 1, 1, 32, 1, 1, 100000, NULL, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(out, p, sizeof(out)));
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], 31 - i);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, reverse, 1024, 0));
    assert_int_equal(value, 2);
}

static void obeys_launch_attributes(void **state) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};
    CUdeviceptr p;
    int result = 0;

    (void)state;
    OK(cuMemAlloc(&p, 4));
    OK(cuLaunchKernelEx(&config, function("bounded"), (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(&result, p, 4));
    assert_int_equal(result, 1);
    config.gridDimX = 100000;
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchKernelEx(&config, function("bounded"), (void *[]){&p}, NULL));
}

static void launches_clusters(void **state) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {32, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};
    CUfunction bounded = function("bounded");
    CUdeviceptr p;
    int value;

    (void)state;
    OK(cuMemAlloc(&p, 4));
    OK(cuLaunchKernelEx(&config, bounded, (void *[]){&p}, NULL));
    OK(cuCtxSynchronize());
    attribute.value.clusterDim.x = 3; /* which the grid is no multiple of */
    FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuLaunchKernelEx(&config, bounded, (void *[]){&p}, NULL));
    attribute.value.clusterDim.x = 16;
    FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
          cuLaunchKernelEx(&config, bounded, (void *[]){&p}, NULL));
    OK(cuOccupancyMaxPotentialClusterSize(&value, bounded, &config));
    assert_int_equal(value, 8);
    OK(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, bounded));
    assert_int_equal(value, 1);
    OK(cuLaunchKernelEx(&config, bounded, (void *[]){&p}, NULL));
    OK(cuCtxSynchronize());
    attribute.value.clusterDim.x = 0;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, bounded, (void *[]){&p}, NULL));
}

/*
 * A fault is told by the next synchronisation and by everything after it, and no context can be
 * made after it: the next test has a device to itself.
 */
static void expect_fault(CUresult error) {
    CUdeviceptr p;
    CUmodule loaded;
    CUstream stream;
    CUcontext ctx;
    size_t avail, total;
    CUevent event;
    int n;

    FAILS(error, cuCtxSynchronize());
    FAILS(error, cuCtxSynchronize());
    FAILS(error, cuMemAlloc(&p, 4));
    FAILS(error, cuMemFree(4096));
    FAILS(error, cuMemGetInfo(&avail, &total));
    FAILS(error, cuStreamCreate(&stream, 0));
    FAILS(error, cuStreamQuery(NULL));
    FAILS(error, cuEventCreate(&event, 0));
    FAILS(error, cuModuleLoadData(&loaded, ".version 7.0"));
    OK(cuCtxGetCurrent(&ctx));
    OK(cuDeviceGetCount(&n));
    OK(cuCtxDestroy(context));
    FAILS(error, cuCtxCreate(&ctx, NULL, 0, device));
    device++;
    setup(NULL);
    OK(cuCtxSynchronize());
}

static void lasts_after_bad_address(void **state) {
    uint64_t address = 0;

    (void)state;
    OK(launch("store", 1, NULL, (void *[]){&address, &(int){1}}));
    expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    address = 0x123456789000;
    OK(launch("store", 1, NULL, (void *[]){&address, &(int){1}}));
    expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void lasts_after_freed_address(void **state) {
    CUdeviceptr p;

    (void)state;
    OK(cuMemAlloc(&p, 1 << 20));
    OK(cuMemFree(p));
    OK(launch("store", 1, NULL, (void *[]){&p, &(int){1}}));
    expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void lasts_after_misalignment(void **state) {
    CUdeviceptr p;

    (void)state;
    OK(cuMemAlloc(&p, 16));
    p += 2;
    OK(launch("store", 1, NULL, (void *[]){&p, &(int){1}}));
    expect_fault(CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void lasts_after_trap(void **state) {
    (void)state;
    OK(launch("give_up", 1, NULL, NULL));
    expect_fault(CUDA_ERROR_LAUNCH_FAILED);
}

static void lasts_after_assertion(void **state) {
    (void)state;
    OK(launch("insist", 1, NULL, (void *[]){&(int){1}}));
    OK(cuCtxSynchronize());
    OK(launch("insist", 1, NULL, (void *[]){&(int){2}}));
    expect_fault(CUDA_ERROR_ASSERT);
}

/* What follows a fault in the streams does not run, but ends. */
static void skips_what_follows_a_fault(void **state) {
    int *gate = new_gate(), *word = new_gate(), calls = 0;
    uint64_t address = 0;
    CUstream stream;

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    occupy(stream, gate);
    OK(launch("store", 1, stream, (void *[]){&address, &calls}));
    OK(launch("store", 1, stream, (void *[]){&word, &(int){5}}));
    open_gate(gate);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    assert_int_equal(*word, 0);
    device++;
}

/* stdout, for the time of one launch and synchronisation, in a file. */
static void prints_when_synchronised(void **state) {
    char name[] = "/tmp/simgpu-print-XXXXXX", text[256] = "";
    int file = mkstemp(name), saved;

    (void)state;
    assert_true(file >= 0);
    unlink(name);
    fflush(stdout);
    saved = dup(1);
    dup2(file, 1);
    OK(launch("say", 2, NULL, (void *[]){&(int){7}}));
    OK(cuCtxSynchronize());
    dup2(saved, 1);
    close(saved);
    assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
    close(file);
    assert_non_null(strstr(text, "kernel says 7 from 0\n"));
    assert_non_null(strstr(text, "kernel says 7 from 1\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(adds_vectors),
        TEST(takes_parameters_in_both_forms),
        TEST(refuses_bad_shapes_at_once),
        TEST(gives_dynamic_shared_memory),
        TEST(obeys_launch_attributes),
        TEST(launches_clusters),
        TEST(lasts_after_bad_address),
        TEST(lasts_after_freed_address),
        TEST(lasts_after_misalignment),
        TEST(lasts_after_trap),
        TEST(lasts_after_assertion),
        TEST(skips_what_follows_a_fault),
        TEST(prints_when_synchronised),
    };

    setenv("SIMGPU_DEVICES", "8", 1);
    return cmocka_run_group_tests_name("launch", tests, start, NULL);
}
