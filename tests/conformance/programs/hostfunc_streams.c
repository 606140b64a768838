// SPDX-License-Identifier: Apache-2.0
/*
 * Host functions while other threads make more streams than the GPU has queues: the driver then
 * waits for what runs, host functions among it, before it goes on.
 */
#include <pthread.h>
#include <unistd.h>

#include "common.h"

#define STREAMS 48
#define FUNCTIONS 40

static CUcontext context;
static volatile int ran;

static void CUDA_CB run(void *unused) {
    (void)unused;
    usleep(2000);
    ran++;
}

static void *make_streams(void *unused) {
    CUstream s[STREAMS];
    long made = 0;

    (void)unused;
    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < STREAMS; i++)
        made += cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    for (long i = 0; i < made; i++)
        CK(cuStreamDestroy(s[i]));
    return (void *)made;
}

/* Calls that native makes behind the same lock. */
static void *make_events(void *stop) {
    CUevent e;
    long rounds = 0;

    CK(cuCtxSetCurrent(context));
    do {
        CK(cuEventCreate(&e, 0));
        CK(cuEventDestroy(e));
        rounds++;
    } while (!*(volatile int *)stop);
    return (void *)rounds;
}

int main(void) {
    pthread_t streams, events;
    CUstream s;
    void *made, *rounds;
    int stop = 0;

    context = start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < FUNCTIONS; i++)
        CK(cuLaunchHostFunc(s, run, NULL));
    if (pthread_create(&streams, NULL, make_streams, NULL) ||
        pthread_create(&events, NULL, make_events, &stop))
        return 1;
    CK(cuStreamSynchronize(s));
    printf("functions run: %d\n", ran);
    pthread_join(streams, &made);
    stop = 1;
    pthread_join(events, &rounds);
    printf("streams made: %ld, events made: %d\n", (long)made, rounds != NULL);
    return 0;
}
