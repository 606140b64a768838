// SPDX-License-Identifier: Apache-2.0
/*
 * usage: chains [SAMPLES]   What kernels cost the driver one by one, and as graphs.
 *
 * Launches a second of kernels one by one, and in graphs of 1 to 32 in a row whose parameters are
 * all set anew before each use; a wait after one of either; and what setting one kernel's and
 * launching each graph takes by itself. It is what the worker's chains rest on.
 */
#include "bench.h"

#define LONGEST 32u

struct chain {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[LONGEST];
};

static double *samples;
static int count = 2000;
static CUfunction f;
static CUstream stream;
static uint8_t parameters[64];
static void *arguments[] = {parameters};

static const CUDA_KERNEL_NODE_PARAMS *node(void) {
    static CUDA_KERNEL_NODE_PARAMS p;

    p = (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                  .gridDimX = 1,
                                  .gridDimY = 1,
                                  .gridDimZ = 1,
                                  .blockDimX = 1,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .kernelParams = arguments};
    return &p;
}

static void make(struct chain *c, uint32_t length) {
    CK(cuGraphCreate(&c->graph, 0));
    for (uint32_t i = 0; i < length; i++)
        CK(cuGraphAddKernelNode(&c->nodes[i], c->graph, i ? &c->nodes[i - 1] : NULL, i ? 1 : 0,
                                node()));
    CK(cuGraphInstantiateWithFlags(&c->exec, c->graph, 0));
}

static void end(struct chain *c) {
    CK(cuGraphExecDestroy(c->exec));
    CK(cuGraphDestroy(c->graph));
}

static void set(struct chain *c, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        CK(cuGraphExecKernelNodeSetParams(c->exec, c->nodes[i], node()));
}

/* `length` kernels: 0, one by itself. */
static void launch(struct chain *c, uint32_t length) {
    if (!length) {
        CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
        return;
    }
    set(c, length);
    CK(cuGraphLaunch(c->exec, stream));
}

static void say(const char *what, uint32_t length, const char *unit, int n) {
    char figure[64];

    if (length)
        snprintf(figure, sizeof(figure), "%s, in graphs of %u", what, length);
    else
        snprintf(figure, sizeof(figure), "%s, one by one", what);
    report(figure, unit, samples, n);
}

static void throughput(struct chain *c, uint32_t length) {
    uint32_t each = length ? length : 1;

    for (int i = 0; i < 5; i++) {
        double begun = now();

        for (uint32_t done = 0; done < (uint32_t)count * 5; done += each)
            launch(c, length);
        CK(cuStreamSynchronize(stream));
        samples[i] = count * 5 / (now() - begun) / 1e3;
    }
    say("kernels a second", length, "1000/s", 5);
}

static void wait(struct chain *c, uint32_t length) {
    for (int i = -count / 10; i < count; i++) {
        double begun = now();

        launch(c, length);
        CK(cuStreamSynchronize(stream));
        if (i >= 0)
            samples[i] = (now() - begun) * 1e6;
    }
    say("launch and synchronise", length, "us", count);
}

/* What each of the two calls takes; the GPU is waited for in between. */
static void parts(struct chain *c, uint32_t length) {
    for (int i = 0; i < count; i++) {
        double begun = now();

        set(c, length);
        samples[i] = (now() - begun) * 1e6 / length;
    }
    say("to set a kernel", length, "us", count);
    for (int i = 0; i < count; i++) {
        double begun = now();

        CK(cuGraphLaunch(c->exec, stream));
        samples[i] = (now() - begun) * 1e6;
        CK(cuStreamSynchronize(stream));
    }
    say("to launch", length, "us", count);
}

static void chains(uint32_t length) {
    struct chain c = {0};

    if (length)
        make(&c, length);
    for (int i = 0; i < 10; i++)
        launch(&c, length);
    CK(cuStreamSynchronize(stream));
    throughput(&c, length);
    wait(&c, length);
    if (length) {
        parts(&c, length);
        end(&c);
    }
}

int main(int argc, char **argv) {
    CUmodule module;

    samples = samples_wanted(argc, argv, &count, 10);
    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p64"));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    chains(0);
    for (uint32_t length = 1; length <= LONGEST; length *= 2)
        chains(length);
    return 0;
}
