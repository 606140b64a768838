// SPDX-License-Identifier: Apache-2.0
/* All that a program can ask about a device. */
#include "common.cuh"

static void properties() {
    cudaDeviceProp p;

    CK(cudaGetDeviceProperties(&p, 0));
    printf("name %s\n", p.name);
    printf("capability %d.%d\n", p.major, p.minor);
    printf("memory %zu\n", p.totalGlobalMem);
    printf("constant memory %zu, shared %zu, optin %zu\n", p.totalConstMem, p.sharedMemPerBlock,
           p.sharedMemPerBlockOptin);
    printf("processors %d, warp %d, threads %d\n", p.multiProcessorCount, p.warpSize,
           p.maxThreadsPerBlock);
    printf("grid %d %d %d\n", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("l2 %d, bus %d\n", p.l2CacheSize, p.memoryBusWidth);
    printf("pci %d %d %d\n", p.pciDomainID, p.pciBusID, p.pciDeviceID);
    printf("uuid %016llx\n", (unsigned long long)digest(&p.uuid, sizeof(p.uuid)));
    printf("managed %d, concurrent %d, pageable %d\n", p.managedMemory, p.concurrentManagedAccess,
           p.pageableMemoryAccess);
    printf("unified %d, map %d, cooperative %d\n", p.unifiedAddressing, p.canMapHostMemory,
           p.cooperativeLaunch);
}

/* Handles that are good beyond a host are not for guests. */
static int without_fabric(int attribute, int value) {
    if (attribute == cudaDevAttrMemoryPoolSupportedHandleTypes)
        return value & ~cudaMemHandleTypeFabric;
    return attribute == cudaDevAttrReserved128
               ? 0
               : value; /* CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED */
}

static void attributes() {
    for (int i = -1; i < 160; i++) {
        int value = -7;
        cudaError_t r = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)i, 0);

        value = without_fabric(i, value);
        printf("attribute %d = %d %s\n", i, value, cudaGetErrorName(r));
    }
}

static void limits() {
    for (int i = 0; i < 10; i++) {
        size_t value = 7;
        cudaError_t r = cudaDeviceGetLimit(&value, (cudaLimit)i);

        printf("limit %d = %zu %s\n", i, value, cudaGetErrorName(r));
    }
}

int main() {
    int n = -1, v = -1, low, high;
    unsigned flags;
    char bus[32];
    cudaDeviceProp want = {};
    cudaFuncCache cache;
    size_t width = 0;

    SHOW(cudaGetDeviceCount(&n));
    printf("devices %d\n", n);
    SHOW(cudaDriverGetVersion(&v));
    printf("driver at least 13.0: %d\n", v >= 13000);
    SHOW(cudaRuntimeGetVersion(&v));
    printf("runtime %d\n", v);
    SHOW(cudaGetDeviceCount(nullptr));
    SHOW(cudaDriverGetVersion(nullptr));
    SHOW(cudaGetDeviceProperties(&want, 99));
    SHOW(cudaSetDevice(99));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaGetDevice(&v));
    printf("device %d\n", v);
    properties();
    attributes();
    limits();
    SHOW(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
    SHOW(cudaDeviceGetByPCIBusId(&v, bus));
    printf("device %d at %s\n", v, bus);
    SHOW(cudaDeviceGetPCIBusId(bus, 3, 0));
    SHOW(cudaDeviceGetByPCIBusId(&v, "9999:99:99.0"));
    SHOW(cudaDeviceGetStreamPriorityRange(&low, &high));
    printf("priorities %d to %d\n", low, high);
    SHOW(cudaGetDeviceFlags(&flags));
    printf("flags %x\n", flags);
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SHOW(cudaGetDeviceFlags(&flags));
    printf("flags %x\n", flags);
    SHOW(cudaSetDeviceFlags(0x1000));
    SHOW(cudaDeviceGetCacheConfig(&cache));
    printf("cache %d\n", cache);
    SHOW(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    SHOW(cudaDeviceGetCacheConfig(&cache));
    printf("cache %d\n", cache);
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SHOW(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21));
    SHOW(cudaDeviceSetLimit((cudaLimit)99, 1));
    limits();
    want.major = 9;
    SHOW(cudaChooseDevice(&v, &want));
    printf("chosen %d\n", v);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    printf("linear texture %zu\n", width);
    SHOW(cudaInitDevice(0, 0, 0));
    SHOW(cudaInitDevice(99, 0, 0));
    SHOW(cudaDeviceReset());
    return 0;
}
