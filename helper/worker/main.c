// SPDX-License-Identifier: Apache-2.0
/* vcuda-worker: started by vcudad, see helper/common/supervise.h. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addresses.h"
#include "cuda_errors.h"
#include "ipc.h"
#include "log.h"
#include "memory.h"
#include "nvml.h"
#include "prints.h"
#include "sandbox.h"
#include "shared.h"
#include "supervise.h"
#include "worker.h"

static struct worker worker = {.regions_lock = PTHREAD_MUTEX_INITIALIZER};

/* Opens one that is not vcuda's own library, which would be a loop; *text says why not. */
static void *open_driver(const char *path, char *text, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(text, size, "the CUDA driver cannot be loaded: %s", dlerror());
    } else if (dlsym(library, "vcuda_library")) {
        snprintf(text, size, "%s is vcuda's own library: set VCUDA_DRIVER to NVIDIA's", path);
        dlclose(library);
        library = NULL;
    }
    return library;
}

/*
 * The driver that VCUDA_DRIVER names, or the one that the loader finds. Where that is ours, since
 * this machine is its own guest, NVIDIA's is looked for where its packages put it.
 */
static void *find_driver(const char **path, char *text, size_t size) {
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                         "/usr/lib64/libcuda.so.1",
                                         "/usr/local/nvidia/lib64/libcuda.so.1"};
    char unused[VCUDA_SUPERVISE_TEXT_MAX];
    void *library;

    *path = getenv("VCUDA_DRIVER");
    if (*path)
        return open_driver(*path, text, size);
    *path = "libcuda.so.1";
    library = open_driver(*path, text, size);
    for (size_t i = 0; !library && i < sizeof(places) / sizeof(places[0]); i++) {
        *path = places[i];
        library = open_driver(*path, unused, sizeof(unused));
    }
    return library;
}

/* Loads and starts the driver; *text says why not. */
static bool load_driver(struct worker *w, int *devices, char *text, size_t size) {
    const char *path, *missing;
    void *library = find_driver(&path, text, size);
    CUresult r;

    if (!library)
        return false;
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
    struct vcuda_owner *owner;
    int fd, r;

    r = vcuda_supervise_wait(&session, &fd, &owner);
    if (r)
        return r;
    if (session.gpu_count > VCUDA_DEVICES_MAX)
        session.gpu_count = VCUDA_DEVICES_MAX;
    for (uint32_t i = 0; i < session.gpu_count; i++)
        w->gpus[i] = (int)session.gpus[i];
    w->gpu_count = (int)session.gpu_count;
    worker_warm_for(w);
    addresses_start(w);
    ipc_start(owner, session.place);
    shared_start(VCUDA_SUPERVISE_FD);
    memory_start(owner, session.place, session.memory_limit);
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

    vcuda_log_open("vcuda-worker", VCUDA_LOG_NOTICE);
    for (int i = 1; i < argc; i++) {
        if (!vcuda_log_argument(argv[i]) && vcuda_sandbox_argument(&sandbox, argv[i])) {
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
    nvml_load(&worker);
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
