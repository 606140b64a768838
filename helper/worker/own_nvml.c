// SPDX-License-Identifier: Apache-2.0
/* What the guest's libnvidia-ml.so.1 asks, on waiter threads: NVML may take its time. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nvml.h"
#include "stats.h"
#include "worker.h"

CUresult own_nvml_open(struct worker *w, struct frame *f, struct args_nvml_open *a) {
    struct vcuda_nvml_info *info = a->info;
    unsigned int (*text)(char *, unsigned int);

    (void)f;
    if (a->info_cap != sizeof(*info))
        return CUDA_ERROR_INVALID_VALUE;
    info->host_has_nvml = nvml_start(w);
    text = nvml_function("nvmlSystemGetDriverVersion");
    if (text)
        text(info->driver_version, sizeof(info->driver_version));
    text = nvml_function("nvmlSystemGetNVMLVersion");
    if (text)
        text(info->nvml_version, sizeof(info->nvml_version));
    a->info_len = sizeof(*info);
    return CUDA_SUCCESS;
}

/* Whether a device that the query takes has a handle, NULL where it takes none. */
static bool find_device(struct worker *w, bool wanted, int device, nvmlDevice_t *handle) {
    *handle = wanted ? nvml_device(w, device) : NULL;
    return !wanted || *handle;
}

static unsigned int query(struct worker *w, const struct args_nvml_query *a,
                          const struct nvml_query *known) {
    struct nvml_question q = {
        .numbers = {a->first, a->second, a->third}, .in = a->given, .answer = a->answer};

    if (!nvml_start(w) || !find_device(w, known->device, a->device, &q.device) ||
        !find_device(w, known->other, a->other, &q.other))
        return NVML_ERROR_NOT_SUPPORTED;
    q.function = nvml_function(known->name);
    return q.function ? known->ask(&q) : NVML_ERROR_NOT_SUPPORTED;
}

CUresult own_nvml_query(struct worker *w, struct frame *f, struct args_nvml_query *a) {
    const struct nvml_query *known = nvml_query_find(a->name);

    (void)f;
    if (!known) { /* a newer library's */
        a->result = NVML_ERROR_NOT_SUPPORTED;
        return CUDA_SUCCESS;
    }
    if (a->given_len != known->in_bytes || a->answer_cap != known->answer_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    a->result = (int32_t)query(w, a, known);
    a->answer_len = known->answer_bytes;
    return CUDA_SUCCESS;
}

/* Pairs of field and scope in, as many values out. */
CUresult own_nvml_fields(struct worker *w, struct frame *f, struct args_nvml_fields *a) {
    unsigned int (*get)(nvmlDevice_t, int, nvmlFieldValue_t *);
    uint32_t count = a->given_len / 8;
    const uint32_t *given = a->given;
    nvmlFieldValue_t *values = a->answer;

    (void)f;
    if (!count || count > VCUDA_NVML_FIELDS_MAX || a->given_len % 8 ||
        a->answer_cap != count * sizeof(*values))
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++) {
        values[i].fieldId = given[2 * i];
        values[i].scopeId = given[2 * i + 1];
    }
    a->result = NVML_ERROR_NOT_SUPPORTED;
    if (nvml_start(w) && nvml_device(w, a->device)) {
        get = nvml_function("nvmlDeviceGetFieldValues");
        if (get)
            a->result = (int32_t)get(nvml_device(w, a->device), (int)count, values);
    }
    a->answer_len = a->answer_cap;
    return CUDA_SUCCESS;
}

static unsigned int host_memory(struct worker *w, int device, nvmlMemory_v2_t *m) {
    unsigned int (*get)(nvmlDevice_t, nvmlMemory_v2_t *);
    nvmlDevice_t handle;

    if (!nvml_start(w))
        return NVML_ERROR_NOT_SUPPORTED;
    handle = nvml_device(w, device);
    get = nvml_function("nvmlDeviceGetMemoryInfo_v2");
    return handle && get ? get(handle, m) : NVML_ERROR_NOT_SUPPORTED;
}

