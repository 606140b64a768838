// SPDX-License-Identifier: Apache-2.0
/* Writes to memory words and waits for them, in streams: one by one and in batches. */
#include <dlfcn.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

static uint32_t word(CUdeviceptr d) {
    uint32_t v = 0;

    CK(cuMemcpyDtoH(&v, d, 4));
    return v;
}

static void writes(CUstream s, CUdeviceptr d, CUdeviceptr pinned, volatile uint32_t *host) {
    uint64_t v64 = 0;

    printf("-- writes\n");
    SHOW(cuStreamWriteValue32(s, d, 17, 0));
    SHOW(cuStreamWriteValue32(s, d + 4, 18, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    SHOW(cuStreamWriteValue64(s, d + 8, 0x1122334455667788ull, 0));
    SHOW(cuStreamWriteValue32(s, pinned, 19, 0));
    SHOW(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&v64, d + 8, 8));
    printf("%u %u %#llx %u\n", word(d), word(d + 4), (unsigned long long)v64, host[0]);
    SHOW(cuStreamWriteValue32(NULL, d, 20, 0));
    SHOW(cuStreamWriteValue32(CU_STREAM_PER_THREAD, d + 4, 21, 0));
    CK(cuCtxSynchronize());
    printf("%u %u\n", word(d), word(d + 4));
}

static void waits(CUstream s, CUstream other, CUdeviceptr d, CUdeviceptr pinned,
                  volatile uint32_t *host) {
    printf("-- waits\n");
    host[0] = 0;
    SHOW(cuStreamWaitValue32(s, pinned, 5, CU_STREAM_WAIT_VALUE_GEQ));
    SHOW(cuStreamWriteValue32(s, d, 30, 0));
    usleep(20000);
    SHOW(cuStreamQuery(s));
    host[0] = 5;
    SHOW(cuStreamSynchronize(s));
    printf("%u\n", word(d));
    SHOW(cuStreamWaitValue32(s, d + 4, 77, CU_STREAM_WAIT_VALUE_EQ));
    SHOW(cuStreamWriteValue32(s, d, 31, 0));
    SHOW(cuStreamQuery(s));
    SHOW(cuStreamWriteValue32(other, d + 4, 77, 0));
    SHOW(cuStreamSynchronize(s));
    printf("%u\n", word(d));
    SHOW(cuStreamWaitValue32(s, d, 1, CU_STREAM_WAIT_VALUE_AND));
    SHOW(cuStreamWaitValue64(s, d + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    SHOW(cuStreamSynchronize(s));
}

static void batches(CUstream s, CUdeviceptr d) {
    CUstreamBatchMemOpParams ops[4];

    printf("-- batches\n");
    memset(ops, 0, sizeof(ops));
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = d;
    ops[0].writeValue.value = 40;
    ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = d;
    ops[1].waitValue.value = 40;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[2].writeValue.address = d + 8;
    ops[2].writeValue.value64 = 41;
    ops[3].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    ops[3].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS;
    SHOW(cuStreamBatchMemOp(s, 3, ops, 0));
    SHOW(cuStreamSynchronize(s));
    printf("%u %u\n", word(d), word(d + 8));
    SHOW(cuStreamBatchMemOp(s, 4, ops, 0));
    SHOW(cuStreamBatchMemOp(s, 0, ops, 0));
    SHOW(cuStreamBatchMemOp(s, 0, NULL, 0));
    SHOW(cuStreamBatchMemOp(s, 1, NULL, 0));
    SHOW(cuStreamBatchMemOp(s, 1, ops, 1));
    SHOW(cuStreamBatchMemOp(s, 257, ops, 0));
    ops[0].operation = 99;
    SHOW(cuStreamBatchMemOp(s, 1, ops, 0));
    SHOW(cuStreamSynchronize(s));
}

static void wrong(CUstream s, CUdeviceptr d) {
    uint32_t mine = 0;

    printf("-- wrong\n");
    SHOW(cuStreamWriteValue32(s, d + 2, 1, 0));
    SHOW(cuStreamWriteValue64(s, d + 4, 1, 0));
    SHOW(cuStreamWriteValue32(s, 0, 1, 0));
    SHOW(cuStreamWriteValue32(s, 0x10000, 1, 0));
    SHOW(cuStreamWriteValue32(s, d, 1, 0x80));
    SHOW(cuStreamWaitValue32(s, d, 1, 0x80));
    SHOW(cuStreamWaitValue32(s, 0x10000, 1, 0));
    SHOW(cuStreamWriteValue32((CUstream)0x123456780, d, 1, 0));
    (void)mine;
    SHOW(cuStreamSynchronize(s));
}

static void old_versions(CUstream s, CUdeviceptr d) {
    CUresult (*write32)(CUstream, CUdeviceptr, cuuint32_t, unsigned int) =
        (CUresult(*)(CUstream, CUdeviceptr, cuuint32_t, unsigned int))dlsym(RTLD_DEFAULT,
                                                                            "cuStreamWriteValue32");
    CUresult (*wait64)(CUstream, CUdeviceptr, cuuint64_t, unsigned int) =
        (CUresult(*)(CUstream, CUdeviceptr, cuuint64_t, unsigned int))dlsym(RTLD_DEFAULT,
                                                                            "cuStreamWaitValue64");
    int v1 = -1, v2 = -1;

    printf("-- old versions\n");
    CK(cuDeviceGetAttribute(&v1, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, 0));
    CK(cuDeviceGetAttribute(&v2, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
    printf("attributes %d %d\n", v1, v2);
    SHOW(write32(s, d, 50, 0));
    SHOW(wait64(s, d + 8, 0, CU_STREAM_WAIT_VALUE_GEQ));
    SHOW(cuStreamSynchronize(s));
}

int main(void) {
    CUdeviceptr d, pinned;
    CUstream s, other;
    uint32_t *host;

    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&d, 4096));
    CK(cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuMemHostGetDevicePointer(&pinned, host, 0));
    CK(cuMemsetD8(d, 0, 4096));
    /* The streams do not wait for the default one. */
    CK(cuCtxSynchronize());
    writes(s, d, pinned, host);
    waits(s, other, d, pinned, host);
    batches(s, d);
    wrong(s, d);
    old_versions(s, d);
    return 0;
}
