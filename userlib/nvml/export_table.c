// SPDX-License-Identifier: Apache-2.0
/*
 * The private table that nvidia-smi asks of its NVML before all else: without one it finds that the
 * two are not of one version. The table's first word is its size in bytes, the others are
 * functions. What is known of it publicly is served; the rest is not supported, as a GPU says of
 * what it does not have, and told where VCUDA_LOG is set.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "nvml_calls.h"
#include "nvml_link.h"

/* By their place in the table. Seen with drivers 580. */
enum {
    SLOT_DEVICE_BY_INDEX = 81,
    SLOT_COMPUTE_PROCESSES = 213,
    SLOT_GRAPHICS_PROCESSES,
    SLOT_MPS_PROCESSES,
    SLOTS = 0x948 / sizeof(void *),
};

#define NAME_BYTES 4096

/* A program as this table tells it: with its name. */
struct named_process {
    unsigned int pid;
    unsigned long long used;
    unsigned int gpu_instance, compute_instance;
    unsigned long long protected_used;
    char name[NAME_BYTES];
};

static const unsigned char table_id[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                           0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

static nvmlReturn_t give_named(const nvmlProcessInfo_t *from, unsigned int count,
                               struct named_process *to) {
    for (unsigned int i = 0; i < count; i++) {
        to[i] = (struct named_process){.pid = from[i].pid,
                                       .used = from[i].usedGpuMemory,
                                       .gpu_instance = NVML_NO_INSTANCE,
                                       .compute_instance = NVML_NO_INSTANCE};
        nvmlSystemGetProcessName(from[i].pid, to[i].name, NAME_BYTES);
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t compute_processes(nvmlDevice_t device, unsigned int *count,
                                      struct named_process *to) {
    nvmlProcessInfo_t *infos;
    nvmlReturn_t r;

    if (!count || (*count && !to))
        return NVML_ERROR_INVALID_ARGUMENT;
    infos = calloc(*count + 1ul, sizeof(*infos));
    if (!infos)
        return NVML_ERROR_MEMORY;
    r = nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
    if (r == NVML_SUCCESS)
        r = give_named(infos, *count, to);
    free(infos);
    return r;
}

/* What a function of the table does. How many arguments it has, only its place says. */
static nvmlReturn_t call(unsigned int slot, uintptr_t first, void *second, void *third) {
    switch (slot) {
    case SLOT_DEVICE_BY_INDEX:
        return nvmlDeviceGetHandleByIndex_v2((unsigned int)first, second);
    case SLOT_COMPUTE_PROCESSES:
        return compute_processes((nvmlDevice_t)first, second, third);
    case SLOT_GRAPHICS_PROCESSES:
        return nvmlDeviceGetGraphicsRunningProcesses_v3((nvmlDevice_t)first, second, NULL);
    case SLOT_MPS_PROCESSES:
        return nvmlDeviceGetMPSComputeRunningProcesses_v3((nvmlDevice_t)first, second, NULL);
    default:
        guest_log("NVML's private function %u is not served", slot);
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

/* A function for each place, so that it is known which was called: 16 times HI, and LO. */
#define FUNCTION(hi, lo)                                                                           \
    static nvmlReturn_t slot_##hi##_##lo(uintptr_t first, void *second, void *third) {             \
        return call(hi * 16 + lo, first, second, third);                                           \
    }
#define ADDRESS(hi, lo) (void *)slot_##hi##_##lo,
#define ROW(what, hi)                                                                              \
    what(hi, 0) what(hi, 1) what(hi, 2) what(hi, 3) what(hi, 4) what(hi, 5) what(hi, 6)            \
        what(hi, 7) what(hi, 8) what(hi, 9) what(hi, 10) what(hi, 11) what(hi, 12) what(hi, 13)    \
            what(hi, 14) what(hi, 15)
#define ROWS_0(what) ROW(what, 0) ROW(what, 1) ROW(what, 2) ROW(what, 3) ROW(what, 4)
#define ROWS_5(what) ROW(what, 5) ROW(what, 6) ROW(what, 7) ROW(what, 8) ROW(what, 9)
#define ROWS_10(what) ROW(what, 10) ROW(what, 11) ROW(what, 12) ROW(what, 13) ROW(what, 14)
#define ROWS_15(what) ROW(what, 15) ROW(what, 16) ROW(what, 17) ROW(what, 18)
#define ROWS(what) ROWS_0(what) ROWS_5(what) ROWS_10(what) ROWS_15(what)

ROWS(FUNCTION)

static void *const functions[] = {ROWS(ADDRESS)};

_Static_assert(sizeof(functions) / sizeof(functions[0]) >= SLOTS, "a function for each place");

VCUDA_EXPORT nvmlReturn_t nvmlInternalGetExportTable(const void **ppExportTable, const void *id) {
    static const void *table[SLOTS];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    unsigned char asked[16];

    if (!ppExportTable || !id)
        return NVML_ERROR_INVALID_ARGUMENT;
    memcpy(asked, id, sizeof(asked));
    if (memcmp(asked, table_id, sizeof(asked))) {
        guest_log("NVML's private table %02x%02x%02x%02x... is not served", asked[3], asked[2],
                  asked[1], asked[0]);
        return NVML_ERROR_NOT_FOUND;
    }
    pthread_mutex_lock(&lock);
    memcpy(table, functions, sizeof(table));
    table[0] = (const void *)sizeof(table);
    pthread_mutex_unlock(&lock);
    *ppExportTable = table;
    return NVML_SUCCESS;
}
