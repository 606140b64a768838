// SPDX-License-Identifier: Apache-2.0
/*
 * usage: closes CASE   Opens the library by itself, has a session and a host function,
 * and closes it again, twice; a thread that made calls ends after that. Exits
 * with 0 if all calls gave what they must.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include "cases.h"
#include "cuda_abi.h"

static CUresult (*init)(unsigned int);
static CUresult (*retain)(CUcontext *, CUdevice);
static CUresult (*set_current)(CUcontext);
static CUresult (*launch_host)(CUstream, CUhostFn, void *);
static CUresult (*synchronize)(void);
static CUcontext context;
static sem_t called, closed;

static void count(void *n) {
    ++*(int *)n;
}

static void *find(void *library, const char *name) {
    void *function = dlsym(library, name);

    EXPECT(function);
    return function;
}

static void *outlast(void *unused) {
    EXPECT(set_current(context) == CUDA_SUCCESS);
    sem_post(&called);
    sem_wait(&closed);
    return unused;
}

static void once(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    pthread_t thread;
    int n = 0;

    EXPECT(library);
    *(void **)&init = find(library, "cuInit");
    *(void **)&retain = find(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set_current = find(library, "cuCtxSetCurrent");
    *(void **)&launch_host = find(library, "cuLaunchHostFunc");
    *(void **)&synchronize = find(library, "cuCtxSynchronize");
    EXPECT(init(0) == CUDA_SUCCESS);
    EXPECT(retain(&context, 0) == CUDA_SUCCESS);
    EXPECT(set_current(context) == CUDA_SUCCESS);
    EXPECT(launch_host(NULL, count, &n) == CUDA_SUCCESS);
    EXPECT(synchronize() == CUDA_SUCCESS && n == 1);
    EXPECT(!pthread_create(&thread, NULL, outlast, NULL));
    sem_wait(&called);
    EXPECT(!dlclose(library));
    sem_post(&closed);
    EXPECT(!pthread_join(thread, NULL));
}

static int case_twice(void) {
    sem_init(&called, 0, 0);
    sem_init(&closed, 0, 0);
    once();
    once();
    return 0;
}

static const struct process_case cases[] = {{"twice", case_twice}, {0}};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
