// SPDX-License-Identifier: Apache-2.0
/* Mipmapped arrays and their levels. */
#include "common.h"

static void level(CUmipmappedArray m, unsigned int which) {
    static unsigned char from[64 * 64 * 4], to[64 * 64 * 4];
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUDA_MEMCPY2D up = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from, .dstMemoryType = CU_MEMORYTYPE_ARRAY};
    CUDA_MEMCPY2D down = {
        .srcMemoryType = CU_MEMORYTYPE_ARRAY, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to};
    uint32_t seed = which;
    CUarray a = NULL, again = NULL;
    CUresult r = cuMipmappedArrayGetLevel(&a, m, which);

    printf("level %u = %d\n", which, r);
    if (r != CUDA_SUCCESS)
        return;
    CK(cuMipmappedArrayGetLevel(&again, m, which));
    CK(cuArray3DGetDescriptor(&d, a));
    printf("  %zu x %zu x %zu, flags %u\n", d.Width, d.Height, d.Depth, d.Flags);
    CK(cuArray3DGetDescriptor(&d, again));
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)next_random(&seed);
    up.dstArray = a;
    down.srcArray = again;
    up.srcPitch = down.dstPitch = up.WidthInBytes = down.WidthInBytes = d.Width * 4;
    up.Height = down.Height = d.Height;
    SHOW(cuMemcpy2D(&up));
    SHOW(cuMemcpy2D(&down));
    printf("  %d\n", memcmp(from, to, d.Width * d.Height * 4));
}

int main(void) {
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 64, .Height = 48, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR d, deep = {.Width = 16,
                                       .Height = 16,
                                       .Depth = 32,
                                       .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                       .NumChannels = 4};
    CUDA_ARRAY3D_DESCRIPTOR layered = deep;
    CUmipmappedArray m;
    CUarray a;

    start();
    CK(cuMipmappedArrayCreate(&m, &desc, 4));
    for (unsigned int i = 0; i < 6; i++)
        level(m, i);
    CK(cuMipmappedArrayGetLevel(&a, m, 1));
    SHOW(cuMipmappedArrayGetLevel(NULL, m, 1));
    SHOW(cuMipmappedArrayGetLevel(&a, NULL, 1));
    SHOW(cuMipmappedArrayDestroy(m));
    SHOW(cuMipmappedArrayDestroy(NULL));
    printf("-- as many as there can be\n");
    CK(cuMipmappedArrayCreate(&m, &deep, 100));
    for (unsigned int i = 0; i < 8; i++) {
        CUresult r = cuMipmappedArrayGetLevel(&a, m, i);

        printf("level %u = %d\n", i, r);
        if (r == CUDA_SUCCESS) {
            CK(cuArray3DGetDescriptor(&d, a));
            printf("  %zu x %zu x %zu\n", d.Width, d.Height, d.Depth);
        }
    }
    CK(cuMipmappedArrayDestroy(m));
    printf("-- layers\n");
    layered.Flags = CUDA_ARRAY3D_LAYERED;
    CK(cuMipmappedArrayCreate(&m, &layered, 3));
    for (unsigned int i = 0; i < 3; i++) {
        CK(cuMipmappedArrayGetLevel(&a, m, i));
        CK(cuArray3DGetDescriptor(&d, a));
        printf("  %zu x %zu x %zu, flags %u\n", d.Width, d.Height, d.Depth, d.Flags);
    }
    CK(cuMipmappedArrayDestroy(m));
    printf("-- wrong arguments\n");
    SHOW(cuMipmappedArrayCreate(NULL, &desc, 1));
    SHOW(cuMipmappedArrayCreate(&m, NULL, 1));
    SHOW(cuMipmappedArrayCreate(&m, &desc, 0));
    desc.NumChannels = 3;
    SHOW(cuMipmappedArrayCreate(&m, &desc, 1));
    desc.NumChannels = 1;
    desc.Width = 0;
    SHOW(cuMipmappedArrayCreate(&m, &desc, 1));
    return 0;
}
