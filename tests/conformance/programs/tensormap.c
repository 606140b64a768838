// SPDX-License-Identifier: Apache-2.0
/* Tensor maps: what the driver makes of good and of wrong descriptions. */
#include "common.h"

#define MEMORY (1 << 20)
#define RANK 3

/* A good description, which each case changes. */
struct tiled {
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    cuuint64_t dim[6], strides[6];
    cuuint32_t box[6], steps[6];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2;
    CUtensorMapFloatOOBfill fill;
    const cuuint64_t *dims_at, *strides_at;
    const cuuint32_t *box_at, *steps_at;
};

static CUtensorMap map;
static CUdeviceptr d;

static CUresult encode(struct tiled *t, CUtensorMap *to) {
    memset(&map, 0, sizeof(map));
    return cuTensorMapEncodeTiled(to, t->type, t->rank, t->address, t->dims_at, t->strides_at,
                                  t->box_at, t->steps_at, t->interleave, t->swizzle, t->l2,
                                  t->fill);
}

/* The map's words, but for the address that is in them. */
static void print_map(void) {
    for (int i = 0; i < 16; i++) {
        if (map.opaque[i] - d < MEMORY)
            printf(" address+%x", (unsigned int)(map.opaque[i] - d));
        else
            printf(" %llx", (unsigned long long)map.opaque[i]);
    }
    printf("\n");
}

#define TRY(text, change)                                                                          \
    do {                                                                                           \
        struct tiled t = good;                                                                     \
        CUresult r;                                                                                \
        t.dims_at = t.dim, t.strides_at = t.strides, t.box_at = t.box, t.steps_at = t.steps;       \
        change;                                                                                    \
        if (!step(text))                                                                           \
            break;                                                                                 \
        r = encode(&t, &map);                                                                      \
        printf(text " = %d", r);                                                                   \
        if (r == CUDA_SUCCESS)                                                                     \
            print_map();                                                                           \
        else                                                                                       \
            printf("\n");                                                                          \
    } while (0)

static void tiled(void) {
    struct tiled good = {
        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        .rank = RANK,
        .address = (void *)d,
        .dim = {256, 64, 8, 2, 2, 2},
        .strides = {1024, 65536, 524288, 1048576, 2097152, 4194304},
        .box = {32, 16, 2, 1, 1, 1},
        .steps = {1, 1, 1, 1, 1, 1},
    };

    TRY("good", (void)t);
    for (cuuint32_t rank = 0; rank < 7; rank++) {
        printf("rank %u", rank);
        TRY("", t.rank = rank);
    }
    TRY("rank 2^31", t.rank = 1u << 31);
    for (unsigned int type = 0; type < 20; type++) {
        printf("type %u", type);
        TRY("", t.type = (CUtensorMapDataType)type);
    }
    TRY("swizzle 128", (t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B));
    TRY("swizzle 32, box too wide", (t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B));
    TRY("swizzle 77", t.swizzle = 77);
    TRY("interleave 16", (t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B));
    TRY("interleave 77", t.interleave = 77);
    TRY("promotion 256", t.l2 = CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    TRY("promotion 77", t.l2 = 77);
    TRY("nan", t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    TRY("fill 77", t.fill = 77);
    TRY("odd address", t.address = (char *)t.address + 1);
    TRY("address of 8", t.address = (char *)t.address + 8);
    TRY("no address", t.address = NULL);
    TRY("no dimensions", t.dims_at = NULL);
    TRY("no strides", t.strides_at = NULL);
    TRY("no box", t.box_at = NULL);
    TRY("no steps", t.steps_at = NULL);
    TRY("no strides, rank 1", (t.strides_at = NULL, t.rank = 1));
    TRY("dimension 0", t.dim[1] = 0);
    TRY("dimension 2^32", t.dim[1] = 1ull << 32);
    TRY("dimension 2^33", t.dim[1] = 1ull << 33);
    TRY("odd stride", t.strides[0] = 1025);
    TRY("stride 2^40", t.strides[1] = 1ull << 40);
    TRY("stride too small", t.strides[0] = 16);
    TRY("box 0", t.box[0] = 0);
    TRY("box 257", t.box[1] = 257);
    TRY("step 0", t.steps[0] = 0);
    TRY("step 9", t.steps[0] = 9);
    SAY("no map", encode(&good, NULL));
    SAY("map at 8", cuTensorMapReplaceAddress((CUtensorMap *)((char *)&map + 8), &map));
}

static void replace(void) {
    struct tiled good = {
        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        .rank = 2,
        .address = (void *)(d + 4096),
        .dim = {256, 64},
        .strides = {512},
        .box = {64, 64},
        .steps = {1, 1},
    };

    TRY("to replace", (void)t);
    SHOW(cuTensorMapReplaceAddress(&map, (void *)d));
    print_map();
    SHOW(cuTensorMapReplaceAddress(&map, (void *)(d + 1)));
    SHOW(cuTensorMapReplaceAddress(&map, NULL));
    SHOW(cuTensorMapReplaceAddress(NULL, (void *)d));
}

static void im2col(void) {
    cuuint64_t dim[4] = {64, 32, 32, 4}, strides[3] = {128, 4096, 131072};
    cuuint32_t steps[4] = {1, 1, 1, 1};
    int lower[2] = {-1, -1}, upper[2] = {-1, -1}, far[2] = {-1000, 0};
    CUresult r;

    r = cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)d, dim, strides,
                                lower, upper, 32, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("im2col = %d", r);
    print_map();
    for (cuuint32_t rank = 1; rank < 6; rank++) {
        if (rank == 4 || rank == 5)
            continue;
        r = cuTensorMapEncodeIm2col(
            &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, (void *)d, dim, strides, lower, upper, 32,
            64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        printf("im2col, rank %u = %d\n", rank, r);
    }
    SAY("im2col, corner too far",
        cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)d, dim, strides,
                                far, upper, 32, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    SAY("im2col, no corner",
        cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)d, dim, strides,
                                NULL, upper, 32, 64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    SAY("im2col, too many pixels",
        cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)d, dim, strides,
                                lower, upper, 300, 2000, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

int main(void) {
    struct tiled t = {
        .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, .rank = 1, .dim = {64}, .box = {64}, .steps = {1}};

    t.dims_at = t.dim, t.strides_at = t.strides, t.box_at = t.box, t.steps_at = t.steps;
    SAY("before cuInit", encode(&t, &map));
    CK(cuInit(0));
    SAY("without context", encode(&t, &map));
    start();
    CK(cuMemAlloc(&d, MEMORY));
    tiled();
    replace();
    im2col();
    return 0;
}
