// SPDX-License-Identifier: Apache-2.0
/*
 * usage: ahead CASE   One program of the tests in ./run: threads that are far ahead of the GPU.
 * Exits with 0 if all calls gave what they must.
 */
#include <pthread.h>
#include <unistd.h>

#include "cases.h"
#include "common.h"

/* `gate` waits until the program writes into *p; `fault` writes where nothing is. */
static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry gate(.param .u64 p) {\n"
                           ".reg .u64 %rd<2>;\n.reg .u32 %r<2>;\n.reg .pred %p<2>;\n"
                           "ld.param.u64 %rd1, [p];\n"
                           "again:\n"
                           "ld.volatile.u32 %r1, [%rd1];\n"
                           "setp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 bra again;\n"
                           "ret;\n}\n"
                           ".visible .entry add(.param .u64 p) {\n"
                           ".reg .u64 %rd<2>;\n.reg .u32 %r<2>;\n"
                           "ld.param.u64 %rd1, [p];\n"
                           "ld.u32 %r1, [%rd1];\n"
                           "add.u32 %r1, %r1, 1;\n"
                           "st.u32 [%rd1], %r1;\n"
                           "ret;\n}\n"
                           ".visible .entry fault() {\n"
                           ".reg .u64 %rd<2>;\n"
                           "mov.u64 %rd1, 8;\n"
                           "st.u32 [%rd1], %rd1;\n"
                           "ret;\n}\n";

enum { CALLS = 3000, ENOUGH = 800, OF_OTHERS = 200 };
static CUcontext context;
static CUfunction gate, add, fault;
static volatile unsigned int *words; /* pinned: whether the gate is open, sums of both threads */
static CUdeviceptr device;
static long posted;

static CUresult add_one(CUstream stream, int to) {
    const volatile unsigned int *sum = words + to;
    void *arguments[] = {&sum};

    return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static void prepare(void) {
    CUmodule m;

    context = start();
    m = module(text);
    gate = function(m, "gate");
    add = function(m, "add");
    fault = function(m, "fault");
    CK(cuMemHostAlloc((void **)&words, 4096, CU_MEMHOSTALLOC_PORTABLE));
    CK(cuMemAlloc(&device, 4096));
    words[0] = words[1] = words[2] = 0;
}

static CUstream begin_behind_gate(void) {
    void *arguments[] = {(void *)&words};
    CUstream s;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
    return s;
}

static void *flood(void *copies) {
    CUstream s = begin_behind_gate();

    for (int i = 0; i < CALLS; i++) {
        if (copies)
            CK(cuMemcpyHtoDAsync(device, (void *)(words + 512), 64, s));
        else
            CK(add_one(s, 1));
        __atomic_add_fetch(&posted, 1, __ATOMIC_RELEASE);
    }
    CK(cuStreamSynchronize(s));
    return NULL;
}

/* While a thread cannot go on, since its stream is full, others can; then it has lost nothing. */
static int flooded(void *copies) {
    pthread_t thread;
    CUstream s;

    prepare();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    EXPECT(!pthread_create(&thread, NULL, flood, copies));
    while (__atomic_load_n(&posted, __ATOMIC_ACQUIRE) < ENOUGH)
        usleep(1000);
    for (unsigned int i = 1; i <= OF_OTHERS; i++) {
        CK(add_one(s, 2));
        CK(cuStreamSynchronize(s));
        EXPECT(words[2] == i);
    }
    words[0] = 1;
    pthread_join(thread, NULL);
    EXPECT(words[1] == (copies ? 0 : CALLS));
    return 0;
}

static int case_launches(void) {
    return flooded(NULL);
}

static int case_copies(void) {
    return flooded(&device);
}

/* Who waits for room in a stream that ends with a fault is told of that. */
static int case_fault(void) {
    CUresult r = CUDA_SUCCESS;
    CUstream s;

    prepare();
    s = begin_behind_gate();
    CK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    for (int i = 0; i < ENOUGH; i++)
        CK(add_one(s, 1));
    words[0] = 1;
    while (r == CUDA_SUCCESS)
        r = add_one(s, 1);
    EXPECT(r == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(!words[1]);
    return 0;
}

int main(int argc, char **argv) {
    static const struct process_case cases[] = {
        {"launches", case_launches}, {"copies", case_copies}, {"fault", case_fault}, {0}};

    return run_case(cases, argc, argv);
}
