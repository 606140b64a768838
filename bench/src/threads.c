// SPDX-License-Identifier: Apache-2.0
/* usage: threads [SECONDS]   Launch and synchronise from 1, 2, 4 ... 64 threads: 1000 a second in
 * all. */
#include <pthread.h>

#include "bench.h"

#define THREADS_MAX 64

static CUcontext context;
static CUfunction f;
static volatile int stop;
static double seconds = 0.5;

static void *worker(void *arg) {
    long *done = arg;
    CUstream stream;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (!stop) {
        CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        CK(cuStreamSynchronize(stream));
        ++*done;
    }
    CK(cuStreamDestroy(stream));
    return NULL;
}

static void measure(int count) {
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pthread_t threads[THREADS_MAX];
    long done[THREADS_MAX][8] = {{0}}; /* a cache line each */
    double begun = now(), sum = 0;
    char figure[64];

    stop = 0;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, done[i]);
    nanosleep(&pause, NULL);
    stop = 1;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += (double)done[i][0];
    }
    sum /= (now() - begun) * 1e3;
    snprintf(figure, sizeof(figure), "launch and synchronise, %d threads", count);
    report(figure, "1000/s", &sum, 1);
}

int main(int argc, char **argv) {
    CUmodule module;

    if (argc > 1)
        seconds = atof(argv[1]);
    context = start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p0"));
    for (int count = 1; count <= THREADS_MAX; count *= 2)
        measure(count);
    return 0;
}