CUresult own_nvml_memory(struct worker *w, struct frame *f, struct args_nvml_memory *a) {
    nvmlMemory_v2_t m = {.version = NVML_VERSION_WORD(nvmlMemory_v2_t, 2)};

    (void)f;
    a->result = (int32_t)host_memory(w, a->device, &m);
    if (memory_limited() && memory_size(m.total) < m.total) {
        /* A smaller GPU, which no others use. */
        m.total = memory_size(m.total);
        m.reserved = 0;
        m.free = memory_left(m.free);
        m.used = m.total - m.free;
    }
    a->total = m.total;
    a->reserved = m.reserved;
    a->left = m.free;
    a->used = m.used;
    return CUDA_SUCCESS;
}

/*
 * Such a session needs no context: the one that was made ahead of need would only take memory, and
 * be shown as a program's.
 */
CUresult own_nvml_light(struct worker *w, struct frame *f, struct args_nvml_light *a) {
    (void)f;
    (void)a;
    for (uint32_t i = 1; i < VCUDA_REGIONS_MAX; i++) {
        if (w->regions[i].bytes)
            return CUDA_ERROR_NOT_PERMITTED;
    }
    vcuda_stats_set(&w->stats->light, 1);
    regions_unregistered(w);
    return CUDA_SUCCESS;
}

/*
 * The program of this domain that a worker on the GPU serves; 0: none of this domain's. The roster
 * is written each second, and may not know yet that this session only asks.
 */
static uint32_t program_of(const struct worker *w, unsigned int pid) {
    const uint64_t *roster = vcuda_roster(w->stats);

    if (pid == vcuda_stats_get(&w->stats->pid) && vcuda_stats_get(&w->stats->light))
        return 0;
    for (uint32_t i = 0; i < VCUDA_ROSTER_MAX; i++) {
        uint64_t entry = vcuda_stats_get(&roster[i]);

        if (entry >> 32 == pid)
            return (uint32_t)entry;
    }
    return 0;
}

/* All programs on a device of the host, or NULL; free() it. */
static nvmlProcessInfo_t *host_processes(nvmlDevice_t device, unsigned int *count,
                                         unsigned int *result) {
    unsigned int (*get)(nvmlDevice_t, unsigned int *, nvmlProcessInfo_t *) =
        nvml_function("nvmlDeviceGetComputeRunningProcesses_v3");
    nvmlProcessInfo_t *all = NULL;

    *result = get ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_ERROR_NOT_SUPPORTED;
    /* Some may start between the question how many there are and the next. */
    for (*count = 256; *result == NVML_ERROR_INSUFFICIENT_SIZE && *count <= 65536; *count *= 2) {
        unsigned int room = *count;

        free(all);
        all = calloc(room, sizeof(*all));
        if (!all) {
            *result = NVML_ERROR_MEMORY;
            return NULL;
        }
        *result = get(device, &room, all);
        if (*result == NVML_SUCCESS) {
            *count = room;
            return all;
        }
    }
    free(all);
    return NULL;
}

CUresult own_nvml_processes(struct worker *w, struct frame *f, struct args_nvml_processes *a) {
    struct vcuda_nvml_process *own = a->programs;
    unsigned int count = 0, result = NVML_ERROR_NOT_SUPPORTED;
    nvmlProcessInfo_t *all = NULL;

    (void)f;
    if (a->programs_cap != VCUDA_NVML_PROCESSES_MAX * sizeof(*own))
        return CUDA_ERROR_INVALID_VALUE;
    if (nvml_start(w) && nvml_device(w, a->device))
        all = host_processes(nvml_device(w, a->device), &count, &result);
    a->result = (int32_t)result;
    for (unsigned int i = 0; all && i < count && a->count < VCUDA_NVML_PROCESSES_MAX; i++) {
        uint32_t program = program_of(w, all[i].pid);

        if (program)
            own[a->count++] =
                (struct vcuda_nvml_process){.pid = program, .used = all[i].usedGpuMemory};
    }
    free(all);
    a->programs_len = a->programs_cap;
    return CUDA_SUCCESS;
}
