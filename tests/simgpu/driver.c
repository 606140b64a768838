// SPDX-License-Identifier: Apache-2.0
/* Start and end of the driver, versions and error texts. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_errors.h"
#include "sim.h"

#define DEFAULT_MEMORY ((size_t)1 << 30)

volatile bool sim_exiting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool started, forked;
static struct sim_device devices[SIM_MAX_DEVICES];
static int device_count;

uint64_t sim_now(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool exiting(void) {
    return __atomic_load_n(&sim_exiting, __ATOMIC_RELAXED);
}

static __thread bool inside_host_function;

CUresult sim_ready(void) {
    /* First of all: in a forked child any lock may be held by a thread that is not there. */
    if (atomic_load(&forked) || !atomic_load(&started))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (inside_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    return exiting() ? CUDA_ERROR_DEINITIALIZED : CUDA_SUCCESS;
}

void sim_inside_host_function(bool inside) {
    inside_host_function = inside;
}

int sim_device_count(void) {
    return device_count;
}

struct sim_device *sim_device(CUdevice dev) {
    return dev >= 0 && dev < device_count ? &devices[dev] : NULL;
}

/* A number with an optional K, M or G; `otherwise` where the variable is not set. */
static bool read_size(const char *variable, size_t otherwise, size_t *value) {
    const char *text = getenv(variable);
    unsigned shift = 0;
    char *end;

    *value = otherwise;
    if (!text)
        return true;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (*end == 'K' || *end == 'M' || *end == 'G')
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
    if (errno || end == text || *end || *value > SIZE_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

static CUresult start_device(struct sim_device *device, int ordinal, size_t memory) {
    device->ordinal = ordinal;
    pthread_mutex_init(&device->primary_lock, NULL);
    if (!sim_heap_start(&device->heap, ordinal, memory))
        return CUDA_ERROR_OUT_OF_MEMORY;
    device->primary = sim_context_new(device);
    if (!device->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    device->primary->primary = true;
    return CUDA_SUCCESS;
}

static void at_exit(void) {
    __atomic_store_n(&sim_exiting, true, __ATOMIC_RELAXED);
}

static void after_fork_in_child(void) {
    atomic_store(&forked, true);
}

static CUresult start(void) {
    size_t count, memory;

    if (!read_size("SIMGPU_DEVICES", 1, &count) ||
        !read_size("SIMGPU_MEMORY", DEFAULT_MEMORY, &memory) || count > SIM_MAX_DEVICES)
        return CUDA_ERROR_INVALID_VALUE;
    if (count == 0)
        return CUDA_ERROR_NO_DEVICE;
    for (; (size_t)device_count < count; device_count++) {
        CUresult result = start_device(&devices[device_count], device_count, memory);

        if (result != CUDA_SUCCESS)
            return result;
    }
    sim_ipc_sweep();
    pthread_atfork(NULL, NULL, after_fork_in_child);
    atexit(at_exit);
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int Flags) {
    CUresult result = CUDA_SUCCESS;

    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&forked))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (exiting())
        return CUDA_ERROR_DEINITIALIZED;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&started)) {
        result = start();
        atomic_store(&started, result == CUDA_SUCCESS);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuDriverGetVersion(int *driverVersion) {
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **pStr) {
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = cuda_error_name(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr) {
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = cuda_error_string(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
