// SPDX-License-Identifier: Apache-2.0
#include "nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "worker.h"

#define NVML_NAME "libnvidia-ml.so.1"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct worker *starting; /* what start() works for */
static void *library;
static nvmlDevice_t handles[VCUDA_DEVICES_MAX];

/* One that is ours would be a loop. */
static void *open_library(const char *path) {
    void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (found && dlsym(found, "vcuda_library")) {
        dlclose(found);
        found = NULL;
    }
    return found;
}

/*
 * VCUDA_NVML; else what lies beside the driver; else, for a driver that was found by its name, what
 * is found by name: another driver's NVML would speak of other devices.
 */
static void *find_library(const struct worker *w) {
    const char *path = getenv("VCUDA_NVML");
    const char *driver = getenv("VCUDA_DRIVER");
    char beside[4096];
    void *found = NULL;
    Dl_info info;

    if (path)
        return open_library(path);
    if (dladdr((void *)w->driver.cuInit, &info) && strrchr(info.dli_fname, '/')) {
        snprintf(beside, sizeof(beside), "%.*s/" NVML_NAME,
                 (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname);
        found = open_library(beside);
    }
    if (!found && (!driver || !strchr(driver, '/')))
        found = open_library(NVML_NAME);
    return found;
}

/* "KIND-" and the UUID, as NVML writes it. */
static void write_uuid(char *text, size_t size, const char *kind, const CUuuid *uuid) {
    const unsigned char *b = (const unsigned char *)uuid->bytes;

    snprintf(text, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             kind, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
             b[13], b[14], b[15]);
}

static nvmlDevice_t find_handle(const struct worker *w, int guest_device) {
    static const char *const kinds[] = {"GPU", "MIG"};
    unsigned int (*by_uuid)(const char *, nvmlDevice_t *) =
        dlsym(library, "nvmlDeviceGetHandleByUUID");
    nvmlDevice_t found = NULL;
    CUdevice device;
    CUuuid uuid;
    char text[64];

    if (!by_uuid || worker_device(w, guest_device, &device) != CUDA_SUCCESS ||
        w->driver.cuDeviceGetUuid_v2(&uuid, device) != CUDA_SUCCESS)
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        write_uuid(text, sizeof(text), kinds[i], &uuid);
        if (by_uuid(text, &found) == NVML_SUCCESS)
            return found;
    }
    return NULL;
}

void nvml_load(const struct worker *w) {
    library = find_library(w);
    if (!library)
        vcuda_log(VCUDA_LOG_INFO, "no " NVML_NAME ": sensors are not shown to guests");
}

static void start(void) {
    unsigned int (*init)(void);
    unsigned int r;

    if (!library)
        return;
    init = dlsym(library, "nvmlInit_v2");
    r = init ? init() : NVML_ERROR_FUNCTION_NOT_FOUND;
    if (r != NVML_SUCCESS) {
        vcuda_log(VCUDA_LOG_WARNING, NVML_NAME " does not start: %u", r);
        library = NULL;
        return;
    }
    for (int i = 0; i < starting->gpu_count; i++)
        handles[i] = find_handle(starting, i);
}

bool nvml_start(const struct worker *w) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    starting = w;
    pthread_once(&once, start);
    pthread_mutex_unlock(&lock);
    return library != NULL;
}

void *nvml_function(const char *name) {
    return library ? dlsym(library, name) : NULL;
}

nvmlDevice_t nvml_device(const struct worker *w, int guest_device) {
    return guest_device >= 0 && guest_device < w->gpu_count ? handles[guest_device] : NULL;
}
