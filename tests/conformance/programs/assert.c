// SPDX-License-Identifier: Apache-2.0
/* A kernel's assertion that fails: what it says, where, and what calls give from then on. */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

KERNELS(print);

static void claim(CUfunction f, int limit, unsigned int threads, CUstream stream) {
    void *args[] = {&limit};

    SHOW(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, stream, args, NULL));
}

static void child(void) {
    CUdeviceptr d;
    CUstream stream;
    CUmodule m;

    start();
    m = module(ptx_print);
    CUfunction f = function(m, "claim");
    CK(cuStreamCreate(&stream, 0));
    claim(f, 4, 4, stream);
    SHOW(cuStreamSynchronize(stream));
    claim(f, 4, 5, stream);
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&d, 4));
    claim(f, 4, 4, stream);
    SHOW(cuStreamDestroy(stream));
    SHOW(cuModuleUnload(m));
}

/* Runs this program with one of its outputs in a pipe, the other one away. */
static void run(int fd) {
    char text[1 << 14];
    size_t n = 0;
    ssize_t got;
    int fds[2], status;
    pid_t pid;

    fflush(stdout);
    if (pipe(fds) || (pid = fork()) < 0)
        exit(1);
    if (!pid) {
        close(fds[0]);
        dup2(fds[1], fd);
        if (!freopen("/dev/null", "w", fd == STDOUT_FILENO ? stderr : stdout))
            _exit(126);
        execl("/proc/self/exe", "assert", "child", NULL);
        _exit(127);
    }
    close(fds[1]);
    while ((got = read(fds[0], text + n, sizeof(text) - n)) > 0)
        n += (size_t)got;
    close(fds[0]);
    waitpid(pid, &status, 0);
    printf("-- %s\n", fd == STDOUT_FILENO ? "stdout" : "stderr");
    fwrite(text, 1, n, stdout);
    printf("exit %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        child();
        return 0;
    }
    run(STDOUT_FILENO);
    run(STDERR_FILENO);
    return 0;
}
