// SPDX-License-Identifier: Apache-2.0
/* Every attribute of pointers to every kind of memory. */
#include "common.h"

static const char *const names[] = {
    [CU_POINTER_ATTRIBUTE_CONTEXT] = "context",
    [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = "type",
    [CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = "device pointer",
    [CU_POINTER_ATTRIBUTE_HOST_POINTER] = "host pointer",
    [CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = "sync memops",
    [CU_POINTER_ATTRIBUTE_BUFFER_ID] = "id",
    [CU_POINTER_ATTRIBUTE_IS_MANAGED] = "managed",
    [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = "device",
    [CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = "start",
    [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = "size",
    [CU_POINTER_ATTRIBUTE_MAPPED] = "mapped",
    [CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES] = "handle types",
    [CU_POINTER_ATTRIBUTE_ACCESS_FLAGS] = "access",
    [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = "pool",
    [CU_POINTER_ATTRIBUTE_MAPPING_SIZE] = "mapping size",
    [CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR] = "mapping start",
};

/* Addresses, handles and ids differ from run to run: they are shown by what they are like. */
static void show(CUpointer_attribute a, CUdeviceptr p, uint64_t value, CUcontext context) {
    switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        printf(" %s", value == (uint64_t)context ? "current" : value ? "other" : "none");
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        printf(" %s", value == p ? "same" : value ? "other" : "none");
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        printf(" %ld", value ? (long)(value - p) : 0);
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        printf(" %s", value ? "some" : "none");
        break;
    default:
        printf(" %ld", (long)value);
    }
}

static void about(const char *what, CUdeviceptr p, CUcontext context) {
    printf("-- %s\n", what);
    for (int a = 1; a < (int)(sizeof(names) / sizeof(names[0])); a++) {
        uint64_t value = 0;
        CUresult r;

        if (!names[a])
            continue;
        r = cuPointerGetAttribute(&value, (CUpointer_attribute)a, p);
        printf("%s: %d", names[a], r);
        if (r == CUDA_SUCCESS)
            show((CUpointer_attribute)a, p, value, context);
        puts("");
    }
}

static void set(CUdeviceptr d, void *h) {
    unsigned int on = 1, got = 77;

    puts("-- set");
    SHOW(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, d));
    SHOW(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, d));
    printf("%u\n", got & 0xff);
    SHOW(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, d));
    SHOW(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    SHOW(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0x1234));
    (void)h;
}

int main(void) {
    CUmemAllocationProp prop = {0};
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr d, pool, a;
    CUcontext c = start();
    size_t piece = 2 << 20;
    void *h;

    CK(cuMemAlloc(&d, 5000));
    about("device", d + 100, c);
    CK(cuMemHostAlloc(&h, 3000, 0));
    about("pinned", (CUdeviceptr)h + 100, c);
    CK(cuMemAllocAsync(&pool, 5000, NULL));
    CK(cuStreamSynchronize(NULL));
    about("pool", pool + 100, c);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CK(cuMemAddressReserve(&a, 2 * piece, 0, 0, 0));
    CK(cuMemCreate(&handle, piece, &prop, 0));
    CK(cuMemMap(a, piece, 0, handle, 0));
    CK(cuMemSetAccess(a, piece, &desc, 1));
    about("mapped", a + 100, c);
    set(d, h);
    return 0;
}
