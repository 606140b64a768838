// SPDX-License-Identifier: Apache-2.0
/*
 * Long runs of launches, in which everything changes that may change from one launch to the next,
 * and whatever may come between two of them. Each kernel makes x of 3 x + something, so that x says
 * whether all ran, once, in order, with the parameters of their launch.
 */
#include "common.h"

KERNELS(runs);

#define RUN 1000u

/* Two blocks a cluster, by the code itself. */
static const char clusters_ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry step_cluster(.param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1 {\n"
    ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<2>;\n"
    "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 0; @%p bra END;\n"
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r2, [%rd1]; mov.u32 %r3, %cluster_nctaid.x;\n"
    "mad.lo.u32 %r4, %r2, 3, %r3; st.global.u32 [%rd1], %r4;\n"
    "END: ret;\n}\n";

static CUfunction nothing, step_one, step_wide, step_shared, step_local, meet, store;
static CUdeviceptr device;
static uint32_t want;

static void launch(CUfunction f, uint32_t shared, CUstream s, void **args) {
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, shared, s, args, NULL));
}

static void one(CUstream s, uint32_t n) {
    void *args[] = {&device, &n};

    want = 3 * want + n;
    launch(step_one, 0, s, args);
}

static void one_wide(CUstream s, uint32_t n) {
    uint32_t words[500] = {n};
    void *args[] = {words, &device};

    words[499] = 7;
    want = 3 * want + n + 7;
    launch(step_wide, 0, s, args);
}

static void one_shared(CUstream s, uint32_t bytes) {
    void *args[] = {&device};

    want = 3 * want + bytes;
    launch(step_shared, bytes, s, args);
}

static void one_local(CUstream s, uint32_t n) {
    uint32_t at = n % 100;
    void *args[] = {&device, &n, &at};

    want = 3 * want + n + 4900;
    launch(step_local, 0, s, args);
}

static void clear(void) {
    want = 0;
    CK(cuMemsetD32(device, 0, 1024));
    CK(cuCtxSynchronize());
}

static void check(const char *what) {
    uint32_t x;

    CK(cuCtxSynchronize());
    CK(cuMemcpyDtoH(&x, device, 4));
    printf("%s: %08x, %s\n", what, x, x == want ? "right" : "wrong");
    clear();
}

static void alike(const char *what, CUstream s) {
    for (uint32_t i = 0; i < RUN; i++)
        one(s, i);
    check(what);
}

static void all_sorts(const char *what, CUstream s) {
    for (uint32_t i = 0; i < RUN; i++) {
        switch (i * 7 % 11) {
        case 0:
            one_wide(s, i);
            break;
        case 1:
            one_shared(s, 64 + i % 8 * 4096);
            break;
        case 2:
            one_local(s, i);
            break;
        case 3:
            launch(nothing, 0, s, NULL);
            break;
        default:
            one(s, i);
        }
    }
    check(what);
}

/* Runs of all lengths in turn, of which each waits for what the other stream has done. */
static void in_turn(CUstream a, CUstream b) {
    CUevent event;
    uint32_t n = 0;

    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (uint32_t length = 1; length < 40; length++) {
        CUstream s = length % 2 ? a : b;

        for (uint32_t i = 0; i < length; i++)
            one(s, n++);
        CK(cuEventRecord(event, s));
        CK(cuStreamWaitEvent(length % 2 ? b : a, event, 0));
    }
    CK(cuEventDestroy(event));
    check("two streams in turn");
}

/* Kernels of two streams that wait for one another. */
static void together(CUstream a, CUstream b) {
    CUdeviceptr first = device + 64, second = device + 128;
    void *one_way[] = {&first, &second}, *other_way[] = {&second, &first};

    for (uint32_t i = 0; i < RUN; i++)
        launch(nothing, 0, i % 100 < 50 ? a : b, NULL);
    launch(meet, 0, a, one_way);
    launch(nothing, 0, a, NULL);
    launch(meet, 0, b, other_way);
    SHOW(cuStreamSynchronize(a));
    SHOW(cuStreamSynchronize(b));
}

/* What was wrong is told, and nothing else is lost. */
static void errors(CUstream s) {
    void *args[] = {&device, &want};

    for (uint32_t i = 0; i < RUN; i++) {
        if (i == 500)
            SAY("a block too large",
                cuLaunchKernel(step_one, 1, 1, 1, 2048, 1, 1, 0, s, args, NULL));
        if (i == 510)
            SAY("no block", cuLaunchKernel(step_one, 1, 1, 1, 0, 1, 1, 0, s, args, NULL));
        if (i == 520)
            SAY("too much shared memory",
                cuLaunchKernel(step_shared, 1, 1, 1, 1, 1, 1, 60000, s, args, NULL));
        one(s, i);
    }
    check("with errors");
}

