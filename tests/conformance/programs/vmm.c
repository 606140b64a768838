// SPDX-License-Identifier: Apache-2.0
/* Virtual memory management: addresses, memory, and the one mapped into the other. */
#include "common.h"

#define PIECE ((size_t)2 << 20)

static CUmemAllocationProp here(void) {
    CUmemAllocationProp p = {0};

    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static CUmemAccessDesc all_rights(void) {
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

    return d;
}

static CUmemGenericAllocationHandle memory(size_t bytes) {
    CUmemAllocationProp p = here();
    CUmemGenericAllocationHandle h;

    CK(cuMemCreate(&h, bytes, &p, 0));
    return h;
}

static CUdeviceptr addresses(size_t bytes) {
    CUdeviceptr a;

    CK(cuMemAddressReserve(&a, bytes, 0, 0, 0));
    return a;
}

static void granularity(void) {
    CUmemAllocationProp p = here(), bad;
    size_t g = 0;

    puts("-- granularity");
    SHOW(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    printf("%zu\n", g);
    SHOW(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    printf("%zu\n", g);
    SHOW(cuMemGetAllocationGranularity(NULL, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SHOW(cuMemGetAllocationGranularity(&g, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SHOW(cuMemGetAllocationGranularity(&g, &p, 7));
    bad = here();
    bad.location.id = 1000;
    SHOW(cuMemGetAllocationGranularity(&g, &bad, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    bad = here();
    bad.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    SHOW(cuMemGetAllocationGranularity(&g, &bad, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    bad = here();
    bad.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    SHOW(cuMemGetAllocationGranularity(&g, &bad, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void fill_and_show(CUdeviceptr p, size_t bytes, unsigned char value) {
    unsigned char first = 0, last = 0;

    CK(cuMemsetD8(p, value, bytes));
    CK(cuMemcpyDtoH(&first, p, 1));
    CK(cuMemcpyDtoH(&last, p + bytes - 1, 1));
    printf("holds %u %u\n", first, last);
}

/* Grown piece by piece behind one address, as allocators do. */
static void grows(void) {
    CUmemAccessDesc rights = all_rights();
    CUdeviceptr a = addresses(8 * PIECE), start = 0;
    CUmemGenericAllocationHandle h[4];
    unsigned char *host = malloc(4 * PIECE);
    size_t size = 0;

    puts("-- grows");
    for (int i = 0; i < 4; i++) {
        h[i] = memory(PIECE);
        SHOW(cuMemMap(a + (size_t)i * PIECE, PIECE, 0, h[i], 0));
        SHOW(cuMemSetAccess(a + (size_t)i * PIECE, PIECE, &rights, 1));
        SHOW(cuMemRelease(h[i]));
    }
    fill_and_show(a, 4 * PIECE, 3);
    fill_and_show(a + PIECE - 8, 16, 4);
    for (size_t i = 0; i < 4 * PIECE; i++)
        host[i] = (unsigned char)(i * 7 >> 3);
    SHOW(cuMemcpyHtoD(a, host, 4 * PIECE));
    memset(host, 0, 4 * PIECE);
    SHOW(cuMemcpyDtoH(host, a, 4 * PIECE));
    size_t wrong = 0;
    for (size_t i = 0; i < 4 * PIECE; i++)
        wrong += host[i] != (unsigned char)(i * 7 >> 3);
    printf("wrong %zu\n", wrong);
    SHOW(cuMemcpyDtoD(a, a + 2 * PIECE - 100, PIECE + 100));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemGetAddressRange(&start, &size, a + PIECE + 5));
    printf("range %+ld %zu\n", (long)(start - a), size);
    SHOW(cuMemcpyDtoH(host, a + 4 * PIECE - 8, 16));
    SHOW(cuMemcpyDtoH(host, a + 5 * PIECE, 16));
    SHOW(cuMemsetD8(a + 5 * PIECE, 0, 16));
    SHOW(cuMemFree(a));
    /* Taken out of the middle, and put back elsewhere. */
    CUmemGenericAllocationHandle middle, again;
    SHOW(cuMemRetainAllocationHandle(&middle, (void *)(a + PIECE + 77)));
    SHOW(cuMemRetainAllocationHandle(&again, (void *)(a + PIECE)));
    printf("the same: %d\n", middle == again);
    SHOW(cuMemRelease(again));
    fill_and_show(a + PIECE, PIECE, 55);
    SHOW(cuMemUnmap(a + PIECE, PIECE));
    SHOW(cuMemMap(a + 6 * PIECE, PIECE, 0, middle, 0));
    SHOW(cuMemSetAccess(a + 6 * PIECE, PIECE, &rights, 1));
    SHOW(cuMemRelease(middle));
    SHOW(cuMemRelease(middle));
    CK(cuMemcpyDtoH(host, a + 6 * PIECE + 9, 1));
    printf("still %u\n", host[0]);
    SHOW(cuMemAddressFree(a, 8 * PIECE));
    SHOW(cuMemUnmap(a + 6 * PIECE, PIECE));
    SHOW(cuMemUnmap(a + 2 * PIECE, 2 * PIECE));
    SHOW(cuMemUnmap(a, PIECE));
    SHOW(cuMemAddressFree(a, 8 * PIECE));
    SHOW(cuMemAddressFree(a, 8 * PIECE));
    free(host);
}

/* One memory behind two addresses. */
static void twice(void) {
    CUmemAccessDesc rights = all_rights();
    CUdeviceptr a = addresses(4 * PIECE);
    CUmemGenericAllocationHandle h = memory(2 * PIECE);
    unsigned char got = 0;

    puts("-- twice");
    SHOW(cuMemMap(a, 2 * PIECE, 0, h, 0));
    SHOW(cuMemMap(a + 2 * PIECE, 2 * PIECE, 0, h, 0));
    SHOW(cuMemSetAccess(a, 4 * PIECE, &rights, 1));
    CK(cuMemsetD8(a, 42, 2 * PIECE));
    CK(cuMemcpyDtoH(&got, a + 3 * PIECE, 1));
    printf("seen %u\n", got);
    SHOW(cuMemUnmap(a, 4 * PIECE));
    SHOW(cuMemRelease(h));
    SHOW(cuMemAddressFree(a, 4 * PIECE));
}

static void rights(void) {
    CUmemAccessDesc desc = all_rights();
    CUmemLocation at = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle h = memory(PIECE);
    CUmemAllocationProp prop;
    CUdeviceptr a = addresses(2 * PIECE);
    unsigned long long flags = 99;
    int byte;

    puts("-- rights");
    SHOW(cuMemGetAccess(&flags, &at, a));
    SHOW(cuMemSetAccess(a, PIECE, &desc, 1));
    SHOW(cuMemMap(a, PIECE, 0, h, 0));
    SHOW(cuMemGetAccess(&flags, &at, a));
    printf("%llu\n", flags);
    SHOW(cuMemcpyDtoH(&byte, a, 1));
    SHOW(cuMemsetD8(a, 1, 16));
    SHOW(cuMemSetAccess(a, PIECE, &desc, 1));
    SHOW(cuMemGetAccess(&flags, &at, a + 100));
    printf("%llu\n", flags);
    SHOW(cuMemsetD8(a, 1, 16));
    SHOW(cuMemcpyDtoH(&byte, a, 1));
    SHOW(cuMemSetAccess(a, 2 * PIECE, &desc, 1));
    SHOW(cuMemSetAccess(a, PIECE, NULL, 1));
    SHOW(cuMemSetAccess(a, PIECE, &desc, 0));
    desc.location.id = 1000;
    SHOW(cuMemSetAccess(a, PIECE, &desc, 1));
    SHOW(cuMemGetAccess(NULL, &at, a));
    SHOW(cuMemGetAccess(&flags, NULL, a));
    SHOW(cuMemGetAccess(&flags, &at, 0x1234));
    memset(&prop, 0, sizeof(prop));
    SHOW(cuMemGetAllocationPropertiesFromHandle(&prop, h));
    printf("type %d place %d %d handles %d\n", prop.type, prop.location.type, prop.location.id,
           prop.requestedHandleTypes);
    SHOW(cuMemGetAllocationPropertiesFromHandle(NULL, h));
    SHOW(cuMemGetAllocationPropertiesFromHandle(&prop, 0));
    SHOW(cuMemUnmap(a, PIECE));
    SHOW(cuMemRelease(h));
    SHOW(cuMemAddressFree(a, 2 * PIECE));
}

static void wrong(void) {
    CUmemAllocationProp prop = here(), bad;
    CUmemGenericAllocationHandle h, other = memory(PIECE);
    CUdeviceptr a, b;

    puts("-- wrong arguments");
    SHOW(cuMemAddressReserve(NULL, PIECE, 0, 0, 0));
    SHOW(cuMemAddressReserve(&a, 0, 0, 0, 0));
    SHOW(cuMemAddressReserve(&a, 4096, 0, 0, 0));
    SHOW(cuMemAddressReserve(&a, PIECE, 3, 0, 0));
    SHOW(cuMemAddressReserve(&a, PIECE, 0, 0, 1));
    SHOW(cuMemCreate(NULL, PIECE, &prop, 0));
    SHOW(cuMemCreate(&h, 0, &prop, 0));
    SHOW(cuMemCreate(&h, 4096, &prop, 0));
    SHOW(cuMemCreate(&h, PIECE, NULL, 0));
    SHOW(cuMemCreate(&h, PIECE, &prop, 1));
    SHOW(cuMemCreate(&h, (size_t)1 << 50, &prop, 0));
    bad = here();
    bad.location.id = 1000;
    SHOW(cuMemCreate(&h, PIECE, &bad, 0));
    bad = here();
    bad.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    SHOW(cuMemCreate(&h, PIECE, &bad, 0));
    SHOW(cuMemRelease(0));
    a = addresses(4 * PIECE);
    SHOW(cuMemMap(a, PIECE, 0, 0, 0));
    SHOW(cuMemMap(a, 2 * PIECE, 0, other, 0));
    SHOW(cuMemMap(a + 4096, PIECE, 0, other, 0));
    SHOW(cuMemMap(a, PIECE, PIECE, other, 0));
    SHOW(cuMemMap(a, PIECE, 0, other, 1));
    SHOW(cuMemMap(0x1234000, PIECE, 0, other, 0));
    SHOW(cuMemMap(a, PIECE, 0, other, 0));
    SHOW(cuMemMap(a, PIECE, 0, other, 0));
    SHOW(cuMemUnmap(a, 2 * PIECE));
    SHOW(cuMemUnmap(a + PIECE, PIECE));
    SHOW(cuMemUnmap(0x1234, PIECE));
    SHOW(cuMemUnmap(a, PIECE));
    SHOW(cuMemAddressFree(a, PIECE));
    SHOW(cuMemAddressFree(a + PIECE, PIECE));
    SHOW(cuMemAddressFree(a, 4 * PIECE));
    SHOW(cuMemRetainAllocationHandle(&h, (void *)a));
    CK(cuMemAlloc(&b, 4096));
    SHOW(cuMemRetainAllocationHandle(&h, (void *)b));
    SHOW(cuMemUnmap(b, 4096));
    CK(cuMemFree(b));
    SHOW(cuMemRelease(other));
}

static void address_wishes(void) {
    CUdeviceptr a, wish, big;

    puts("-- addresses");
    a = addresses(PIECE);
    CK(cuMemAddressFree(a, PIECE));
    wish = a;
    SHOW(cuMemAddressReserve(&a, PIECE, 0, wish, 0));
    printf("as wished: %d\n", a == wish);
    SHOW(cuMemAddressFree(a, PIECE));
    SHOW(cuMemAddressReserve(&a, PIECE, (size_t)1 << 30, 0, 0));
    printf("aligned: %d\n", a % ((size_t)1 << 30) == 0);
    SHOW(cuMemAddressFree(a, PIECE));
    SHOW(cuMemAddressReserve(&big, (size_t)1 << 38, 0, 0, 0));
    SHOW(cuMemAddressFree(big, (size_t)1 << 38));
}

int main(void) {
    start();
    granularity();
    grows();
    twice();
    rights();
    wrong();
    address_wishes();
    return 0;
}
