// SPDX-License-Identifier: Apache-2.0
/* Batches of copies, of bytes and of boxes; wrong arguments. */
#include "common.h"

#define COPIES 6
#define BYTES 100000

static unsigned char *from, *pinned, *to;
static CUdeviceptr d;
static CUstream s;

struct batch {
    CUdeviceptr dsts[COPIES], srcs[COPIES];
    size_t sizes[COPIES], count;
    CUmemcpyAttributes attrs[COPIES];
    size_t firsts[COPIES], sets;
    CUstream stream;
};

static CUresult run(struct batch *b) {
    CUresult r = cuMemcpyBatchAsync_v2(b->dsts, b->srcs, b->sizes, b->count, b->attrs, b->firsts,
                                       b->sets, b->stream);

    return r == CUDA_SUCCESS ? cuStreamSynchronize(s) : r;
}

static struct batch make(CUmemcpySrcAccessOrder order) {
    struct batch b = {.count = COPIES, .sets = 2, .firsts = {0, 3}, .stream = s};

    for (int i = 0; i < COPIES; i++) {
        b.dsts[i] = d + i * BYTES;
        b.srcs[i] = (CUdeviceptr)(i & 1 ? pinned : from) + i * BYTES;
        b.sizes[i] = (size_t)(100 + i * 17777);
        b.attrs[i].srcAccessOrder = order;
    }
    return b;
}

static void there_and_back(CUmemcpySrcAccessOrder order) {
    struct batch up = make(order), down = up;
    uint32_t seed = order;
    int wrong = 0;

    for (size_t i = 0; i < COPIES * BYTES; i++)
        pinned[i] = from[i] = (unsigned char)next_random(&seed);
    memset(to, 0, COPIES * BYTES);
    for (int i = 0; i < COPIES; i++) {
        down.srcs[i] = up.dsts[i];
        down.dsts[i] = (CUdeviceptr)to + i * BYTES;
    }
    printf("order %d: up %d", order, run(&up));
    printf(", down %d\n", run(&down));
    for (int i = 0; i < COPIES; i++)
        wrong += memcmp(to + i * BYTES, from + i * BYTES, up.sizes[i]) != 0;
    printf("%d wrong\n", wrong);
}

#define TRY(text, change)                                                                          \
    do {                                                                                           \
        struct batch b = make(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);                                  \
        change;                                                                                    \
        SAY(text, run(&b));                                                                        \
    } while (0)

static void wrong_ones(void) {
    struct batch g = make(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);

    printf("-- wrong arguments\n");
    TRY("good", (void)b);
    TRY("no copies", b.count = 0);
    TRY("no attributes", b.sets = 0);
    TRY("more attributes than copies", (b.count = 1, b.sets = 2));
    TRY("the first not at 0", b.firsts[0] = 1);
    TRY("not rising", b.firsts[1] = 0);
    TRY("beyond", b.firsts[1] = COPIES);
    TRY("order 0", b.attrs[0].srcAccessOrder = 0);
    TRY("order 4", b.attrs[1].srcAccessOrder = 4);
    TRY("flags 1", b.attrs[0].flags = 1);
    TRY("flags 2", b.attrs[0].flags = 2);
    TRY("size 0", b.sizes[2] = 0);
    TRY("no source", b.srcs[2] = 0);
    TRY("no destination", b.dsts[2] = 0);
    TRY("default stream", b.stream = NULL);
    TRY("legacy stream", b.stream = CU_STREAM_LEGACY);
    TRY("per-thread stream", b.stream = CU_STREAM_PER_THREAD);
    SHOW(cuMemcpyBatchAsync_v2(NULL, g.srcs, g.sizes, 1, g.attrs, g.firsts, 1, s));
    SHOW(cuMemcpyBatchAsync_v2(g.dsts, NULL, g.sizes, 1, g.attrs, g.firsts, 1, s));
    SHOW(cuMemcpyBatchAsync_v2(g.dsts, g.srcs, NULL, 1, g.attrs, g.firsts, 1, s));
    SHOW(cuMemcpyBatchAsync_v2(g.dsts, g.srcs, g.sizes, 1, NULL, g.firsts, 1, s));
    SHOW(cuMemcpyBatchAsync_v2(g.dsts, g.srcs, g.sizes, 1, g.attrs, NULL, 1, s));
}

