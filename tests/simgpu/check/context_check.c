// SPDX-License-Identifier: Apache-2.0
/* Contexts: stacks, primary contexts, and what is left of those that are gone. */
#include "check.h"

static CUcontext current(void) {
    CUcontext ctx;

    OK(cuCtxGetCurrent(&ctx));
    return ctx;
}

static void keeps_a_stack(void **state) {
    CUcontext first, second, popped;
    CUdevice dev;

    (void)state;
    assert_null(current());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
    OK(cuCtxCreate(&first, NULL, 0, 0));
    OK(cuCtxCreate(&second, NULL, CU_CTX_SCHED_BLOCKING_SYNC, 1));
    assert_ptr_equal(current(), second);
    OK(cuCtxGetDevice(&dev));
    assert_int_equal(dev, 1);
    OK(cuCtxGetDevice_v2(&dev, first));
    assert_int_equal(dev, 0);
    OK(cuCtxPopCurrent(&popped));
    assert_ptr_equal(popped, second);
    assert_ptr_equal(current(), first);
    OK(cuCtxPushCurrent(second));
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxSetCurrent(second)); /* instead of first */
    OK(cuCtxSetCurrent(NULL));
    assert_null(current());
    OK(cuCtxDestroy(first));
    OK(cuCtxDestroy(second));
}

static void *use_context(void *argument) {
    CUdeviceptr p;
    long result = cuCtxSetCurrent(argument);

    if (result == CUDA_SUCCESS)
        result = cuMemAlloc(&p, 16);
    return (void *)result;
}

static void is_shared_by_threads_but_current_in_one(void **state) {
    pthread_t thread;
    CUcontext ctx;
    void *result;

    (void)state;
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
    pthread_create(&thread, NULL, use_context, NULL);
    pthread_join(thread, &result);
    assert_int_equal((long)result, CUDA_ERROR_INVALID_CONTEXT);
    pthread_create(&thread, NULL, use_context, ctx);
    pthread_join(thread, &result);
    assert_int_equal((long)result, CUDA_SUCCESS);
    OK(cuCtxDestroy(ctx));
}

static void tells_destroyed_from_wild(void **state) {
    CUcontext ctx, second;
    unsigned version;

    (void)state;
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
    OK(cuCtxCreate(&second, NULL, 0, 0));
    OK(cuCtxPushCurrent(ctx));
    OK(cuCtxPushCurrent(second));
    OK(cuCtxDestroy(ctx)); /* which is not on top, and so stays on the stack */
    OK(cuCtxPopCurrent(NULL));
    assert_ptr_equal(current(), ctx);
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuCtxPopCurrent(NULL));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSetCurrent(ctx));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)-1));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion((CUcontext)-1, &version));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion((CUcontext)&ctx, &version));
    OK(cuCtxDestroy(second));
    OK(cuCtxSetCurrent(NULL));
    while (current())
        OK(cuCtxPopCurrent(NULL));
}

static void takes_everything_back(void **state) {
    size_t before, after, total;
    CUcontext ctx, keeper;
    CUdeviceptr p;
    CUstream stream;
    CUmodule loaded;
    char *text = kernels_text();
    void *host;

    (void)state;
    OK(cuCtxCreate(&keeper, NULL, 0, 0));
    OK(cuMemGetInfo(&before, &total));
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
    OK(cuMemAlloc(&p, 1 << 20));
    OK(cuMemAllocHost(&host, 4096));
    OK(cuStreamCreate(&stream, 0));
    OK(cuModuleLoadData(&loaded, text));
    free(text);
    OK(cuMemGetInfo(&after, &total));
    assert_true(after <= before - (1 << 20));
    OK(cuCtxDestroy(ctx));
    assert_ptr_equal(current(), keeper);
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(after, before);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(loaded));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuCtxDestroy(keeper));
}

static void counts_primary_references(void **state) {
    CUcontext first, second;
    unsigned flags;
    int active;

    (void)state;
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_false(active);
    OK(cuDevicePrimaryCtxSetFlags(1, CU_CTX_SCHED_YIELD));
    OK(cuDevicePrimaryCtxRetain(&first, 1));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    assert_ptr_equal(first, second);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_true(active);
    assert_int_equal(flags, CU_CTX_SCHED_YIELD);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
    OK(cuCtxSetCurrent(first));
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease(1));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    assert_ptr_equal(first, second); /* and it is current still */
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset(1));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuCtxSetCurrent(NULL));
}

static void refuses_bad_arguments(void **state) {
    CUcontext ctx;
    size_t value;

    (void)state;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&ctx, NULL, 0, 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(NULL, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&ctx, NULL, 3, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&ctx, NULL, 0x100, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetCurrent(NULL));
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(&value, (CUlimit)77));
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 4096);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
    OK(cuCtxDestroy(ctx));
}

/* A kernel writes to the other device's memory, once that is allowed. */
static void peers_reach_each_other(void **state) {
    CUcontext peer;
    CUdeviceptr far;
    int value = 8;

    (void)state;
    OK(cuCtxCreate(&peer, NULL, 0, !device));
    OK(cuMemAlloc(&far, 4));
    OK(cuMemsetD32(far, 1, 1));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(context));
    FAILS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(peer));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(peer, 1));
    OK(cuCtxEnablePeerAccess(peer, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(peer, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(context, 0));
    OK(launch("store", 1, NULL, (void *[]){&far, &value}));
    OK(cuCtxSynchronize());
    value = 0;
    OK(cuMemcpyDtoH(&value, far, 4));
    assert_int_equal(value, 8);
    OK(cuCtxDisablePeerAccess(peer));
    OK(cuCtxDestroy(peer));
}

/* The device is lost by it, so it comes last. */
static void peers_are_out_of_reach_again(void **state) {
    int value = 8;
    CUcontext peer;
    CUdeviceptr far;

    (void)state;
    OK(cuCtxCreate(&peer, NULL, 0, !device));
    OK(cuMemAlloc(&far, 4));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxEnablePeerAccess(peer, 0));
    OK(cuCtxDisablePeerAccess(peer));
    OK(launch("store", 1, NULL, (void *[]){&far, &value}));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy(peer));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_stack),
        cmocka_unit_test(is_shared_by_threads_but_current_in_one),
        cmocka_unit_test(tells_destroyed_from_wild),
        cmocka_unit_test(takes_everything_back),
        cmocka_unit_test(counts_primary_references),
        cmocka_unit_test(refuses_bad_arguments),
        cmocka_unit_test_setup_teardown(peers_reach_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(peers_are_out_of_reach_again, setup, teardown),
    };

    return cmocka_run_group_tests_name("context", tests, start, NULL);
}
