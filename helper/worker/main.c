// SPDX-License-Identifier: Apache-2.0
/* vcuda-worker: started by vcudad, see helper/common/supervise.h. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_errors.h"
#include "log.h"
#include "prints.h"
#include "sandbox.h"
#include "supervise.h"
#include "worker.h"

#define DRIVER_DEFAULT "libcuda.so.1"

static struct worker worker = {.regions_lock = PTHREAD_MUTEX_INITIALIZER};

/* Loads and starts the driver; *text says why not. */
static bool load_driver(struct worker *w, int *devices, char *text, size_t size) {
    const char *path = getenv("VCUDA_DRIVER");
    const char *missing;
    void *library;
    CUresult r;

    if (!path)
        path = DRIVER_DEFAULT;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(text, size, "the CUDA driver cannot be loaded: %s", dlerror());
        return false;
    }
    /* Its files may be found through the loader's path as our own library: that would be a loop. */
    if (dlsym(library, "vcuda_library")) {
        snprintf(text, size, "%s is vcuda's own library: set VCUDA_DRIVER to NVIDIA's", path);
        return false;
    }
    missing = driver_bind(&w->driver, library);
    if (missing) {
        snprintf(text, size, "%s lacks %s: a driver of CUDA 12.4 or later is needed", path,
                 missing);
        return false;
    }
    r = w->driver.cuInit(0);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDriverGetVersion(&w->driver_version);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDeviceGetCount(devices);
    if (r == CUDA_SUCCESS && !*devices)
        r = CUDA_ERROR_NO_DEVICE;
    if (r != CUDA_SUCCESS)
        snprintf(text, size, "cuInit of %s: %s", path, cuda_error_string(r));
    return r == CUDA_SUCCESS;
}

static int take_session(struct worker *w) {
    struct vcuda_supervise_session session;
    int fd, r;

    r = vcuda_supervise_wait(&session, &fd);
    if (r)
        return r;
    if (session.gpu_count > VCUDA_DEVICES_MAX)
        session.gpu_count = VCUDA_DEVICES_MAX;
    for (uint32_t i = 0; i < session.gpu_count; i++)
        w->gpus[i] = (int)session.gpus[i];
    w->gpu_count = (int)session.gpu_count;
    worker_warm_for(w);
    vcuda_stats_set(&w->stats->domid, session.domid);
    vcuda_stats_set(&w->stats->session, session.session);
    return session.domid == VCUDA_SUPERVISE_LOCAL ? link_open_local(&w->link, fd)
                                                  : link_open_xen(&w->link, fd);
}

static int fail(const char *text) {
    /* vcudad logs it, once for many tries. */
    vcuda_supervise_failed(text);
    return 1;
}

int main(int argc, char **argv) {
    struct vcuda_sandbox sandbox = {0};
    char text[VCUDA_SUPERVISE_TEXT_MAX];
    const char *what;
    int devices = 0, r;

    vcuda_log_open("vcuda-worker", getenv("VCUDA_DEBUG") ? VCUDA_LOG_DEBUG : VCUDA_LOG_NOTICE);
    for (int i = 1; i < argc; i++) {
        if (vcuda_sandbox_argument(&sandbox, argv[i])) {
            fprintf(stderr, "vcuda-worker is started by vcudad, which see. Not understood: %s\n",
                    argv[i]);
            return 2;
        }
    }
    r = prints_start();
    if (r) {
        snprintf(text, sizeof(text), "memory for what kernels print: %s", strerror(-r));
        return fail(text);
    }
    objects_init(&worker.objects);
    worker.stats = vcuda_supervise_stats();
    vcuda_stats_set(&worker.stats->pid, (uint64_t)getpid());
    if (!load_driver(&worker, &devices, text, sizeof(text)))
        return fail(text);
    r = vcuda_sandbox_enter(&sandbox, &what);
    if (r) {
        snprintf(text, sizeof(text), "cannot give up privileges: %s: %s", what, strerror(-r));
        return fail(text);
    }
    worker_warm(&worker);
    vcuda_stats_set(&worker.stats->state, VCUDA_WORKER_READY);
    r = vcuda_supervise_ready((uint32_t)worker.driver_version, (uint32_t)devices);
    if (!r)
        r = take_session(&worker);
    if (r == -EPIPE)
        return 0;
    if (r) {
        vcuda_log(VCUDA_LOG_WARNING, "the session cannot be opened: %s", strerror(-r));
        return 1;
    }
    vcuda_stats_set(&worker.stats->state, VCUDA_WORKER_SERVING);
    r = worker_watch(&worker) ? worker_serve(&worker) : 1;
    vcuda_stats_set(&worker.stats->state, VCUDA_WORKER_ENDING);
    /* Waiter threads may sleep in the driver, and its destructors would wait for the GPU. */
    _exit(r);
}
