// SPDX-License-Identifier: Apache-2.0
/*
 * usage: latency [SAMPLES]   How long a call takes, by kind.
 *
 * Submission of posted calls is timed in bursts, with the GPU idle before each: what the calling
 * thread pays. Everything else is timed call by call.
 */
#include "bench.h"

#define BURST 64

static double *samples;
static int count = 2000;
static CUmodule module;
static CUstream stream;
static CUevent event;
static CUdeviceptr device;
static uint8_t *pinned, params[4096];
static int pageable;

static CUfunction function(const char *name) {
    CUfunction f;

    CK(cuModuleGetFunction(&f, module, name));
    return f;
}

static void launch(CUfunction f) {
    void *args[] = {params};

    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

/* Microseconds that each of `count` runs of `what` takes. */
#define EACH(figure, what)                                                                         \
    do {                                                                                           \
        for (int i = -count / 10; i < count; i++) {                                                \
            double begun = now();                                                                  \
            what;                                                                                  \
            if (i >= 0)                                                                            \
                samples[i] = (now() - begun) * 1e6;                                                \
        }                                                                                          \
        report(figure, "us", samples, count);                                                      \
    } while (0)

static void submission(const char *figure, CUfunction f) {
    for (int i = -2; i < count / BURST; i++) {
        double begun = now();

        for (int j = 0; j < BURST; j++)
            launch(f);
        if (i >= 0)
            samples[i] = (now() - begun) * 1e6 / BURST;
        CK(cuStreamSynchronize(stream));
    }
    report(figure, "us", samples, count / BURST);
}

static void throughput(CUfunction f) {
    for (int i = 0; i < 5; i++) {
        double begun = now();

        for (int j = 0; j < count * 5; j++)
            launch(f);
        CK(cuStreamSynchronize(stream));
        samples[i] = count * 5 / (now() - begun) / 1e3;
    }
    report("launches a second", "1000/s", samples, 5);
}

int main(int argc, char **argv) {
    size_t limit;
    CUdeviceptr p;

    samples = samples_wanted(argc, argv, &count, BURST);
    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuMemAlloc(&device, 1 << 20));
    CUfunction f = function("p64");
    launch(f);
    EACH("launch and synchronise the context, no streams", launch(f); CK(cuCtxSynchronize()));
    EACH("allocate and free 1 MiB, no streams", CK(cuMemAlloc(&p, 1 << 20)); CK(cuMemFree(p)));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CK(cuMemAllocHost((void **)&pinned, 1 << 20));

    submission("launch, submit, no parameters", function("p0"));
    submission("launch, submit, 64 bytes", function("p64"));
    submission("launch, submit, 1024 bytes", function("p1024"));
    submission("launch, submit, 4096 bytes", function("p4096"));
    throughput(function("p64"));
    EACH("launch and synchronise", launch(f); CK(cuStreamSynchronize(stream)));
    EACH("event record", CK(cuEventRecord(event, stream)));
    EACH("idle stream synchronise", CK(cuStreamSynchronize(stream)));
    EACH("idle stream query", CK(cuStreamQuery(stream)));
    EACH("a forwarded query (limit)", CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE)));
    EACH("4 bytes up", CK(cuMemcpyHtoD(device, &pageable, 4)));
    EACH("4 bytes down", CK(cuMemcpyDtoH(&pageable, device, 4)));
    EACH("4 bytes up, pinned, async, synchronise", CK(cuMemcpyHtoDAsync(device, pinned, 4, stream));
         CK(cuStreamSynchronize(stream)));
    count /= 4;
    EACH("allocate and free 1 MiB", CK(cuMemAlloc(&p, 1 << 20)); CK(cuMemFree(p)));
    return 0;
}
