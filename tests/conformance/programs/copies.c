// SPDX-License-Identifier: Apache-2.0
/* Copies and fills: every size around the library's own boundaries, pinned and pageable. */
#include "common.h"

#define MOST (5u * 1024 * 1024 + 3)

static unsigned char *from, *to;

static void paint(unsigned char *p, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)next_random(&seed);
}

static void there_and_back(const char *kind, CUdeviceptr d, CUdeviceptr e, CUstream s) {
    static const size_t sizes[] = {1,    3,     4,       4095,    4096,    8191,    8192,
                                   8193, 65537, 1048575, 1048576, 1048577, 4194304, MOST};
    int wrong = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = sizes[i];

        paint(from, n, (uint32_t)i + 1);
        memset(to, 0, n);
        if (s) {
            CK(cuMemcpyHtoDAsync(d, from, n, s));
            CK(cuMemcpyDtoDAsync(e, d, n, s));
            CK(cuMemcpyDtoHAsync(to, e, n, s));
            CK(cuStreamSynchronize(s));
        } else {
            CK(cuMemcpyHtoD(d, from, n));
            CK(cuMemcpyDtoD(e, d, n));
            CK(cuMemcpyDtoH(to, e, n));
        }
        wrong += memcmp(from, to, n) != 0;
    }
    printf("%s %s: %d wrong\n", kind, s ? "async" : "sync", wrong);
}

static void fills(CUdeviceptr d) {
    static unsigned char got[64];
    unsigned int wrong = 0;

    CK(cuMemsetD8(d, 0xaa, 64));
    CK(cuMemsetD8(d + 1, 0x11, 3));
    CK(cuMemsetD16(d + 8, 0x2233, 5));
    CK(cuMemsetD32(d + 32, 0x44556677, 4));
    CK(cuMemcpyDtoH(got, d, 64));
    for (int i = 0; i < 64; i++) {
        unsigned int want = 0xaa;

        if (i >= 1 && i < 4)
            want = 0x11;
        if (i >= 8 && i < 18)
            want = i & 1 ? 0x22 : 0x33;
        if (i >= 32 && i < 48)
            want = 0x44556677u >> 8 * (i & 3) & 0xff;
        wrong += got[i] != want;
    }
    printf("fills: %u wrong\n", wrong);
}

static void by_address(CUdeviceptr d, CUdeviceptr e) {
    paint(from, 1000, 99);
    memset(to, 0, 1000);
    CK(cuMemcpy(d, (CUdeviceptr)from, 1000));
    CK(cuMemcpy(e, d, 1000));
    CK(cuMemcpy((CUdeviceptr)to, e, 1000));
    printf("by address: %s\n", memcmp(from, to, 1000) ? "WRONG" : "right");
}

int main(void) {
    CUdeviceptr d, e;
    CUstream s;

    start();
    CK(cuMemAlloc(&d, MOST));
    CK(cuMemAlloc(&e, MOST));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    from = malloc(MOST);
    to = malloc(MOST);
    there_and_back("pageable", d, e, NULL);
    there_and_back("pageable", d, e, s);
    by_address(d, e);
    CK(cuMemAllocHost((void **)&from, MOST));
    CK(cuMemAllocHost((void **)&to, MOST));
    there_and_back("pinned", d, e, NULL);
    there_and_back("pinned", d, e, s);
    by_address(d, e);
    fills(d);
    SHOW(cuMemcpyHtoD(d, from, MOST + 1000000000));
    SHOW(cuMemcpyHtoD(0x10, from, 16));
    SHOW(cuMemcpyDtoH(to, 0x10, 16));
    SHOW(cuMemcpyDtoD(d, 0x10, 16));
    SHOW(cuMemcpyHtoD(d, NULL, 16));
    SHOW(cuMemFreeHost(from));
    SHOW(cuMemFreeHost(to));
    SHOW(cuMemFree(d));
    return 0;
}
