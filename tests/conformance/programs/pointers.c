// SPDX-License-Identifier: Apache-2.0
/* What pointers are said to be. */
#include "common.h"

static void about(const char *what, CUdeviceptr p) {
    unsigned int type = 77, managed = 77;
    CUdeviceptr device = 7, start_address = 7;
    size_t size = 7;
    int ordinal = 77;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&type, &device, &managed, &ordinal, &start_address, &size};

    printf("-- %s\n", what);
    SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    printf("type %u\n", type);
    SHOW(cuPointerGetAttributes(6, which, data, p));
    printf("type %u device %s managed %u ordinal %d start %s size %zu\n", type,
           device == p ? "same"
           : device    ? "other"
                       : "0",
           managed, ordinal,
           start_address == 7 ? "untouched"
           : start_address    ? "there"
                              : "0",
           size);
}

int main(void) {
    CUdeviceptr d;
    void *h, *host;
    int on_stack;

    start();
    CK(cuMemAlloc(&d, 5000));
    CK(cuMemHostAlloc(&h, 3000, CU_MEMHOSTALLOC_PORTABLE));
    about("device memory", d + 100);
    about("pinned memory", (CUdeviceptr)h);
    about("stack", (CUdeviceptr)&on_stack);
    SHOW(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, (CUdeviceptr)h));
    printf("host pointer %s\n", host == h ? "same" : "other");
    SHOW(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, d));
    SHOW(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    SHOW(cuPointerGetAttribute(&host, 1000, d));
    unsigned int flags;
    SHOW(cuMemHostGetFlags(&flags, h));
    printf("flags %u\n", flags);
    SHOW(cuMemHostGetFlags(&flags, &on_stack));
    SHOW(cuMemHostGetDevicePointer(&d, &on_stack, 0));
    return 0;
}
