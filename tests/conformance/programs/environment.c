// SPDX-License-Identifier: Apache-2.0
/* The variables that the driver reads: each in a process of its own. */
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

static char uuid[64], prefix[64];

static void see(void) {
    CUresult r = cuInit(0);
    int n = -1;

    printf(" init %d", r);
    r = cuDeviceGetCount(&n);
    printf(" count %d: %s", r, n < 0 ? "-" : n == 0 ? "none" : "some");
    if (r == CUDA_SUCCESS && n > 0) {
        CUuuid id;
        char text[64], *at = text + sprintf(text, "GPU-");

        CK(cuDeviceGetUuid(&id, 0));
        for (int i = 0; i < 16; i++)
            at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                          (unsigned char)id.bytes[i]);
        printf(", the first is the first: %d", !strcmp(text, uuid));
    }
    printf("\n");
}

static void loading(void) {
    CUmoduleLoadingMode mode;

    CK(cuInit(0));
    printf(" mode %d", cuModuleGetLoadingMode(&mode));
    printf(" is %d\n", mode);
}

/* A fault is told by the launch itself where launches wait. */
static void blocking(void) {
    CUdeviceptr nowhere = 64;
    void *args[] = {&nowhere};
    CUfunction f;

    start();
    f = function(module(ptx_basics), "write_to");
    printf(" launch %d", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    printf(" after %d\n", cuCtxSynchronize());
}

static void with(const char *name, const char *value, void (*what)(void)) {
    int status;
    pid_t child;

    printf("%s=%s:", name, value ? (strncmp(value, "GPU-", 4) ? value : "GPU-...") : "(unset)");
    fflush(stdout);
    child = fork();
    if (!child) {
        if (value)
            setenv(name, value, 1);
        else
            unsetenv(name);
        what();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (status)
        printf(" ended with %d\n", status);
}

/* What the device is called, found in a process that leaves no trace here. */
static void find_uuid(void) {
    int fds[2], status;
    CUuuid id;

    if (pipe(fds))
        exit(1);
    if (!fork()) {
        CK(cuInit(0));
        CK(cuDeviceGetUuid(&id, 0));
        _exit(write(fds[1], &id, sizeof(id)) != sizeof(id));
    }
    wait(&status);
    if (status || read(fds[0], &id, sizeof(id)) != sizeof(id))
        exit(1);
    strcpy(uuid, "GPU-");
    for (int i = 0; i < 16; i++)
        sprintf(uuid + strlen(uuid), i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                (unsigned char)id.bytes[i]);
    memcpy(prefix, uuid, 12);
}

int main(void) {
    find_uuid();
    with("CUDA_VISIBLE_DEVICES", NULL, see);
    with("CUDA_VISIBLE_DEVICES", "0", see);
    with("CUDA_VISIBLE_DEVICES", "", see);
    with("CUDA_VISIBLE_DEVICES", "-1", see);
    with("CUDA_VISIBLE_DEVICES", "99", see);
    with("CUDA_VISIBLE_DEVICES", "0,99,0", see);
    with("CUDA_VISIBLE_DEVICES", "99,0", see);
    with("CUDA_VISIBLE_DEVICES", "0,0", see);
    with("CUDA_VISIBLE_DEVICES", " 0", see);
    with("CUDA_VISIBLE_DEVICES", "0 ", see);
    with("CUDA_VISIBLE_DEVICES", "0x", see);
    with("CUDA_VISIBLE_DEVICES", "none", see);
    with("CUDA_VISIBLE_DEVICES", "NoDevFiles", see);
    with("CUDA_VISIBLE_DEVICES", uuid, see);
    with("CUDA_VISIBLE_DEVICES", prefix, see);
    with("CUDA_VISIBLE_DEVICES", "GPU-00000000-0000-0000-0000-000000000000", see);
    with("CUDA_VISIBLE_DEVICES", "GPU-", see);
    with("CUDA_DEVICE_ORDER", "PCI_BUS_ID", see);
    with("CUDA_DEVICE_ORDER", "FASTEST_FIRST", see);
    with("CUDA_DEVICE_ORDER", "nonsense", see);
    with("CUDA_MODULE_LOADING", NULL, loading);
    with("CUDA_MODULE_LOADING", "LAZY", loading);
    with("CUDA_MODULE_LOADING", "EAGER", loading);
    with("CUDA_MODULE_LOADING", "DEFAULT", loading);
    with("CUDA_MODULE_LOADING", "nonsense", loading);
    with("CUDA_LAUNCH_BLOCKING", NULL, blocking);
    with("CUDA_LAUNCH_BLOCKING", "1", blocking);
    with("CUDA_LAUNCH_BLOCKING", "0", blocking);
    return 0;
}
