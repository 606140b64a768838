// SPDX-License-Identifier: Apache-2.0
/*
 * CUDA programs to which something happens:
 *
 *   guest-busy loop FILE   copies and kernels, each result checked, until FILE exists. Prints
 *                          "round N" as it goes and "N rounds, no error" at the end; exit status 1
 *                          at the first error
 *   guest-busy wait        a thread waits for a stream whose kernel never ends; prints "waiting",
 *                          then which error ended it, and how long after the last good answer
 *   guest-busy copy        large copies, both ways, for ever; prints "copying" when they run
 *   guest-busy hoard       takes pinned memory until there is no more; prints how much, and the
 *                          error, and keeps it until it is ended
 *   guest-busy regrow N    takes pinned memory in small pieces until there is no more, frees
 *                          them, takes half of that at once, N times; prints how much
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

#define WORDS (64 * 1024)
#define COPY_BYTES (16u << 20)
#define HOARD_BYTES (1u << 20)
#define BETWEEN_ANSWERS_US 20000

static CUcontext context;

static long now_ms(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- loop ---------------------------------------------------------------- */

static void fill_on_gpu(CUfunction f, CUdeviceptr x, int base) {
    int n = WORDS;
    void *args[] = {&x, &n, &base};

    CK(cuLaunchKernel(f, WORDS / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
}

static void must_count_from(const int *seen, int base) {
    for (int i = 0; i < WORDS; i++) {
        if (seen[i] != base + i) {
            printf("word %d is %d, not %d\n", i, seen[i], base + i);
            exit(1);
        }
    }
}

/* By a kernel and back, then down from here and back by another way. */
static void one_round(CUfunction f, CUdeviceptr x, CUdeviceptr y, int *pageable, int *pinned,
                      int round) {
    fill_on_gpu(f, x, round);
    CK(cuMemcpyDtoH(pageable, x, WORDS * sizeof(int)));
    must_count_from(pageable, round);

    for (int i = 0; i < WORDS; i++)
        pinned[i] = 2 * round + i;
    CK(cuMemcpyHtoD(x, pinned, WORDS * sizeof(int)));
    CK(cuMemcpyDtoD(y, x, WORDS * sizeof(int)));
    memset(pinned, 0, WORDS * sizeof(int));
    CK(cuMemcpyDtoHAsync(pinned, y, WORDS * sizeof(int), NULL));
    CK(cuStreamSynchronize(NULL));
    must_count_from(pinned, 2 * round);
}

static int do_loop(const char *until) {
    CUfunction f = function(module(ptx_basics), "fill_index");
    int *pageable = malloc(WORDS * sizeof(int)), *pinned, rounds = 0;
    CUdeviceptr x, y;

    CK(cuMemAlloc(&x, WORDS * sizeof(int)));
    CK(cuMemAlloc(&y, WORDS * sizeof(int)));
    CK(cuMemHostAlloc((void **)&pinned, WORDS * sizeof(int), 0));
    while (access(until, F_OK)) {
        one_round(f, x, y, pageable, pinned, rounds);
        printf("round %d\n", ++rounds);
        usleep(BETWEEN_ANSWERS_US);
    }
    printf("%d rounds, no error\n", rounds);
    return 0;
}

/* ---- wait ---------------------------------------------------------------- */

static CUstream busy_stream;
static volatile long last_good; /* ms */

/* Calls on, so that it is known until when the session lived. */
static void *keep_asking(void *unused) {
    size_t available, total;

    (void)unused;
    CK(cuCtxSetCurrent(context));
    while (cuMemGetInfo(&available, &total) == CUDA_SUCCESS) {
        last_good = now_ms();
        usleep(BETWEEN_ANSWERS_US);
    }
    return NULL;
}

static int do_wait(void) {
    CUfunction f = function(module(ptx_basics), "wait_for");
    CUdeviceptr device_flag;
    pthread_t asking;
    CUresult r;
    int *flag;

    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemHostGetDevicePointer(&device_flag, flag, 0));
    CK(cuStreamCreate(&busy_stream, CU_STREAM_NON_BLOCKING));
    void *args[] = {&device_flag};
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, busy_stream, args, NULL));
    last_good = now_ms();
    pthread_create(&asking, NULL, keep_asking, NULL);
    printf("waiting\n");
    r = cuStreamSynchronize(busy_stream);
    printf("error %d after %ld ms\n", r, now_ms() - last_good);
    pthread_join(asking, NULL);
    return r == CUDA_SUCCESS;
}

/* ---- copy ---------------------------------------------------------------- */

static int do_copy(void) {
    char *data;
    CUdeviceptr x;

    CK(cuMemHostAlloc((void **)&data, COPY_BYTES, 0));
    CK(cuMemAlloc(&x, COPY_BYTES));
    memset(data, 1, COPY_BYTES);
    printf("copying\n");
    for (;;) {
        CK(cuMemcpyHtoD(x, data, COPY_BYTES));
        CK(cuMemcpyDtoH(data, x, COPY_BYTES));
    }
}

/* ---- hoard --------------------------------------------------------------- */

static int do_hoard(void) {
    CUresult r;
    void *taken;
    int count = 0;

    while ((r = cuMemHostAlloc(&taken, HOARD_BYTES, 0)) == CUDA_SUCCESS)
        count++;
    printf("all %d MiB, then error %d\n", count, r);
    pause();
    return 0;
}

/* ---- regrow -------------------------------------------------------------- */

#define PIECES_MAX 1024

static int in_pieces(void) {
    static void *pieces[PIECES_MAX];
    int count = 0;

    while (count < PIECES_MAX && cuMemHostAlloc(&pieces[count], HOARD_BYTES, 0) == CUDA_SUCCESS)
        count++;
    for (int i = 0; i < count; i++)
        CK(cuMemFreeHost(pieces[i]));
    return count;
}

/* And through the GPU's memory. */
static void at_once(size_t bytes) {
    CUdeviceptr there;
    uint8_t *here;

    CK(cuMemHostAlloc((void **)&here, bytes, 0));
    CK(cuMemAlloc(&there, bytes));
    memset(here, 7, bytes);
    CK(cuMemcpyHtoD(there, here, bytes));
    memset(here, 0, bytes);
    CK(cuMemcpyDtoH(here, there, bytes));
    if (here[0] != 7 || here[bytes - 1] != 7) {
        printf("it comes back wrong\n");
        exit(1);
    }
    CK(cuMemFree(there));
    CK(cuMemFreeHost(here));
}

static int do_regrow(int rounds) {
    for (int round = 0; round < rounds; round++) {
        int pieces = in_pieces();

        at_once((size_t)pieces / 2 * HOARD_BYTES);
        printf("%d MiB in pieces, %d at once\n", pieces, pieces / 2);
    }
    return 0;
}

int main(int argc, char **argv) {
    context = start();
    if (argc == 3 && !strcmp(argv[1], "loop"))
        return do_loop(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "wait"))
        return do_wait();
    if (argc == 2 && !strcmp(argv[1], "copy"))
        return do_copy();
    if (argc == 2 && !strcmp(argv[1], "hoard"))
        return do_hoard();
    if (argc == 3 && !strcmp(argv[1], "regrow"))
        return do_regrow(atoi(argv[2]));
    fprintf(stderr, "usage: guest-busy loop FILE|wait|copy|hoard|regrow N\n");
    return 2;
}
