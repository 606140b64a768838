// SPDX-License-Identifier: Apache-2.0
/* Streams and events: order, independence, the default stream's rules, time. */
#include "check.h"

/* A pinned log, to which the kernel `append` writes: its length, then the numbers. */
struct log {
    int length, entries[15];
};

static struct log *new_log(void) {
    void *log;

    OK(cuMemAllocHost(&log, sizeof(struct log)));
    return log;
}

static void append(CUstream stream, int *gate, struct log *log, int number) {
    OK(launch("append", 1, stream, (void *[]){&gate, &log, &number}));
}

static void expect_log(const struct log *log, int length, const int *entries) {
    assert_int_equal(log->length, length);
    for (int i = 0; i < length; i++)
        assert_int_equal(log->entries[i], entries[i]);
}

static CUstream new_stream(unsigned flags) {
    CUstream stream;

    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static void keeps_order(void **state) {
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    struct log *log = new_log();
    int *gate = new_gate();

    (void)state;
    for (int i = 0; i < 5; i++)
        append(stream, gate, log, i);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    assert_int_equal(log->length, 0);
    open_gate(gate);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamQuery(stream));
    expect_log(log, 5, (int[]){0, 1, 2, 3, 4});
    OK(cuStreamDestroy(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

static void runs_streams_side_by_side(void **state) {
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING), idle = new_stream(CU_STREAM_NON_BLOCKING);
    struct log *log = new_log();
    int *closed = new_gate(), *open = new_gate();

    (void)state;
    open_gate(open);
    append(busy, closed, log, 1);
    append(idle, open, log, 2);
    OK(cuStreamSynchronize(idle)); /* though the other is stuck */
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(busy));
    open_gate(closed);
    OK(cuCtxSynchronize());
    expect_log(log, 2, (int[]){2, 1});
}

static void default_stream_waits_for_blocking_ones_and_they_for_it(void **state) {
    CUstream first = new_stream(0), second = new_stream(0);
    struct log *log = new_log();
    int *closed = new_gate(), *open = new_gate();

    (void)state;
    open_gate(open);
    append(first, closed, log, 1);
    append(NULL, open, log, 2);
    append(second, open, log, 3);
    sleep_ms(30);
    assert_int_equal(log->length, 0);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
    open_gate(closed);
    OK(cuStreamSynchronize(second));
    expect_log(log, 3, (int[]){1, 2, 3});
}

static void default_stream_leaves_non_blocking_ones_alone(void **state) {
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    struct log *log = new_log();
    int *closed = new_gate(), *open = new_gate();

    (void)state;
    open_gate(open);
    append(stream, closed, log, 1);
    append(CU_STREAM_LEGACY, open, log, 2);
    OK(cuStreamSynchronize(NULL));
    expect_log(log, 1, (int[]){2});
    open_gate(closed);
    OK(cuCtxSynchronize());
}

static void destroyed_stream_still_counts(void **state) {
    CUstream stream = new_stream(0);
    struct log *log = new_log();
    int *closed = new_gate(), *open = new_gate();

    (void)state;
    open_gate(open);
    append(stream, closed, log, 1);
    OK(cuStreamDestroy(stream)); /* returns while its work waits */
    append(NULL, open, log, 2);
    assert_int_equal(log->length, 0);
    open_gate(closed);
    OK(cuCtxSynchronize());
    expect_log(log, 2, (int[]){1, 2});
}

static void *use_own_default_stream(void *argument) {
    struct log *log = argument;
    int *open;
    CUfunction append_function;

    cuCtxSetCurrent(context);
    open = new_gate();
    open_gate(open);
    OK(cuModuleGetFunction(&append_function, module, "append"));
    OK(cuLaunchKernel_ptsz(append_function, 1, 1, 1, 1, 1, 1, 0, NULL,
                           (void *[]){&open, &log, &(int){2}}, NULL));
    OK(cuStreamSynchronize_ptsz(NULL));
    return NULL;
}

/* Each thread's own default streams do not wait for each other. */
static void gives_threads_default_streams(void **state) {
    struct log *log = new_log();
    int *closed = new_gate(), *p = closed;
    struct log *l = log;
    pthread_t thread;

    (void)state;
    OK(cuLaunchKernel_ptsz(function("append"), 1, 1, 1, 1, 1, 1, 0, NULL,
                           (void *[]){&p, &l, &(int){1}}, NULL));
    pthread_create(&thread, NULL, use_own_default_stream, log);
    pthread_join(thread, NULL);
    expect_log(log, 1, (int[]){2});
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
    open_gate(closed);
    OK(cuStreamSynchronize(NULL)); /* the legacy stream waits for them all */
    expect_log(log, 2, (int[]){2, 1});
}

static void events_order_streams(void **state) {
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING),
             second = new_stream(CU_STREAM_NON_BLOCKING);
    struct log *log = new_log();
    int *closed = new_gate(), *open = new_gate();
    CUevent event;

    (void)state;
    open_gate(open);
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(event)); /* never recorded: done */
    OK(cuStreamWaitEvent(second, event, 0));
    append(first, closed, log, 1);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    append(second, open, log, 2);
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
    OK(cuEventDestroy(event)); /* the wait for it stays */
    open_gate(closed);
    OK(cuStreamSynchronize(second));
    expect_log(log, 2, (int[]){1, 2});
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
}

