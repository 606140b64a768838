// SPDX-License-Identifier: Apache-2.0
/* Stream callbacks: what they are told, and what runs behind a kernel that faults. */
#include <unistd.h>

#include "common.h"

KERNELS(basics);

struct told {
    CUstream stream;
    CUresult status;
    int times;
    CUresult inside;
};

static void tell(CUstream stream, CUresult status, void *data) {
    struct told *t = data;

    t->stream = stream;
    t->status = status;
    t->times++;
    t->inside = cuStreamQuery(stream);
}

static int host_ran;

static void host_function(void *data) {
    (void)data;
    host_ran++;
}

static volatile int released;

static void gate(void *data) {
    (void)data;
    while (!released)
        usleep(1000);
}

static void plain(CUstream stream, const char *name) {
    struct told told = {(CUstream)99, CUDA_ERROR_UNKNOWN, 0, CUDA_SUCCESS};

    CK(cuStreamAddCallback(stream, tell, &told, 0));
    CK(cuStreamSynchronize(stream));
    printf("%s: times=%d status=%d same stream=%d a call inside=%d\n", name, told.times,
           told.status, told.stream == stream, told.inside);
}

static void sequence(CUstream stream) {
    struct told told[8] = {0};
    int wrong = 0;

    for (int i = 0; i < 200; i++)
        CK(cuStreamAddCallback(stream, tell, &told[i % 8], 0));
    CK(cuStreamSynchronize(stream));
    for (int i = 0; i < 8; i++)
        wrong += told[i].times != 25;
    printf("200 callbacks: wrong=%d\n", wrong);
}

/* The stream is held back, so that all stands behind the fault before it happens. */
static void behind_a_fault(CUfunction write_to, CUstream stream, CUstream other) {
    CUdeviceptr bad = 0x10000;
    void *args[] = {&bad};
    struct told before = {0}, after = {0}, elsewhere = {0};

    released = 0;
    CK(cuLaunchHostFunc(stream, gate, NULL));
    CK(cuStreamAddCallback(stream, tell, &before, 0));
    CK(cuLaunchHostFunc(stream, host_function, NULL));
    CK(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    CK(cuStreamAddCallback(stream, tell, &after, 0));
    CK(cuLaunchHostFunc(stream, host_function, NULL));
    released = 1;
    SHOW(cuStreamSynchronize(stream));
    for (int i = 0; i < 1000 && !after.times; i++)
        usleep(1000);
    printf("callback before: times=%d status=%d; behind: times=%d status=%d\n", before.times,
           before.status, after.times, after.status);
    printf("host functions ran: %d\n", host_ran);
    SHOW(cuStreamAddCallback(other, tell, &elsewhere, 0));
    SHOW(cuLaunchHostFunc(other, host_function, NULL));
    usleep(50000);
    printf("after the fault: callback times=%d, host functions %d\n", elsewhere.times, host_ran);
}

int main(void) {
    CUstream stream, other;

    start();
    CUfunction write_to = function(module(ptx_basics), "write_to");
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    plain(stream, "a stream");
    plain(NULL, "the default stream");
    plain(CU_STREAM_LEGACY, "the legacy stream");
    plain(CU_STREAM_PER_THREAD, "the thread's stream");
    sequence(stream);
    SHOW(cuStreamAddCallback(stream, NULL, NULL, 0));
    SHOW(cuStreamAddCallback(stream, tell, NULL, 1));
    SHOW(cuStreamAddCallback((CUstream)0x1234560, tell, NULL, 0));
    behind_a_fault(write_to, stream, other);
    return 0;
}
