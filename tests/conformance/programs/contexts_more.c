// SPDX-License-Identifier: Apache-2.0
/* Contexts: flags, attachment, affinity, settings of the past, events over a whole context. */
#include <dlfcn.h>

#include "common.h"

KERNELS(basics);

static void *old(const char *name) {
    void *f = dlsym(RTLD_DEFAULT, name);

    if (!f) {
        printf("no %s\n", name);
        exit(1);
    }
    return f;
}

static void flags(void) {
    static const unsigned int tried[] = {0, 1, 2, 4, 3, 8, 0x10, 0x80, 0x100, 0x200};
    unsigned int now;
    CUcontext c;

    printf("-- flags\n");
    CK(cuCtxGetFlags(&now));
    printf("primary: %#x\n", now);
    CK(cuCtxCreate(&c, NULL, CU_CTX_SCHED_YIELD, 0));
    CK(cuCtxGetFlags(&now));
    printf("made with 2: %#x\n", now);
    for (unsigned int i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        CUresult r = cuCtxSetFlags(tried[i]);

        now = 99;
        if (cuCtxGetFlags(&now) != CUDA_SUCCESS)
            now = 98;
        printf("set %#x: %d, now %#x\n", tried[i], r, now);
    }
    SHOW(cuCtxGetFlags(NULL));
    CK(cuCtxDestroy(c));
}

static void attachment(CUcontext primary) {
    CUcontext c, got = NULL, now;

    printf("-- attachment\n");
    SHOW(cuCtxAttach(&got, 0));
    printf("the current one: %d\n", got == primary);
    SHOW(cuCtxDetach(got));
    SHOW(cuCtxAttach(&got, 1));
    SHOW(cuCtxAttach(NULL, 0));
    CK(cuCtxCreate(&c, NULL, 0, 0));
    SHOW(cuCtxAttach(&got, 0));
    printf("the current one: %d\n", got == c);
    SHOW(cuCtxDetach(primary));
    SHOW(cuCtxDetach(c));
    SHOW(cuCtxGetCurrent(&now));
    printf("still current: %d\n", now == c);
    SHOW(cuCtxDetach(c));
    SHOW(cuCtxGetCurrent(&now));
    printf("now the first: %d\n", now == primary);
    SHOW(cuCtxDetach(c));
}

