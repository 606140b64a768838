// SPDX-License-Identifier: Apache-2.0
/* usage: bandwidth [LARGEST_MIB]   GB/s of copies by size, kind of host memory and direction. */
#include "bench.h"

static double samples[64];

static double copy(int up, CUdeviceptr device, void *host, size_t bytes) {
    double begun = now();

    if (up)
        CK(cuMemcpyHtoD(device, host, bytes));
    else
        CK(cuMemcpyDtoH(host, device, bytes));
    return (double)bytes / (now() - begun) / 1e9;
}

static void measure(const char *kind, int up, CUdeviceptr device, void *host, size_t bytes) {
    int count = bytes >= 64 << 20 ? 5 : bytes >= 1 << 20 ? 20 : 60;
    char figure[64];

    copy(up, device, host, bytes);
    for (int i = 0; i < count; i++)
        samples[i] = copy(up, device, host, bytes);
    if (bytes >= 1 << 20)
        snprintf(figure, sizeof(figure), "%s %s %zu MiB", kind, up ? "up" : "down", bytes >> 20);
    else
        snprintf(figure, sizeof(figure), "%s %s %zu KiB", kind, up ? "up" : "down", bytes >> 10);
    report(figure, "GB/s", samples, count);
}

int main(int argc, char **argv) {
    size_t largest = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    void *pinned, *pageable = malloc(largest), *registered = aligned_alloc(4096, largest);
    CUdeviceptr device;

    start();
    CK(cuMemAlloc(&device, largest));
    CK(cuMemAllocHost(&pinned, largest));
    memset(pageable, 1, largest);
    memset(pinned, 1, largest);
    memset(registered, 1, largest);
    CK(cuMemHostRegister(registered, largest, 0));
    for (size_t bytes = 4096; bytes <= largest; bytes *= 8) {
        for (int up = 1; up >= 0; up--) {
            measure("pinned", up, device, pinned, bytes);
            measure("pageable", up, device, pageable, bytes);
            measure("registered", up, device, registered, bytes);
        }
    }
    return 0;
}
