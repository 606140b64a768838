// SPDX-License-Identifier: Apache-2.0
/* Variables of modules and libraries are device memory like any other. */
#include "common.h"

KERNELS(basics);

static void use(const char *what, CUdeviceptr d, size_t bytes) {
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    int value = 41, back = 0, device = -1;
    unsigned int type = 77;
    CUdeviceptr pointer = 0;
    void *answers[] = {&type, &pointer};

    printf("%s: %zu bytes\n", what, bytes);
    SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    printf("type %u\n", type);
    SHOW(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, d));
    printf("device %d\n", device);
    SHOW(cuPointerGetAttributes(2, asked, answers, d));
    printf("type %u, the same %d\n", type, pointer == d);
    SHOW(cuMemcpy(d, (CUdeviceptr)&value, sizeof(value)));
    SHOW(cuMemcpy((CUdeviceptr)&back, d, sizeof(back)));
    printf("value %d\n", back);
    SHOW(cuMemsetD32(d, 7, 1));
    SHOW(cuMemcpyDtoH(&back, d, sizeof(back)));
    printf("value %d\n", back);
    SHOW(cuMemFree(d));
}

int main(void) {
    CUdeviceptr a, b, c;
    size_t bytes;
    CUlibrary l;
    CUmodule m;

    start();
    m = module(ptx_basics);
    CK(cuModuleGetGlobal(&a, &bytes, m, "counter"));
    use("a module's", a, bytes);
    CK(cuModuleGetGlobal(&b, NULL, m, "table"));
    use("its constant", b, sizeof(float));
    CK(cuModuleGetGlobal(&c, NULL, m, "counter"));
    printf("the same %d\n", a == c);
    CK(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetGlobal(&a, &bytes, l, "counter"));
    use("a library's", a, bytes);
    SHOW(cuLibraryUnload(l));
    SHOW(cuModuleUnload(m));
    return 0;
}