static void events_tell_time(void **state) {
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent start_event, end_event, untimed;
    int *gate = new_gate();
    float ms;

    (void)state;
    OK(cuEventCreate(&start_event, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end_event, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start_event, end_event));
    OK(cuEventRecord(start_event, stream));
    occupy(stream, gate);
    OK(cuEventRecord(end_event, stream));
    OK(cuEventRecord(untimed, stream));
    FAILS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, start_event, end_event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start_event, untimed));
    sleep_ms(50);
    open_gate(gate);
    OK(cuEventSynchronize(end_event));
    OK(cuEventElapsedTime(&ms, start_event, end_event));
    assert_true(ms >= 45 && ms < 10000);
    OK(cuEventElapsedTime(&ms, end_event, start_event));
    assert_true(ms <= -45);
}

static void refuses_foreign_handles(void **state) {
    CUstream stream = new_stream(0), theirs;
    CUcontext other;
    CUevent event;
    CUdeviceptr p;

    (void)state;
    OK(cuCtxCreate(&other, NULL, 0, 1));
    theirs = new_stream(0);
    OK(cuEventCreate(&event, 0));
    OK(cuCtxPopCurrent(NULL));
    OK(cuMemAlloc(&p, 4));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemsetD8Async(p, 0, 4, theirs));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)0x1234567890));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy((CUstream)event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord((CUevent)-1, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&theirs, 4));
    OK(cuCtxDestroy(other));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventQuery(event));
}

static void count_call(void *data) {
    ++*(int *)data;
}

static void calls_host_functions_in_turn(void **state) {
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    int *gate = new_gate(), calls = 0;

    (void)state;
    occupy(stream, gate);
    OK(cuLaunchHostFunc(stream, count_call, &calls));
    OK(cuLaunchHostFunc(stream, count_call, &calls));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    open_gate(gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(calls, 2);
}

struct worker {
    pthread_t thread;
    int number;
    bool good;
};

/* Many threads at once: streams, copies, kernels, events, and their ends. */
static void *work(void *argument) {
    struct worker *worker = argument;
    int in[64], out[64];

    cuCtxSetCurrent(context);
    worker->good = true;
    for (int round = 0; round < 20; round++) {
        CUstream stream;
        CUevent event;
        CUdeviceptr p;

        for (int i = 0; i < 32; i++)
            in[i] = i * worker->number + round;
        worker->good &= !cuStreamCreate(&stream, round & 1) && !cuEventCreate(&event, 0) &&
                        !cuMemAlloc(&p, sizeof(in)) &&
                        !cuMemcpyHtoDAsync(p, in, sizeof(in), stream) &&
                        !cuLaunchKernel(function("reverse"), 1, 1, 1, 32, 1, 1, 128, stream,
                                        (void *[]){&p}, NULL) &&
                        !cuEventRecord(event, stream) && !cuEventSynchronize(event) &&
                        !cuMemcpyDtoH(out, p, sizeof(out)) && !cuMemFree(p) &&
                        !cuEventDestroy(event) && !cuStreamDestroy(stream);
        for (int i = 0; i < 32; i++)
            worker->good &= out[i] == in[31 - i];
    }
    return NULL;
}

static void serves_many_threads(void **state) {
    struct worker workers[16];

    (void)state;
    for (int i = 0; i < 16; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < 16; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].good);
    }
}

/* An event of a context comes after all its streams, and who waits holds up those to come too. */
static void events_of_contexts(void **state) {
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING), later;
    int *closed = new_gate(), *open = new_gate();
    struct log *log = new_log();
    CUevent event;

    (void)state;
    open_gate(open);
    OK(cuEventCreate(&event, 0));
    append(busy, closed, log, 1);
    OK(cuCtxRecordEvent(context, event));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    OK(cuCtxWaitEvent(context, event));
    later = new_stream(CU_STREAM_NON_BLOCKING);
    append(later, open, log, 2);
    sleep_ms(20);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(later));
    assert_int_equal(log->length, 0);
    open_gate(closed);
    OK(cuStreamSynchronize(later));
    OK(cuEventQuery(event));
    expect_log(log, 2, (int[]){1, 2});
}

/* A stream waits for a word that the host writes, or another stream. */
static void waits_for_words(void **state) {
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING), two = new_stream(CU_STREAM_NON_BLOCKING);
    int *open = new_gate(), *word = new_gate();
    struct log *log = new_log();

    (void)state;
    open_gate(open);
    *word = -1; /* before 1, for the comparison goes round */
    OK(cuStreamWaitValue32(one, (CUdeviceptr)(uintptr_t)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    append(one, open, log, 1);
    sleep_ms(20);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(one));
    append(two, open, log, 2);
    OK(cuStreamWriteValue32(two, (CUdeviceptr)(uintptr_t)word, 1, 0));
    OK(cuStreamSynchronize(one));
    expect_log(log, 2, (int[]){2, 1});
    OK(cuStreamWaitValue32(one, (CUdeviceptr)(uintptr_t)word, 2, CU_STREAM_WAIT_VALUE_AND));
    append(one, open, log, 3);
    sleep_ms(20);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(one));
    __atomic_store_n(word, 6, __ATOMIC_RELEASE);
    OK(cuStreamSynchronize(one));
    expect_log(log, 3, (int[]){2, 1, 3});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keeps_order),
        TEST(runs_streams_side_by_side),
        TEST(default_stream_waits_for_blocking_ones_and_they_for_it),
        TEST(default_stream_leaves_non_blocking_ones_alone),
        TEST(destroyed_stream_still_counts),
        TEST(gives_threads_default_streams),
        TEST(events_order_streams),
        TEST(events_tell_time),
        TEST(events_of_contexts),
        TEST(waits_for_words),
        TEST(refuses_foreign_handles),
        TEST(calls_host_functions_in_turn),
        TEST(serves_many_threads),
    };

    return cmocka_run_group_tests_name("stream", tests, start, NULL);
}
