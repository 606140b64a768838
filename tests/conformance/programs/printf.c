// SPDX-License-Identifier: Apache-2.0
/*
 * What kernels print, between what the program prints: whose text comes when, for each way in which
 * stdout may be buffered, and which calls bring it out.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

KERNELS(print);

static CUmodule print;
static CUstream stream;
static CUevent event;
static CUdeviceptr memory;

static void say(int id, unsigned int threads) {
    void *args[] = {&id};

    CK(cuLaunchKernel(function(print, "say"), 1, 1, 1, threads, 1, 1, 0, stream, args, NULL));
}

static void raw(const char *text) {
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        exit(1);
}

/* ---- in a process of its own, with stdout a pipe ---- */

static void open_all(void) {
    start();
    print = module(ptx_print);
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&event, 0));
    CK(cuMemAlloc(&memory, 4));
}

static void interleaved(void) {
    printf("before the launch\n");
    say(1, 1);
    printf("after the launch\n");
    CK(cuStreamSynchronize(stream));
    printf("after the synchronise\n");
    raw("(written past stdio)\n");
    say(2, 2);
    CK(cuStreamSynchronize(stream));
    raw("(written past stdio again)\n");
    printf("a line is beg");
    CK(cuCtxSynchronize());
    printf("un and ended\n");
    fflush(stdout);
    raw("(flushed)\n");
    say(3, 1);
    CK(cuStreamSynchronize(stream));
    raw("(the end)\n");
}

/*
 * ---- after which calls it is out for sure; stdout is not buffered: it is seen at once ----
 *
 * It may be out sooner, natively now and then by any call. Not here: calls that wait for nothing
 * (seen natively to bring it out or not), and copies of a few bytes to the device: those are posted
 * to a worker.
 */

static void wait_in_another_way(void) {
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        usleep(1000);
    usleep(10000);
}

static void by_call(void) {
    int value, pinned_value, *pinned;
    CUdeviceptr other;

    CK(cuMemAllocHost((void **)&pinned, 4));
#define BROUGHT_OUT_BY(id, call)                                                                   \
    say(id, 1);                                                                                    \
    wait_in_another_way();                                                                         \
    CK(call);                                                                                      \
    printf("<- " #call "\n")

    BROUGHT_OUT_BY(1, cuStreamSynchronize(stream));
    BROUGHT_OUT_BY(2, cuCtxSynchronize());
    CK(cuEventRecord(event, stream));
    BROUGHT_OUT_BY(3, cuEventSynchronize(event));
    BROUGHT_OUT_BY(4, cuMemcpyDtoH(&value, memory, 4));
    BROUGHT_OUT_BY(5, cuMemcpyDtoH(pinned, memory, 4));
    CK(cuMemAlloc(&other, 4));
    CK(cuEventRecord(event, stream));
    BROUGHT_OUT_BY(9, cuMemFree(other));
    pinned_value = *pinned;
    CK(cuStreamDestroy(stream));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuCtxSynchronize());
    printf("%d\n", pinned_value);
    CK(cuModuleUnload(print));
}

static void formats(void) {
    double x = 3.14159;
    int n = 5;
    void *args[] = {&x}, *dots_args[] = {&n};

    CK(cuLaunchKernel(function(print, "conversions"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    CK(cuStreamSynchronize(stream));
    CK(cuLaunchKernel(function(print, "dots"), 1, 1, 1, 1, 1, 1, 0, stream, dots_args, NULL));
    CK(cuStreamSynchronize(stream));
    printf("|\n");
    n = 1500;
    CK(cuLaunchKernel(function(print, "dots"), 1, 1, 1, 1, 1, 1, 0, stream, dots_args, NULL));
    CK(cuStreamSynchronize(stream));
    printf("|\n");
    say(7, 8);
    CK(cuStreamSynchronize(stream));
}

static void in_context(void) {
    CUcontext c;
    CUmodule m;
    int id = 1;
    void *args[] = {&id};

    CK(cuCtxCreate(&c, NULL, 0, 0));
    m = module(ptx_print);
    CK(cuLaunchKernel(function(m, "say"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    printf("-> cuCtxDestroy\n");
    CK(cuCtxDestroy(c));
    printf("<-\n");
}

static void child(const char *how) {
    if (!strcmp(how, "full"))
        setvbuf(stdout, NULL, _IOFBF, 4096);
    else if (!strcmp(how, "line"))
        setvbuf(stdout, NULL, _IOLBF, 4096);
    else
        setvbuf(stdout, NULL, _IONBF, 0);
    open_all();
    if (!strcmp(how, "calls"))
        by_call();
    else if (!strcmp(how, "formats"))
        formats();
    else if (!strcmp(how, "context"))
        in_context();
    else
        interleaved();
}

/* All that a child writes into a pipe, in its order. */
static void run(const char *self, const char *how) {
    char text[1 << 16];
    size_t n = 0;
    ssize_t got;
    int fds[2], status;
    pid_t pid;

    printf("-- %s\n", how);
    fflush(stdout);
    if (pipe(fds) || (pid = fork()) < 0)
        exit(1);
    if (!pid) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        execl(self, self, how, NULL);
        _exit(127);
    }
    close(fds[1]);
    while ((got = read(fds[0], text + n, sizeof(text) - n)) > 0)
        n += (size_t)got;
    close(fds[0]);
    waitpid(pid, &status, 0);
    fwrite(text, 1, n, stdout);
    printf("exit %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        child(argv[1]);
        return 0;
    }
    run("/proc/self/exe", "full");
    run("/proc/self/exe", "line");
    run("/proc/self/exe", "none");
    run("/proc/self/exe", "calls");
    run("/proc/self/exe", "formats");
    run("/proc/self/exe", "context");
    return 0;
}