/* The same function with more shared memory than before, and then less. */
static void attributes(CUstream s) {
    for (uint32_t i = 0; i < RUN; i++) {
        if (i == 400)
            SHOW(cuFuncSetAttribute(step_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    100000));
        if (i == 800)
            SHOW(cuFuncSetAttribute(step_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    49152));
        one_shared(s, i < 400 ? 4096 : i < 800 ? 90000 : 8192);
    }
    check("with attributes");
}

/* Code that goes while launches of it are under way. */
static void modules(CUstream s) {
    CUfunction kept = step_one;

    for (uint32_t i = 0; i < 20; i++) {
        CUmodule m = module(ptx_runs);

        step_one = function(m, "step");
        for (uint32_t k = 0; k < 50; k++)
            one(s, k);
        CK(cuModuleUnload(m));
        step_one = kept;
        for (uint32_t k = 0; k < 50; k++)
            one(s, k);
    }
    check("modules that go");
}

static void clusters(CUstream s) {
    CUfunction step_cluster = function(module(clusters_ptx), "step_cluster");
    void *args[] = {&device};

    for (uint32_t i = 0; i < RUN; i++) {
        one(s, i);
        if (i % 3)
            continue;
        want = 3 * want + 2;
        CK(cuLaunchKernel(step_cluster, 2, 1, 1, 1, 1, 1, 0, s, args, NULL));
    }
    check("clusters between");
}

/* What is captured does not run, however many launches stand before and behind. */
static void captures(CUstream s, CUstream captured) {
    CUgraphExec exec;
    CUgraph graph;

    for (uint32_t i = 0; i < 300; i++)
        one(s, i);
    CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (uint32_t i = 0; i < 30; i++)
        launch(nothing, 0, captured, NULL);
    for (uint32_t i = 0; i < 300; i++)
        one(s, i);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = 5, before = want;
        void *args[] = {&device, &n};

        launch(step_one, 0, captured, args);
        want = before;
    }
    CK(cuStreamEndCapture(captured, &graph));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (uint32_t i = 0; i < 300; i++)
        one(s, i);
    CK(cuStreamSynchronize(s));
    for (uint32_t i = 0; i < 3; i++) {
        CK(cuGraphLaunch(exec, captured));
        for (uint32_t k = 0; k < 3; k++)
            want = 3 * want + 5;
        for (uint32_t k = 0; k < 100; k++)
            one(captured, k);
    }
    check("a capture between");
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

/* More streams than anybody keeps anything for, which come and go. */
static void many_streams(void) {
    for (uint32_t round = 0; round < 3; round++) {
        CUstream streams[24];

        for (int i = 0; i < 24; i++)
            CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        for (int i = 0; i < 24; i++) {
            for (uint32_t k = 0; k < 100; k++)
                one(streams[i], k);
            CK(cuStreamSynchronize(streams[i]));
        }
        for (int i = 0; i < 24; i++)
            CK(cuStreamDestroy(streams[i]));
    }
    check("streams that come and go");
}

/* The last thing of a run: whoever waits hears of it, and of nothing else. */
static void fault(CUstream s) {
    CUdeviceptr bad = 0x10000;
    uint32_t value = 1;
    void *args[] = {&bad, &value};

    for (uint32_t i = 0; i < RUN; i++)
        one(s, i);
    SHOW(cuStreamSynchronize(s));
    launch(store, 0, s, args);
    SHOW(cuStreamSynchronize(s));
    SHOW(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SHOW(cuStreamSynchronize(s));
}

int main(void) {
    CUstream plain, beside;
    CUmodule m;

    start();
    m = module(ptx_runs);
    nothing = function(m, "nothing");
    step_one = function(m, "step");
    step_wide = function(m, "step_wide");
    step_shared = function(m, "step_shared");
    step_local = function(m, "step_local");
    meet = function(m, "meet");
    store = function(m, "store");
    CK(cuMemAlloc(&device, 4096));
    CK(cuStreamCreate(&plain, CU_STREAM_DEFAULT));
    CK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    clear();
    alike("default stream", NULL);
    alike("a stream", plain);
    alike("a stream beside the default one", beside);
    alike("the thread's stream", CU_STREAM_PER_THREAD);
    all_sorts("all sorts", beside);
    all_sorts("all sorts, default stream", NULL);
    in_turn(plain, beside);
    together(plain, beside);
    clear();
    errors(beside);
    attributes(beside);
    modules(plain);
    clusters(beside);
    captures(plain, beside);
    many_streams();
    fault(beside);
    return 0;
}