static void affinity(void) {
    CUexecAffinityParam p, wanted = {CU_EXEC_AFFINITY_TYPE_SM_COUNT, {{8}}};
    CUctxCreateParams params = {&wanted, 1, NULL};
    CUresult (*create_v3)(CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice) =
        (CUresult(*)(CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice))old(
            "cuCtxCreate_v3");
    CUcontext c;
    int can = -1;

    printf("-- affinity\n");
    SHOW(cuDeviceGetExecAffinitySupport(&can, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    printf("%d\n", can);
    SHOW(cuDeviceGetExecAffinitySupport(&can, (CUexecAffinityType)9, 0));
    SHOW(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    SHOW(cuDeviceGetExecAffinitySupport(&can, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 99));
    SHOW(cuCtxGetExecAffinity(&p, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    SHOW(cuCtxGetExecAffinity(&p, (CUexecAffinityType)9));
    SHOW(cuCtxGetExecAffinity(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    SHOW(cuCtxCreate(&c, &params, 0, 0));
    SHOW(create_v3(&c, &wanted, 1, 0, 0));
    SHOW(create_v3(&c, NULL, 1, 0, 0));
    SHOW(create_v3(&c, NULL, 0, 0, 0));
    SHOW(cuCtxDestroy(c));
}

static void settings(void) {
    CUsharedconfig config = (CUsharedconfig)9;
    size_t value;

    printf("-- settings\n");
    SHOW(cuCtxGetSharedMemConfig(&config));
    printf("%d\n", config);
    SHOW(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    SHOW(cuCtxSetSharedMemConfig((CUsharedconfig)9));
    SHOW(cuCtxGetSharedMemConfig(&config));
    printf("%d\n", config);
    SHOW(cuCtxGetSharedMemConfig(NULL));
    SHOW(cuCtxResetPersistingL2Cache());
    for (int limit = 0; limit < 10; limit++) {
        CUresult r = cuCtxGetLimit(&value, (CUlimit)limit);

        printf("limit %d: %d\n", limit, r);
    }
    SHOW(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    SHOW(cuCtxSetLimit((CUlimit)99, 1));
    SHOW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    SHOW(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    printf("%zu\n", value);
    SHOW(cuProfilerStart());
    SHOW(cuProfilerStop());
}

static void events(CUcontext primary) {
    CUcontext other;
    CUevent e, others;

    printf("-- events\n");
    CK(cuEventCreate(&e, 0));
    SHOW(cuCtxRecordEvent(primary, e));
    SHOW(cuCtxWaitEvent(primary, e));
    SHOW(cuEventSynchronize(e));
    SHOW(cuCtxRecordEvent(NULL, e));
    SHOW(cuCtxWaitEvent(NULL, e));
    SHOW(cuCtxRecordEvent(primary, NULL));
    SHOW(cuCtxRecordEvent((CUcontext)0x123456780, e));
    CK(cuCtxCreate(&other, NULL, 0, 0));
    CK(cuEventCreate(&others, 0));
    SHOW(cuCtxRecordEvent(other, others));
    SHOW(cuCtxRecordEvent(other, e));
    SHOW(cuCtxWaitEvent(other, e));
    SHOW(cuCtxRecordEvent(primary, others));
    SHOW(cuCtxWaitEvent(primary, others));
    SHOW(cuCtxSynchronize());
    CK(cuCtxDestroy(other));
    SHOW(cuCtxSynchronize_v2(primary));
    SHOW(cuCtxSynchronize_v2(NULL));
    SHOW(cuCtxSynchronize_v2(other));
    SHOW(cuCtxSynchronize_v2((CUcontext)0x123456780));
}

static void old_versions(CUcontext primary) {
    CUresult (*create)(CUcontext *, unsigned int, CUdevice) =
        (CUresult(*)(CUcontext *, unsigned int, CUdevice))old("cuCtxCreate");
    CUresult (*destroy)(CUcontext) = (CUresult(*)(CUcontext))old("cuCtxDestroy");
    CUresult (*push)(CUcontext) = (CUresult(*)(CUcontext))old("cuCtxPushCurrent");
    CUresult (*pop)(CUcontext *) = (CUresult(*)(CUcontext *))old("cuCtxPopCurrent");
    CUresult (*total)(unsigned int *, CUdevice) =
        (CUresult(*)(unsigned int *, CUdevice))old("cuDeviceTotalMem");
    unsigned int bytes, version = 0;
    CUcontext c, popped;

    printf("-- old versions\n");
    CK(cuCtxCreate(&c, NULL, 0, 0));
    SHOW(pop(&popped));
    printf("%d\n", popped == c);
    SHOW(push(c));
    SHOW(push(primary));
    SHOW(pop(NULL));
    SHOW(destroy(c));
    SHOW(destroy(c));
    /* Memory with addresses of 32 bits, which only a first context has. */
    for (int i = 0; i < 2; i++) {
        c = NULL;
        SHOW(create(&c, 0, 0));
        printf("made: %d\n", c != NULL);
        if (c) {
            CK(cuCtxGetApiVersion(c, &version));
            printf("version %u\n", version);
            CK(cuCtxDestroy(c));
        }
    }
    SHOW(total(&bytes, 0));
    SHOW(total(NULL, 0));
}

/* Before there is any other context. */
static void old_create_alone(void) {
    CUresult (*create)(CUcontext *, unsigned int, CUdevice) =
        (CUresult(*)(CUcontext *, unsigned int, CUdevice))old("cuCtxCreate");
    CUcontext c = NULL;

    CK(cuInit(0));
    SHOW(create(&c, 0, 0));
    printf("made: %d\n", c != NULL);
}

int main(void) {
    CUcontext c;
    CUevent e;

    apart("the old way, alone", old_create_alone);
    printf("-- without a context\n");
    SHOW(cuProfilerStart());
    SHOW(cuCtxAttach(&c, 0));
    CK(cuInit(0));
    SHOW(cuProfilerStart());
    SHOW(cuCtxAttach(&c, 0));
    SHOW(cuCtxResetPersistingL2Cache());
    SHOW(cuCtxSynchronize_v2(NULL));
    SHOW(cuEventCreate(&e, 0));
    CUcontext primary = start();
    flags();
    attachment(primary);
    affinity();
    settings();
    events(primary);
    old_versions(primary);
    return 0;
}
