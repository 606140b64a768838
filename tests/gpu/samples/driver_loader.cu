// SPDX-License-Identifier: Apache-2.0
/* The driver as NVIDIA's libraries find it: opened by name, one function by name, and all others
 * from that, in the form for which the default stream is the thread's own. */
/* nvcc: -ldl */
#include <cuda.h>
#include <dlfcn.h>

#include "common.cuh"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 p) {\n"
                          ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                          "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
                          "add.s64 %d2, %d0, %d1; ld.global.u32 %r1, [%d2];\n"
                          "add.u32 %r2, %r1, %r1; st.global.u32 [%d2], %r2; ret;\n}\n";

using Get = CUresult (*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
static Get get;

static void *find(const char *name, int version, cuuint64_t flags) {
    CUdriverProcAddressQueryResult status;
    void *found = nullptr;
    CUresult r = get(name, &found, version, flags, &status);

    printf("%s of %d, flags %d: %d, %s, status %d\n", name, version, (int)flags, r,
           found ? "found" : "none", status);
    return found;
}

#define FIND(name, version, flags) ((decltype(&name))find(#name, version, flags))

int main() {
    const cuuint64_t mine = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *args[1];
    CUdeviceptr d;
    CUcontext c;
    CUlibrary l;
    CUkernel k;
    int v[32], wrong = 0;

    if (!library) {
        printf("no driver\n");
        return 1;
    }
    get = (Get)dlsym(library, "cuGetProcAddress_v2");
    printf("init %d\n", FIND(cuInit, 2000, 0)(0));
    printf("retain %d\n", FIND(cuDevicePrimaryCtxRetain, 7000, 0)(&c, 0));
    printf("set %d\n", FIND(cuCtxSetCurrent, 4000, 0)(c));
    // The names of versions are not names; the newest form is what the version asks for.
    find("cuMemAlloc_v2", 12000, 0);
    find("cuStreamGetCaptureInfo", 10010, mine);
    find("cuStreamGetCaptureInfo", 12030, mine);
    find("cuNothing", 12000, 0);
    find("cuLibraryLoadData", 11000, 0);
    auto alloc = (CUresult(*)(CUdeviceptr *, size_t))find("cuMemAlloc", 3020, 0);
    auto up = (CUresult(*)(CUdeviceptr, const void *, size_t, CUstream))find("cuMemcpyHtoDAsync",
                                                                             7000, mine);
    auto down = (CUresult(*)(void *, CUdeviceptr, size_t, CUstream))find("cuMemcpyDtoHAsync", 7000,
                                                                        mine);
    auto launch = FIND(cuLaunchKernel, 7000, mine);
    auto wait = FIND(cuStreamSynchronize, 7000, mine);
    auto query = FIND(cuStreamQuery, 7000, mine);
    printf("alloc %d\n", alloc(&d, sizeof(v)));
    printf("load %d\n", FIND(cuLibraryLoadData, 12000, 0)(&l, ptx, nullptr, nullptr, 0, nullptr,
                                                         nullptr, 0));
    printf("kernel %d\n", FIND(cuLibraryGetKernel, 12000, 0)(&k, l, "twice"));
    for (int i = 0; i < 32; i++)
        v[i] = i;
    args[0] = &d;
    printf("up %d\n", up(d, v, sizeof(v), nullptr));
    printf("launch %d\n", launch((CUfunction)k, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
    printf("down %d\n", down(v, d, sizeof(v), nullptr));
    printf("wait %d, query %d\n", wait(nullptr), query(nullptr));
    for (int i = 0; i < 32; i++)
        wrong += v[i] != 2 * i;
    printf("wrong %d\n", wrong);
    return 0;
}
