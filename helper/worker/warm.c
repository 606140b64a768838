// SPDX-License-Identifier: Apache-2.0
/*
 * What a worker does before it has a session, so that no program pays for it: the first device's
 * primary context, and one kernel from PTX, which has the driver load its compiler and linker.
 */
#include <stdlib.h>

#include "jit.h"
#include "log.h"
#include "machine.h"
#include "worker.h"

static const char nothing[] = ".version 7.0\n"
                              ".target sm_50\n"
                              ".address_size 64\n"
                              ".visible .entry vcuda_nothing(){ret;}\n";

/* As a program's text is loaded: machine code first, see compiled.c. */
static CUresult load_nothing(struct worker *w, CUmodule *module) {
    struct jit plain = {0};
    size_t size = sizeof(nothing);
    char *code = malloc(size);
    CUresult r;

    if (!code)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(code, nothing, size);
    r = machine_link(w, false, &plain, &code, &size);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuModuleLoadDataEx(module, code, 0, NULL, NULL);
    free(code);
    return r;
}

static CUresult run_nothing(struct worker *w) {
    CUlaunchConfig once = {.gridDimX = 1,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 1,
                           .blockDimY = 1,
                           .blockDimZ = 1};
    struct driver *d = &w->driver;
    CUmodule module;
    CUfunction f;
    CUresult r = load_nothing(w, &module);

    if (r != CUDA_SUCCESS)
        return r;
    r = d->cuModuleGetFunction(&f, module, "vcuda_nothing");
    if (r == CUDA_SUCCESS)
        r = d->cuLaunchKernelEx(&once, f, NULL, NULL);
    if (r == CUDA_SUCCESS)
        r = d->cuCtxSynchronize();
    d->cuModuleUnload(module);
    return r;
}

void worker_warm(struct worker *w) {
    CUresult r = w->driver.cuDevicePrimaryCtxRetain(&w->base, 0);

    if (r != CUDA_SUCCESS) {
        w->base = NULL;
        vcuda_log(VCUDA_LOG_WARNING, "no context ahead of need: error %d", r);
        return;
    }
    r = w->driver.cuCtxSetCurrent(w->base);
    if (r == CUDA_SUCCESS)
        r = run_nothing(w);
    /* The program will be told the same, in its own time. */
    if (r != CUDA_SUCCESS)
        vcuda_log(VCUDA_LOG_WARNING, "no kernel ahead of need: error %d", r);
    w->driver.cuCtxSetCurrent(NULL);
}

void worker_warm_for(struct worker *w) {
    if (!w->base || w->gpus[0] == 0)
        return;
    w->driver.cuDevicePrimaryCtxRelease_v2(0);
    w->base = NULL;
}
