// SPDX-License-Identifier: Apache-2.0
/* Attributes of streams, whose they are, and the calls' other versions. */
#include <dlfcn.h>

#include "common.h"

KERNELS(basics);

#define WILD ((CUstream)0x123456780)

static void show_attribute(CUstream s, CUstreamAttrID id, const char *name) {
    CUstreamAttrValue v;
    CUresult r;

    memset(&v, 0, sizeof(v));
    r = cuStreamGetAttribute(s, id, &v);
    printf("%s: %d", name, r);
    if (r == CUDA_SUCCESS) {
        switch (id) {
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            printf(" base=%p bytes=%zu ratio=%.2f hit=%d miss=%d", v.accessPolicyWindow.base_ptr,
                   v.accessPolicyWindow.num_bytes, (double)v.accessPolicyWindow.hitRatio,
                   v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
            break;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
            printf(" %d", v.syncPolicy);
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            printf(" %d", v.priority);
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
            printf(" %d", v.memSyncDomain);
            break;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            printf(" %d %d", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
            break;
        default:
            break;
        }
    }
    printf("\n");
}

static void show_all(CUstream s, const char *which) {
    printf("-- %s\n", which);
    show_attribute(s, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, "window");
    show_attribute(s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, "synchronization");
    show_attribute(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, "priority");
    show_attribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, "domain");
    show_attribute(s, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, "domain map");
}

static void attributes(CUdeviceptr d) {
    CUstreamAttrValue v;
    CUstream a, b;

    CK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreateWithPriority(&b, CU_STREAM_NON_BLOCKING, -1));
    show_all(a, "new");
    show_all(b, "with a priority");
    show_all(NULL, "the default stream");
    memset(&v, 0, sizeof(v));
    v.syncPolicy = CU_SYNC_POLICY_YIELD;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    v.syncPolicy = 99;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    memset(&v, 0, sizeof(v));
    v.priority = -2;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    v.priority = -1000;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    memset(&v, 0, sizeof(v));
    v.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &v));
    memset(&v, 0, sizeof(v));
    v.accessPolicyWindow.base_ptr = (void *)d;
    v.accessPolicyWindow.num_bytes = 4096;
    v.accessPolicyWindow.hitRatio = 0.5f;
    v.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
    v.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    CK(cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    printf("the window is the memory: %d, %zu bytes\n", v.accessPolicyWindow.base_ptr == (void *)d,
           v.accessPolicyWindow.num_bytes);
    v.accessPolicyWindow.hitRatio = 2;
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    memset(&v, 0, sizeof(v));
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    show_attribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, "synchronization");
    show_attribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, "priority");
    SHOW(cuStreamCopyAttributes(b, a));
    show_attribute(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, "copied synchronization");
    show_attribute(b, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, "copied domain");
    show_attribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, "copied priority");
    printf("-- wrong\n");
    SHOW(cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v));
    SHOW(cuStreamGetAttribute(a, (CUstreamAttrID)0, &v));
    SHOW(cuStreamGetAttribute(a, (CUstreamAttrID)1000, &v));
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &v));
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    SHOW(cuStreamSetAttribute(a, (CUstreamAttrID)1000, &v));
    SHOW(cuStreamGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    SHOW(cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    SHOW(cuStreamGetAttribute(WILD, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    SHOW(cuStreamCopyAttributes(a, WILD));
    SHOW(cuStreamCopyAttributes(WILD, a));
    SHOW(cuStreamCopyAttributes(a, NULL));
    SHOW(cuStreamCopyAttributes(a, a));
    CK(cuStreamDestroy(a));
    CK(cuStreamDestroy(b));
}

static void belonging(CUcontext context) {
    CUgreenCtx green = (CUgreenCtx)1;
    CUcontext c = NULL, other;
    CUdevice device = -1;
    CUstream s;

    printf("-- belonging\n");
    CK(cuStreamCreate(&s, 0));
    SHOW(cuStreamGetDevice(s, &device));
    printf("device %d\n", device);
    SHOW(cuStreamGetDevice(NULL, &device));
    SHOW(cuStreamGetDevice(CU_STREAM_PER_THREAD, &device));
    SHOW(cuStreamGetDevice(s, NULL));
    SHOW(cuStreamGetDevice(WILD, &device));
    SHOW(cuStreamGetCtx_v2(s, &c, &green));
    printf("its context: %d, green: %d\n", c == context, green != NULL);
    SHOW(cuStreamGetCtx_v2(NULL, &c, &green));
    printf("its context: %d, green: %d\n", c == context, green != NULL);
    SHOW(cuStreamGetCtx_v2(s, NULL, &green));
    SHOW(cuStreamGetCtx_v2(s, &c, NULL));
    SHOW(cuStreamGetGreenCtx(s, &green));
    printf("green: %d\n", green != NULL);
    SHOW(cuStreamGetGreenCtx(s, NULL));
    SHOW(cuStreamGetGreenCtx(WILD, &green));
    CK(cuCtxCreate(&other, NULL, 0, 0));
    SHOW(cuStreamGetDevice(s, &device));
    SHOW(cuStreamGetCtx(s, &c));
    printf("its context: %d\n", c == context);
    SHOW(cuStreamQuery(s));
    CK(cuCtxDestroy(other));
    CK(cuStreamDestroy(s));
    SHOW(cuStreamGetDevice(s, &device));
}

static void priorities(void) {
    int least, greatest, p;
    unsigned int flags;
    CUstream s;

    printf("-- priorities\n");
    CK(cuCtxGetStreamPriorityRange(&least, &greatest));
    printf("%d to %d\n", least, greatest);
    for (int wanted = least + 1; wanted >= greatest - 1; wanted--) {
        CK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, wanted));
        CK(cuStreamGetPriority(s, &p));
        CK(cuStreamGetFlags(s, &flags));
        printf("%d gives %d, flags %u\n", wanted, p, flags);
        CK(cuStreamDestroy(s));
    }
    SHOW(cuStreamGetPriority(CU_STREAM_PER_THREAD, &p));
    SHOW(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags));
    printf("%u\n", flags);
    SHOW(cuStreamGetFlags(NULL, &flags));
    printf("%u\n", flags);
}

static void old_versions(void) {
    CUresult (*destroy)(CUstream) = (CUresult(*)(CUstream))dlsym(RTLD_DEFAULT, "cuStreamDestroy");
    CUstream s;

    printf("-- old versions\n");
    CK(cuStreamCreate(&s, 0));
    SHOW(destroy(s));
    SHOW(destroy(s));
    SHOW(destroy(NULL));
    SHOW(cuStreamDestroy(NULL));
    SHOW(cuStreamDestroy(CU_STREAM_LEGACY));
    SHOW(cuStreamDestroy(CU_STREAM_PER_THREAD));
    SHOW(cuStreamCreate(&s, 2));
    SHOW(cuStreamCreate(NULL, 0));
}

int main(void) {
    CUdeviceptr d;
    CUcontext context = start();

    CK(cuMemAlloc(&d, 1 << 20));
    attributes(d);
    belonging(context);
    priorities();
    old_versions();
    return 0;
}
