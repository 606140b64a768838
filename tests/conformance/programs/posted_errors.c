// SPDX-License-Identifier: Apache-2.0
/*
 * A call that fails tells it, natively at once. Where it was only sent, the thread's next call that
 * can tell it does, once, and no other thread's.
 */
#include <pthread.h>

#include "common.h"

static CUcontext context;
static CUevent event;

/* Not allowed but in a capture. */
static CUresult wrong(void) {
    return cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_EXTERNAL);
}

/* What one of both told: told twice, or not at all, it is said. */
static void told(const char *what, CUresult at_once, CUresult later) {
    if (at_once && later)
        printf("%s: told twice, %d and %d\n", what, at_once, later);
    else
        printf("%s: %d\n", what, at_once ? at_once : later);
}

static void by_calls_that_give_something(void) {
    CUdeviceptr first = 0, second = 0;
    CUstream stream = NULL;
    size_t left, before, total, much;
    CUresult r;

    CK(cuMemGetInfo(&before, &total));
    much = before / 8; /* other programs start and end meanwhile */
    r = wrong();
    told("an allocation", r, cuMemAlloc(&first, much));
    if (first)
        CK(cuMemFree(first));
    CK(cuMemAlloc(&second, much));
    CK(cuMemFree(second));
    CK(cuMemGetInfo(&left, &total));
    printf("memory lost: %d\n", left + much / 2 < before);
    r = wrong();
    told("a question", r, cuMemGetInfo(&left, &total));
    r = wrong();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); /* sent as well */
    told("a question behind another call that is sent", r, cuStreamQuery(stream));
    CK(cuStreamDestroy(stream));
}

static void by_calls_that_wait_or_copy(void) {
    CUdeviceptr memory;
    int value = 7, back = 0;
    CUresult r;

    CK(cuMemAlloc(&memory, sizeof(value)));
    r = wrong();
    told("a wait", r, cuCtxSynchronize());
    r = wrong();
    told("a copy", r, cuMemcpyHtoD(memory, &value, sizeof(value)));
    CK(cuMemcpyDtoH(&back, memory, sizeof(back)));
    printf("copied: %d\n", back);
    r = wrong();
    CK(cuMemFree(memory)); /* whoever ends something does not fail for another's sake */
    told("a wait behind an end", r, cuStreamSynchronize(NULL));
    CK(cuCtxSynchronize());
}

static void *innocent(void *arg) {
    size_t left, total;

    (void)arg;
    CK(cuCtxSetCurrent(context));
    SHOW(cuMemGetInfo(&left, &total));
    SHOW(cuCtxSynchronize());
    return NULL;
}

static void not_by_other_threads(void) {
    pthread_t thread;
    CUresult r = wrong();

    pthread_create(&thread, NULL, innocent, NULL);
    pthread_join(thread, NULL);
    told("this thread", r, cuCtxSynchronize());
}

int main(void) {
    context = start();
    CK(cuEventCreate(&event, 0));
    by_calls_that_give_something();
    by_calls_that_wait_or_copy();
    not_by_other_threads();
    SHOW(cuCtxSynchronize());
    return 0;
}
