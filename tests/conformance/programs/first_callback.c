// SPDX-License-Identifier: Apache-2.0
/*
 * Calls made inside the very first host functions, and callbacks, of a process, and inside later
 * ones: a stream that the program made may be asked for, and nothing else.
 */
#include "common.h"

static CUstream stream;

static void calls(void) {
    CUcontext c;
    size_t bytes, total;

    SHOW(cuStreamQuery(stream));
    SHOW(cuStreamQuery(NULL));
    SHOW(cuCtxGetCurrent(&c));
    SHOW(cuMemGetInfo(&bytes, &total));
}

static void host_function(void *data) {
    (void)data;
    calls();
}

static void callback(CUstream s, CUresult status, void *data) {
    (void)s, (void)status, (void)data;
    calls();
}

static void nothing(void *data) {
    (void)data;
}

static void make_stream(void) {
    start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void first_is_callback(void) {
    make_stream();
    for (int i = 0; i < 2; i++) {
        printf("time %d:\n", i + 1);
        CK(cuStreamAddCallback(stream, callback, NULL, 0));
        CK(cuStreamSynchronize(stream));
    }
}

static void first_is_function(void) {
    make_stream();
    for (int i = 0; i < 2; i++) {
        printf("time %d:\n", i + 1);
        CK(cuLaunchHostFunc(stream, host_function, NULL));
        CK(cuStreamSynchronize(stream));
    }
}

static void first_does_nothing(void) {
    make_stream();
    CK(cuLaunchHostFunc(stream, nothing, NULL));
    CK(cuStreamSynchronize(stream));
    CK(cuStreamAddCallback(stream, callback, NULL, 0));
    CK(cuStreamSynchronize(stream));
}

/* The thread of the callbacks is there, and long has been. */
static void first_behind_many(void) {
    make_stream();
    for (int i = 0; i < 100; i++)
        CK(cuLaunchHostFunc(stream, nothing, NULL));
    CK(cuStreamAddCallback(stream, callback, NULL, 0));
    CK(cuStreamSynchronize(stream));
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        apart("a callback first", first_is_callback);
        apart("a function first", first_is_function);
    }
    apart("a function that makes no calls first", first_does_nothing);
    apart("many of those first", first_behind_many);
    return 0;
}
