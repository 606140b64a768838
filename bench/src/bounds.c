// SPDX-License-Identifier: Apache-2.0
/*
 * usage: bounds [SAMPLES]   What no library can beat that has another thread make its calls.
 *
 * The driver's own launch and wait, and its query, by one thread; the same while another thread
 * only looks at a cache line, as every wait does; and told to another thread by a cache line, with
 * nothing else between. And how one can wait: by the driver, by an event that is asked for until it
 * is there, or by a word that the GPU writes; what it takes to ask for each, and to ask an event.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

enum { NOTHING, LAUNCH, WAIT, QUERY, STOP };
#define WHATS 8u

static double *samples;
static int count = 2000;
static CUcontext context;
static CUfunction f;
static CUstream stream;
static CUevent event;
static volatile uint32_t *word; /* pinned */
static CUdeviceptr word_there;
static uint32_t serial;

/* What is to be done, and what has been: WHATS * a number + one of the above. */
static _Alignas(64) atomic_uint told;
static _Alignas(64) atomic_uint done;

static void launch(void) {
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void alone(void) {
    launch();
    CK(cuStreamSynchronize(stream));
}

static void query(void) {
    CK(cuStreamQuery(stream));
}

/* As a worker waits, which must not sleep in the driver. */
static void wait_by_event(void) {
    CUresult r;

    CK(cuEventRecord(event, stream));
    while ((r = cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
        ;
    CK(r);
}

static void ask_for_word(void) {
    CK(cuStreamWriteValue32(stream, word_there, ++serial, 0));
}

static void wait_by_word(void) {
    ask_for_word();
    while (*word != serial)
        ;
}

static void launch_event(void) {
    launch();
    wait_by_event();
}

static void launch_word(void) {
    launch();
    wait_by_word();
}

static void record(void) {
    CK(cuEventRecord(event, stream));
}

static void ask(void) {
    cuEventQuery(event);
}

static void synchronise(void) {
    CK(cuStreamSynchronize(stream));
}

static void nothing(void) {
}

static void launch_and_record(void) {
    launch();
    record();
}

static void until_there(void) {
    launch_and_record();
    synchronise();
}

static void *look(void *unused) {
    (void)unused;
    while (atomic_load_explicit(&told, memory_order_acquire) != STOP)
        ;
    return NULL;
}

static void *serve(void *unused) {
    unsigned int last = 0, now;

    (void)unused;
    CK(cuCtxSetCurrent(context));
    do {
        while ((now = atomic_load_explicit(&told, memory_order_acquire)) == last)
            ;
        last = now;
        if (now % WHATS == LAUNCH)
            launch();
        else if (now % WHATS == WAIT)
            wait_by_event();
        else if (now % WHATS == QUERY)
            query();
        atomic_store_explicit(&done, now, memory_order_release);
    } while (now % WHATS != STOP);
    return NULL;
}

static void tell(unsigned int what) {
    unsigned int last = atomic_load_explicit(&told, memory_order_relaxed);
    unsigned int next = (last / WHATS + 1) * WHATS + what;

    atomic_store_explicit(&told, next, memory_order_release);
    while (atomic_load_explicit(&done, memory_order_acquire) != next)
        ;
}

static void by_another(void) {
    tell(LAUNCH);
    tell(WAIT);
}

static void query_by_another(void) {
    tell(QUERY);
}

/* How long `what` takes, with `before` and `after` it what is not timed. */
static void each_between(const char *figure, void (*before)(void), void (*what)(void),
                         void (*after)(void)) {
    for (int i = -count / 10; i < count; i++) {
        double begun;

        before();
        begun = now();
        what();
        if (i >= 0)
            samples[i] = (now() - begun) * 1e6;
        after();
    }
    report(figure, "us", samples, count);
}

static void each(const char *figure, void (*what)(void)) {
    each_between(figure, nothing, what, nothing);
}

static void ways_to_wait(void) {
    each("launch and an event that is asked for", launch_event);
    each("launch and a word from the GPU", launch_word);
    each("idle stream, an event that is asked for", wait_by_event);
    each("idle stream, a word from the GPU", wait_by_word);
    each_between("to ask for an event", launch, record, synchronise);
    each_between("to ask for a word", launch, ask_for_word, synchronise);
    each_between("an event that is not there", launch_and_record, ask, synchronise);
    each_between("an event that is there", until_there, ask, nothing);
}

static void throughput(const char *figure) {
    for (int i = 0; i < 5; i++) {
        double begun = now();

        for (int j = 0; j < count * 5; j++)
            launch();
        CK(cuStreamSynchronize(stream));
        samples[i] = count * 5 / (now() - begun) / 1e3;
    }
    report(figure, "1000/s", samples, 5);
}

static void beside(void *(*thread)(void *), void (*measure)(void)) {
    pthread_t other;

    atomic_store(&told, 0);
    pthread_create(&other, NULL, thread, NULL);
    measure();
    if (thread == look)
        atomic_store(&told, STOP);
    else
        tell(STOP);
    pthread_join(other, NULL);
}

static void beside_a_look(void) {
    each("launch and synchronise beside a thread that looks", alone);
    throughput("launches a second beside a thread that looks");
    each("idle stream query beside a thread that looks", query);
}

static void told_to_another(void) {
    each("launch and synchronise by another thread", by_another);
    each("idle stream query by another thread", query_by_another);
}

int main(int argc, char **argv) {
    CUmodule module;

    samples = samples_wanted(argc, argv, &count, 10);
    context = start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p0"));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CK(cuMemHostAlloc((void **)&word, sizeof(*word), CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuMemHostGetDevicePointer(&word_there, (void *)word, 0));
    each("launch and synchronise alone", alone);
    throughput("launches a second alone");
    each("idle stream query alone", query);
    ways_to_wait();
    beside(look, beside_a_look);
    beside(serve, told_to_another);
    return 0;
}