static CUresult run_boxes(CUDA_MEMCPY3D_BATCH_OP *ops, size_t count) {
    CUresult r = cuMemcpy3DBatchAsync_v2(count, ops, 0, s);

    return r == CUDA_SUCCESS ? cuStreamSynchronize(s) : r;
}

static CUmemcpy3DOperand pointer(uint64_t address, size_t row, size_t height) {
    return (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                               .op.ptr = {.ptr = address, .rowLength = row, .layerHeight = height}};
}

#define TRY3(text, change)                                                                         \
    do {                                                                                           \
        CUDA_MEMCPY3D_BATCH_OP op = good;                                                          \
        change;                                                                                    \
        SAY(text, run_boxes(&op, 1));                                                              \
    } while (0)

static void boxes(void) {
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 100,
                                    .Height = 20,
                                    .Depth = 5,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                    .NumChannels = 4};
    CUDA_MEMCPY3D_BATCH_OP good = {.src = pointer((uint64_t)from, 300, 40),
                                   .dst = pointer(d, 0, 0),
                                   .extent = {200, 30, 4},
                                   .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP ops[2], down = good;
    int wrong = 0;
    CUarray a;

    printf("-- boxes\n");
    CK(cuArray3DCreate(&a, &desc));
    down.src = pointer(d, 0, 0);
    down.dst = pointer((uint64_t)to, 250, 35);
    memset(to, 0, BYTES);
    printf("up = %d, down = %d\n", run_boxes(&good, 1), run_boxes(&down, 1));
    for (int z = 0; z < 4; z++) {
        for (int y = 0; y < 30; y++)
            wrong += memcmp(to + (z * 35 + y) * 250, from + (z * 40 + y) * 300, 200) != 0;
    }
    printf("%d wrong\n", wrong);
    ops[0] = (CUDA_MEMCPY3D_BATCH_OP){.src = pointer((uint64_t)from, 0, 0),
                                      .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY},
                                      .extent = {50, 10, 2},
                                      .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
    ops[0].dst.op.array.array = a;
    ops[0].dst.op.array.offset = (CUoffset3D){3, 2, 1};
    ops[1] = ops[0];
    ops[1].src = ops[0].dst;
    ops[1].dst = pointer((uint64_t)to, 0, 0);
    memset(to, 0, BYTES);
    printf("to array = %d, from array = %d\n", run_boxes(ops, 1), run_boxes(ops + 1, 1));
    printf("%d\n", memcmp(from, to, 50 * 4 * 10 * 2));
    TRY3("width 0", op.extent.width = 0);
    TRY3("depth 0", op.extent.depth = 0);
    TRY3("order 0", op.srcAccessOrder = 0);
    TRY3("order during call", op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    TRY3("flags 2", op.flags = 2);
    TRY3("row too short", op.src.op.ptr.rowLength = 199);
    TRY3("layer too short", op.src.op.ptr.layerHeight = 29);
    TRY3("type 0", op.src.type = 0);
    TRY3("type 3", op.dst.type = 3);
    TRY3("no source", op.src.op.ptr.ptr = 0);
    TRY3("no array", (op.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, op.dst.op.array.array = NULL));
    SHOW(cuMemcpy3DBatchAsync_v2(0, &good, 0, s));
    SHOW(cuMemcpy3DBatchAsync_v2(1, NULL, 0, s));
    SHOW(cuMemcpy3DBatchAsync_v2(1, &good, 1, s));
    SHOW(cuMemcpy3DBatchAsync_v2(1, &good, 0, NULL));
    SHOW(cuArrayDestroy(a));
}

int main(void) {
    start();
    CK(cuMemAlloc(&d, COPIES * BYTES));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuMemAllocHost((void **)&pinned, COPIES * BYTES));
    from = malloc(COPIES * BYTES);
    to = malloc(COPIES * BYTES);
    for (int order = 1; order < 4; order++)
        there_and_back((CUmemcpySrcAccessOrder)order);
    wrong_ones();
    boxes();
    return 0;
}
