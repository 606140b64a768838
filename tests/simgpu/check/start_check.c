// SPDX-License-Identifier: Apache-2.0
/* Before, at and after the start: initialisation, versions, errors, devices, fork and exit. */
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

static void refuses_everything_before_init(void **state) {
    CUdeviceptr p = 0;
    CUcontext ctx;
    CUdevice dev;
    CUstream stream;
    int n;

    (void)state;
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&n));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&dev, 0));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&ctx));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuStreamCreate(&stream, 0));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
    OK(cuDriverGetVersion(&n));
    assert_int_equal(n, 13000);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
}

/* Runs `child` in a new process, which ends by exit(); its status, or -1 if it did not end. */
static int in_child(void (*child)(void)) {
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        child();
        exit(0);
    }
    for (int i = 0; i < 200; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        sleep_ms(50);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

static void run_for_ever(void) {
    if (start(NULL))
        exit(1);
    setup(NULL);
    occupy(NULL, new_gate());
    sleep_ms(20);
}

static void runaway_kernel_does_not_stop_exit(void **state) {
    (void)state;
    assert_int_equal(in_child(run_for_ever), 0);
}

static void at_exit(void) {
    int n;

    _exit(cuDeviceGetCount(&n) == CUDA_ERROR_DEINITIALIZED ? 3 : 1);
}

static void ask_at_exit(void) {
    atexit(at_exit); /* before cuInit: runs after the driver's own */
    if (start(NULL))
        exit(1);
}

static void answers_deinitialized_at_exit(void **state) {
    (void)state;
    assert_int_equal(in_child(ask_at_exit), 3);
}

static void no_devices(void) {
    setenv("SIMGPU_DEVICES", "0", 1);
    exit(cuInit(0) == CUDA_ERROR_NO_DEVICE ? 3 : 1);
}

static void without_devices_init_says_so(void **state) {
    (void)state;
    assert_int_equal(in_child(no_devices), 3);
}

static void use_after_fork(void) {
    CUcontext ctx;
    int n;

    if (cuDeviceGetCount(&n) != CUDA_ERROR_NOT_INITIALIZED ||
        cuCtxGetCurrent(&ctx) != CUDA_ERROR_NOT_INITIALIZED ||
        cuInit(0) != CUDA_ERROR_NOT_INITIALIZED)
        _exit(1);
    _exit(3); /* what the parent's threads were doing is none of the child's business */
}

static void forked_child_has_no_driver(void **state) {
    CUdeviceptr p;
    int value = 5;

    setup(state);
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &value, 4));
    assert_int_equal(in_child(use_after_fork), 3);
    value = 0;
    OK(cuMemcpyDtoH(&value, p, 4)); /* and the parent's is untouched */
    assert_int_equal(value, 5);
    teardown(state);
}

static void tells_errors(void **state) {
    const char *text;

    (void)state;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_NOT_READY, &text));
    assert_string_equal(text, "device not ready");
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorString((CUresult)12345, &text));
    assert_null(text);
}

static void shows_devices(void **state) {
    CUuuid first, second;
    char text[64];
    int n, major, minor;
    CUdevice dev;
    size_t bytes;

    (void)state;
    OK(cuDeviceGetCount(&n));
    assert_int_equal(n, 2);
    OK(cuDeviceGet(&dev, 1));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, 2));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&dev, -1));
    OK(cuDeviceGetName(text, sizeof(text), 0));
    assert_string_equal(text, "vcuda simulated GPU");
    OK(cuDeviceGetName(text, 6, 0));
    assert_string_equal(text, "vcuda");
    OK(cuDeviceTotalMem(&bytes, 1));
    assert_int_equal(bytes, MEMORY);
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    assert_int_equal(major * 10 + minor, 90);
    OK(cuDeviceGetUuid(&first, 0));
    OK(cuDeviceGetUuid(&second, 1));
    assert_memory_not_equal(&first, &second, sizeof(first));
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    assert_int_equal(n, 32);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&n, (CUdevice_attribute)0, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&n, (CUdevice_attribute)4000, 0));
    OK(cuDeviceGetPCIBusId(text, sizeof(text), 1));
    OK(cuDeviceGetByPCIBusId(&dev, text));
    assert_int_equal(dev, 1);
    OK(cuDeviceGetByPCIBusId(&dev, "01:00.0"));
    assert_int_equal(dev, 0);
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&dev, "0000:77:00.0"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&dev, "nonsense"));
    OK(cuDeviceCanAccessPeer(&n, 0, 1));
    assert_int_equal(n, 1);
    OK(cuDeviceCanAccessPeer(&n, 0, 0));
    assert_int_equal(n, 0);
}

static void *proc(const char *name, int version, unsigned flags, int expected) {
    CUdriverProcAddressQueryResult status;
    void *address;

    OK(cuGetProcAddress(name, &address, version, flags, &status));
    assert_int_equal(status, expected);
    assert_int_equal(address != NULL, expected == CU_GET_PROC_ADDRESS_SUCCESS);
    return address;
}

static void finds_procs_by_version(void **state) {
    void *address;

    (void)state;
    assert_ptr_equal(proc("cuInit", 2000, 0, 0), (void *)cuInit);
    assert_ptr_equal(proc("cuMemAlloc", 13000, 0, 0), (void *)cuMemAlloc_v2);
    assert_ptr_equal(proc("cuCtxCreate", 3020, 0, 0), (void *)cuCtxCreate_v2);
    assert_ptr_equal(proc("cuCtxCreate", 13000, 0, 0), (void *)cuCtxCreate_v4);
    assert_ptr_equal(proc("cuCtxGetDevice", 12000, 0, 0), (void *)cuCtxGetDevice);
    assert_ptr_equal(proc("cuCtxGetDevice", 13000, 0, 0), (void *)cuCtxGetDevice_v2);
    assert_ptr_equal(proc("cuMemcpyHtoD", 13000, 2, 0), (void *)cuMemcpyHtoD_v2_ptds);
    assert_ptr_equal(proc("cuStreamSynchronize", 13000, 1, 0), (void *)cuStreamSynchronize);
    assert_ptr_equal(proc("cuStreamSynchronize", 13000, 2, 0), (void *)cuStreamSynchronize_ptsz);
    proc("cuStreamSynchronize", 6000, 2, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    proc("cuLaunchKernel", 2000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    proc("cuMemAlloc_v2", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    proc("", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &address, 13010, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &address, 13000, 8, NULL));
}

/* In this order: what comes before cuInit, in processes of their own, and after it. */
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_everything_before_init),
        cmocka_unit_test(runaway_kernel_does_not_stop_exit),
        cmocka_unit_test(answers_deinitialized_at_exit),
        cmocka_unit_test(without_devices_init_says_so),
        cmocka_unit_test_setup(forked_child_has_no_driver, start),
        cmocka_unit_test(tells_errors),
        cmocka_unit_test(shows_devices),
        cmocka_unit_test(finds_procs_by_version),
    };

    return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
