// SPDX-License-Identifier: Apache-2.0
/* Memory in stream order, pools and their attributes. */
#include "common.cuh"

__global__ void fill(int *v, int x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] = x + i;
}

static void attribute(const char *what, cudaMemPool_t pool, cudaMemPoolAttr a) {
    uint64_t value = 77;
    cudaError_t r = cudaMemPoolGetAttribute(pool, a, &value);

    printf("%s %s %llu\n", what, cudaGetErrorName(r), (unsigned long long)value);
}

int main() {
    const int n = 1 << 18;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaMemPool_t standard, current, pool;
    cudaMemPoolProps props = {};
    cudaMemLocation where = {};
    cudaMemAccessFlags access;
    uint64_t keep = UINT64_MAX;
    int *a, *b, supported, off = 0;
    long long sum = 0;

    SHOW(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    printf("pools %d\n", supported);
    CK(cudaStreamCreate(&s));
    CK(cudaStreamCreate(&t));
    CK(cudaEventCreate(&e));
    SHOW(cudaMallocAsync(&a, n * sizeof(int), s));
    fill<<<n / 256, 256, 0, s>>>(a, 5, n);
    CK(cudaEventRecord(e, s));
    CK(cudaStreamWaitEvent(t, e, 0));
    std::vector<int> v(n);
    SHOW(cudaMemcpyAsync(v.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost, t));
    SHOW(cudaFreeAsync(a, t));
    SHOW(cudaStreamSynchronize(t));
    for (int x : v)
        sum += x;
    printf("sum %lld\n", sum);
    // Again and again: freed memory is used anew in the order of the stream.
    for (int i = 0; i < 100; i++) {
        CK(cudaMallocAsync(&b, n * sizeof(int), s));
        fill<<<n / 256, 256, 0, s>>>(b, i, n);
        CK(cudaFreeAsync(b, s));
    }
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaDeviceGetDefaultMemPool(&standard, 0));
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("the default is current %d\n", standard == current);
    attribute("follow events", standard, cudaMemPoolReuseFollowEventDependencies);
    attribute("opportunistic", standard, cudaMemPoolReuseAllowOpportunistic);
    attribute("dependencies", standard, cudaMemPoolReuseAllowInternalDependencies);
    attribute("threshold", standard, cudaMemPoolAttrReleaseThreshold);
    attribute("used", standard, cudaMemPoolAttrUsedMemCurrent);
    attribute("used high", standard, cudaMemPoolAttrUsedMemHigh);
    attribute("wrong", standard, (cudaMemPoolAttr)99);
    SHOW(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &keep));
    attribute("threshold", standard, cudaMemPoolAttrReleaseThreshold);
    SHOW(cudaMemPoolSetAttribute(standard, cudaMemPoolReuseAllowOpportunistic, &off));
    SHOW(cudaMemPoolTrimTo(standard, 0));
    attribute("reserved after trim", standard, cudaMemPoolAttrReservedMemCurrent);

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    SHOW(cudaMemPoolCreate(&pool, &props));
    SHOW(cudaMallocFromPoolAsync(&a, 1 << 20, pool, s));
    attribute("used", pool, cudaMemPoolAttrUsedMemCurrent);
    where.type = cudaMemLocationTypeDevice;
    SHOW(cudaMemPoolGetAccess(&access, pool, &where));
    printf("access %d\n", access);
    SHOW(cudaDeviceSetMemPool(0, pool));
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("ours is current %d\n", pool == current);
    SHOW(cudaMallocAsync(&b, 100, s));
    SHOW(cudaFreeAsync(b, s));
    SHOW(cudaFree(a));
    SHOW(cudaMemPoolDestroy(pool));
    SHOW(cudaDeviceGetMemPool(&current, 0));
    printf("the default again %d\n", standard == current);
    props.location.id = 99;
    SHOW(cudaMemPoolCreate(&pool, &props));
    SHOW(cudaMemPoolDestroy(standard));
    SHOW(cudaMallocAsync(&a, 0, s));
    SHOW(cudaMallocAsync((int **)nullptr, 100, s));
    SHOW(cudaMallocAsync(&a, (size_t)1 << 60, s));
    SHOW(cudaFreeAsync(nullptr, s));
    SHOW(cudaFreeAsync((void *)0x12340, s));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}
