// SPDX-License-Identifier: Apache-2.0
/* Fills of rows: every width, in the stream's order; wrong arguments. */
#include "common.h"

#define PITCH 1024
#define ROWS 64

static unsigned char got[PITCH * ROWS], want[PITCH * ROWS];
static CUdeviceptr d;
static CUstream s;

static void expect(size_t at, size_t pitch, uint32_t value, size_t width, size_t columns,
                   size_t rows) {
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < columns; x++)
            memcpy(want + at + y * pitch + x * width, &value, width);
    }
}

static void start_over(void) {
    memset(want, 0x11, sizeof(want));
    CK(cuMemsetD8(d, 0x11, sizeof(want)));
    CK(cuCtxSynchronize());
}

static void compare(const char *what) {
    size_t wrong = 0;

    CK(cuCtxSynchronize());
    CK(cuMemcpyDtoH(got, d, sizeof(got)));
    for (size_t i = 0; i < sizeof(got); i++)
        wrong += got[i] != want[i];
    printf("%s: %zu wrong\n", what, wrong);
}

static void good_ones(void) {
    start_over();
    CK(cuMemsetD2D8(d + 3, PITCH, 0xab, 100, 10));
    expect(3, PITCH, 0xab, 1, 100, 10);
    compare("bytes");
    start_over();
    CK(cuMemsetD2D16(d + 2, 510, 0xabcd, 255, 17));
    expect(2, 510, 0xabcd, 2, 255, 17);
    compare("16 bits, close");
    start_over();
    CK(cuMemsetD2D32(d + 8, 512, 0xdeadbeef, 100, 33));
    expect(8, 512, 0xdeadbeef, 4, 100, 33);
    compare("32 bits");
    start_over();
    CK(cuMemsetD2D8Async(d, PITCH, 1, PITCH, ROWS, s));
    CK(cuMemsetD2D16Async(d + 64, PITCH, 0x202, 40, ROWS, s));
    CK(cuMemsetD2D32Async(d + 128, PITCH, 0x3030303, 20, ROWS / 2, s));
    CK(cuStreamSynchronize(s));
    expect(0, PITCH, 1, 1, PITCH, ROWS);
    expect(64, PITCH, 0x202, 2, 40, ROWS);
    expect(128, PITCH, 0x3030303, 4, 20, ROWS / 2);
    compare("in order");
    start_over();
    CK(cuMemsetD2D32(d, 0, 0x55aa55aa, 7, 1));
    expect(0, 0, 0x55aa55aa, 4, 7, 1);
    compare("one row, no pitch");
}

static void on_host(void) {
    unsigned char *p;
    unsigned int wrong = 0;

    CK(cuMemAllocHost((void **)&p, 4096));
    memset(p, 0, 4096);
    CK(cuMemsetD2D8((CUdeviceptr)p, 64, 0x77, 16, 8));
    CK(cuCtxSynchronize());
    for (int i = 0; i < 4096; i++)
        wrong += p[i] != (i < 512 && i % 64 < 16 ? 0x77 : 0);
    printf("pinned memory: %u wrong\n", wrong);
    CK(cuMemFreeHost(p));
    SHOW(cuMemsetD2D8((CUdeviceptr)got, 64, 0x77, 16, 8));
}

int main(void) {
    SHOW(cuMemsetD2D8(0, 0, 0, 0, 0));
    start();
    CK(cuMemAlloc(&d, PITCH * ROWS));
    CK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    good_ones();
    on_host();
    SHOW(cuMemsetD2D8(d, PITCH, 0, 0, 4));
    SHOW(cuMemsetD2D8(d, PITCH, 0, 4, 0));
    SHOW(cuMemsetD2D8(0, PITCH, 0, 0, 0));
    SHOW(cuMemsetD2D8(0, PITCH, 0, 4, 4));
    SHOW(cuMemsetD2D8(0x10, PITCH, 0, 4, 4));
    SHOW(cuMemsetD2D8(d, 3, 0, 4, 4));
    SHOW(cuMemsetD2D8(d, 0, 0, 4, 4));
    SHOW(cuMemsetD2D8(d, 3, 0, 4, 1));
    SHOW(cuMemsetD2D16(d + 1, PITCH, 0, 4, 4));
    SHOW(cuMemsetD2D16(d, 33, 0, 4, 4));
    SHOW(cuMemsetD2D16(d, 33, 0, 4, 1));
    SHOW(cuMemsetD2D32(d + 2, PITCH, 0, 4, 4));
    SHOW(cuMemsetD2D32(d, 34, 0, 4, 4));
    SHOW(cuMemsetD2D32(d, PITCH, 0, 4, 1u << 30));
    SHOW(cuMemsetD2D32(d, PITCH, 0, 1ull << 62, 2));
    SHOW(cuMemsetD2D32Async(0, PITCH, 0, 4, 4, s));
    SHOW(cuMemsetD2D32Async(d, 34, 0, 4, 4, s));
    SHOW(cuMemsetD2D8Async(d, PITCH, 0, 0, 0, s));
    SHOW(cuCtxSynchronize());
    return 0;
}
