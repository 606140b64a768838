// SPDX-License-Identifier: Apache-2.0
/*
 * usage: processes [SECONDS]   Launch and synchronise from 1, 2, 4 ... 16 processes at once: 1000 a
 * second in all.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define PROCESSES_MAX 16

/* Shared by parent and children. */
static struct shared {
    uint32_t ready, go, stop;
    struct {
        _Alignas(64) long done;
    } of[PROCESSES_MAX];
} * shared;

static void work(int which) {
    CUmodule module;
    CUfunction f;

    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p0"));
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CK(cuStreamSynchronize(NULL));
    __atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
        usleep(1000);
    while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
        CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        CK(cuStreamSynchronize(NULL));
        shared->of[which].done++;
    }
    _exit(0);
}

static void measure(int count, double seconds) {
    const struct timespec pause = {(time_t)seconds,
                                   (long)((seconds - (double)(time_t)seconds) * 1e9)};
    double begun, sum = 0;
    char figure[64];

    memset(shared, 0, sizeof(*shared));
    for (int i = 0; i < count; i++) {
        if (!fork())
            work(i);
    }
    while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) != (uint32_t)count) {
        int status;

        usleep(1000);
        if (waitpid(-1, &status, WNOHANG) > 0)
            exit(1); /* one that could not even begin */
    }
    begun = now();
    __atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
    nanosleep(&pause, NULL);
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++)
        wait(NULL);
    for (int i = 0; i < count; i++)
        sum += (double)shared->of[i].done;
    sum /= (now() - begun) * 1e3;
    snprintf(figure, sizeof(figure), "launch and synchronise, %d processes", count);
    report(figure, "1000/s", &sum, 1);
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
