// SPDX-License-Identifier: Apache-2.0
/*
 * usage: processes [SECONDS]   What 1, 2, 4 ... 16 processes at once do in all: launch and
 * synchronise, 1000 a second, and copies of ordinary memory, GB/s.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define PROCESSES_MAX 16
#define BYTES (1u << 20)
/* How long all are at work before anything is measured, in seconds: by then nobody gets ready for
 * the next programs any more (vcudad --burst). What starting takes is startup's and row's. */
#define SETTLE_S 1.0

static CUfunction nothing;
static CUdeviceptr device;
static void *pageable;

static void launch_and_wait(void) {
    CK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CK(cuStreamSynchronize(NULL));
}

static void copy_up(void) {
    CK(cuMemcpyHtoD(device, pageable, BYTES));
}

static void copy_down(void) {
    CK(cuMemcpyDtoH(pageable, device, BYTES));
}

/* What is done again and again, and the unit's share that doing it once is. */
static const struct kind {
    const char *name, *unit;
    double share;
    void (*once)(void);
} kinds[] = {
    {"launch and synchronise", "1000/s", 1e-3, launch_and_wait},
    {"pageable up 1 MiB", "GB/s", BYTES / 1e9, copy_up},
    {"pageable down 1 MiB", "GB/s", BYTES / 1e9, copy_down},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Shared by parent and children: how many kinds have been begun, and ended, and by how many. */
static struct shared {
    uint32_t ready, go, stop;
    struct {
        _Alignas(64) long done;
    } of[PROCESSES_MAX];
} * shared;

static void work(int which) {
    CUmodule module;

    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&nothing, module, "p0"));
    CK(cuMemAlloc(&device, BYTES));
    pageable = calloc(1, BYTES);
    for (uint32_t k = 0; k < KINDS; k++) {
        for (double begun = now(); !k && now() - begun < SETTLE_S;)
            kinds[k].once();
        for (int i = 0; i < 4; i++)
            kinds[k].once();
        __atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE) <= k)
            usleep(1000);
        while (__atomic_load_n(&shared->stop, __ATOMIC_RELAXED) <= k) {
            kinds[k].once();
            shared->of[which].done++;
        }
    }
    __atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
    _exit(0);
}

static void await_ready(uint32_t count) {
    while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < count) {
        int status;

        usleep(1000);
        if (waitpid(-1, &status, WNOHANG) > 0 && status)
            exit(1); /* one that could not go on */
    }
}

static long done(int count) {
    long sum = 0;

    for (int i = 0; i < count; i++)
        sum += shared->of[i].done;
    return sum;
}

static void measure(int count, double seconds) {
    const struct timespec pause = {(time_t)seconds,
                                   (long)((seconds - (double)(time_t)seconds) * 1e9)};

    memset(shared, 0, sizeof(*shared));
    for (int i = 0; i < count; i++) {
        if (!fork())
            work(i);
    }
    for (uint32_t k = 0; k < KINDS; k++) {
        char figure[64];
        double begun, rate;
        long before;

        await_ready((uint32_t)count * (k + 1));
        before = done(count);
        begun = now();
        __atomic_store_n(&shared->go, k + 1, __ATOMIC_RELEASE);
        nanosleep(&pause, NULL);
        rate = (double)(done(count) - before) * kinds[k].share / (now() - begun);
        __atomic_store_n(&shared->stop, k + 1, __ATOMIC_RELAXED);
        snprintf(figure, sizeof(figure), "%s, %d processes", kinds[k].name, count);
        report(figure, kinds[k].unit, &rate, 1);
    }
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    for (int count = 1; count <= PROCESSES_MAX; count *= 2)
        measure(count, seconds);
    return 0;
}
