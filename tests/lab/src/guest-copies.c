// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA program that copies by size, for comparison with tcp-ends:
 *
 *   guest-copies [-n] pinned|pageable AMOUNT BYTES...
 *
 * For each size a line with the rate of copies up to the GPU and one of those down from it, one
 * copy after the other until all have ended, and one with the times of single copies up, each
 * waited for:
 *
 *   BYTES up|down bytes=N ns=N
 *   BYTES trip best_ns=N p50_ns=N p99_ns=N mean_ns=N
 *
 * It copies AMOUNT with each size, but makes AT_LEAST copies. An eighth goes first and is not
 * measured. What comes back must be what went up, unless -n says that the driver copies nothing.
 */
#include <stdbool.h>

#include "common.h"
#include "samples.h"

#define AT_LEAST 4
#define TRIPS 300 /* at most */

static uint8_t *out, *back;
static CUdeviceptr there;

static void copies(bool up, long count, size_t size) {
    for (long i = 0; i < count; i++) {
        if (up)
            CK(cuMemcpyHtoD(there, out, size));
        else
            CK(cuMemcpyDtoH(back, there, size));
    }
    CK(cuCtxSynchronize());
}

static void rate(bool up, long count, size_t size) {
    long begun;

    copies(up, (count + 7) / 8, size);
    begun = samples_now_ns();
    copies(up, count, size);
    printf("%zu %s bytes=%zu ns=%ld\n", size, up ? "up" : "down", (size_t)count * size,
           samples_now_ns() - begun);
}

static void one_trip(size_t size) {
    CK(cuMemcpyHtoDAsync(there, out, size, NULL));
    CK(cuStreamSynchronize(NULL));
}

static void trips(long count, size_t size) {
    struct samples s;

    for (long i = 0; i < (count + 7) / 8; i++)
        one_trip(size);
    samples_init(&s, count);
    for (long i = 0; i < count; i++) {
        long begun = samples_now_ns();

        one_trip(size);
        samples_add(&s, begun);
    }
    printf("%zu trip ", size);
    samples_print(&s);
}

static void by_size(size_t size, size_t amount, bool copied) {
    long count = (long)(amount / size);

    if (count < AT_LEAST)
        count = AT_LEAST;
    memset(back, 0, size);
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(i * 7 + (i >> 12) + size);
    rate(true, count, size);
    rate(false, count, size);
    if (copied && memcmp(out, back, size)) {
        printf("other bytes came back\n");
        exit(1);
    }
    trips(count < TRIPS ? count : TRIPS, size);
}

static void take_memory(bool pinned, size_t size) {
    CK(cuMemAlloc(&there, size));
    if (pinned) {
        CK(cuMemAllocHost((void **)&out, size));
        CK(cuMemAllocHost((void **)&back, size));
    } else {
        out = malloc(size);
        back = malloc(size);
    }
    if (!out || !back) {
        printf("no memory\n");
        exit(1);
    }
}

static int usage(void) {
    fprintf(stderr, "usage: guest-copies [-n] pinned|pageable AMOUNT BYTES...\n");
    return 2;
}

int main(int argc, char **argv) {
    bool copied = argc < 2 || strcmp(argv[1], "-n"), pinned;
    size_t amount, largest = 0;

    argv += copied ? 1 : 2;
    if (!argv[0] || !argv[1] || !argv[2])
        return usage();
    pinned = !strcmp(argv[0], "pinned");
    amount = strtoul(argv[1], NULL, 10);
    argv += 2;
    for (char **size = argv; *size; size++) {
        size_t bytes = strtoul(*size, NULL, 10);

        if (!bytes)
            return usage();
        largest = bytes > largest ? bytes : largest;
    }
    start();
    vcuda_clock_start();
    take_memory(pinned, largest);
    for (char **size = argv; *size; size++)
        by_size(strtoul(*size, NULL, 10), amount, copied);
    return 0;
}
