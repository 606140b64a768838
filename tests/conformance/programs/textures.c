// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects, and references: kernels read and write through them. */
#include "common.h"

#define SIDE 16

static const char text[] =
    ".version 6.0\n.target sm_52\n.address_size 64\n"
    ".global .texref tex_ref;\n"
    /* out[y * 16 + x] = tex2D(object, (x + shift) * scale, (y + shift) * scale) */
    ".visible .entry sample(.param .u64 out, .param .u64 tex, .param .f32 shift,\n"
    "                       .param .f32 scale) {\n"
    "  .reg .f32 %f<12>; .reg .u32 %r<6>; .reg .u64 %d<6>;\n"
    "  ld.param.u64 %d0, [out]; ld.param.u64 %d1, [tex];\n"
    "  ld.param.f32 %f8, [shift]; ld.param.f32 %f9, [scale];\n"
    "  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;\n"
    "  cvt.rn.f32.u32 %f0, %r0; cvt.rn.f32.u32 %f1, %r1;\n"
    "  add.f32 %f0, %f0, %f8; add.f32 %f1, %f1, %f8;\n"
    "  mul.f32 %f0, %f0, %f9; mul.f32 %f1, %f1, %f9;\n"
    "  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f0, %f1}];\n"
    "  mad.lo.u32 %r2, %r1, 16, %r0; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d0, %d2;\n"
    "  st.global.f32 [%d3], %f2; ret; }\n"
    /* The same by the reference, where an element is. */
    ".visible .entry by_ref(.param .u64 out) {\n"
    "  .reg .f32 %f<12>; .reg .u32 %r<6>; .reg .u64 %d<6>;\n"
    "  ld.param.u64 %d0, [out];\n"
    "  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;\n"
    "  cvt.rn.f32.u32 %f0, %r0; cvt.rn.f32.u32 %f1, %r1;\n"
    "  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [tex_ref, {%f0, %f1}];\n"
    "  mad.lo.u32 %r2, %r1, 16, %r0; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d0, %d2;\n"
    "  st.global.f32 [%d3], %f2; ret; }\n"
    /* surface[y][x] = 100 * y + x */
    ".visible .entry paint(.param .u64 surf) {\n"
    "  .reg .u32 %r<6>; .reg .u64 %d<3>; .reg .f32 %f<2>;\n"
    "  ld.param.u64 %d0, [surf];\n"
    "  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;\n"
    "  mad.lo.u32 %r2, %r1, 100, %r0; cvt.rn.f32.u32 %f0, %r2; mov.b32 %r3, %f0;\n"
    "  shl.b32 %r4, %r0, 2;\n"
    "  sust.b.2d.b32.trap [%d0, {%r4, %r1}], {%r3}; ret; }\n";

static CUmodule m;
static CUarray array;
static CUdeviceptr out, linear;
static size_t pitch;
static float host[SIDE * SIDE], image[SIDE * SIDE];

static void print_some(const char *what) {
    CK(cuCtxSynchronize());
    CK(cuMemcpyDtoH(host, out, sizeof(host)));
    printf("%s:", what);
    for (int i = 0; i < SIDE * SIDE; i += 37)
        printf(" %g", (double)host[i]);
    printf("\n");
}

static void sample(const char *what, CUtexObject object, float shift, float scale) {
    void *params[] = {&out, &object, &shift, &scale};

    CK(cuMemsetD32(out, 0, SIDE * SIDE));
    CK(cuLaunchKernel(function(m, "sample"), 1, 1, 1, SIDE, SIDE, 1, 0, NULL, params, NULL));
    print_some(what);
}

static void fill_array(void) {
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = image,
                       .srcPitch = SIDE * 4,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = array,
                       .WidthInBytes = SIDE * 4,
                       .Height = SIDE};

    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = (float)(i % SIDE) + 32 * (float)(i / SIDE);
    CK(cuMemcpy2D(&c));
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = linear;
    c.dstPitch = pitch;
    CK(cuMemcpy2D(&c));
}

static void print_resource(CUtexObject object) {
    CUDA_RESOURCE_DESC d;

    SHOW(cuTexObjectGetResourceDesc(&d, object));
    printf("  type %d, flags %u", d.resType, d.flags);
    if (d.resType == CU_RESOURCE_TYPE_ARRAY)
        printf(", %s array\n", d.res.array.hArray == array ? "our" : "SOME OTHER");
    else if (d.resType == CU_RESOURCE_TYPE_PITCH2D)
        printf(", %s memory, %d, %u, %zu x %zu, pitch %s\n",
               d.res.pitch2D.devPtr == linear ? "our" : "SOME OTHER", d.res.pitch2D.format,
               d.res.pitch2D.numChannels, d.res.pitch2D.width, d.res.pitch2D.height,
               d.res.pitch2D.pitchInBytes == pitch ? "ours" : "SOME OTHER");
    else if (d.resType == CU_RESOURCE_TYPE_LINEAR)
        printf(", %s memory, %d, %u, %zu\n", d.res.linear.devPtr == linear ? "our" : "SOME OTHER",
               d.res.linear.format, d.res.linear.numChannels, d.res.linear.sizeInBytes);
    else
        printf("\n");
}

static void print_texture(CUtexObject object) {
    CUDA_TEXTURE_DESC d;
    CUDA_RESOURCE_VIEW_DESC v = {0};

    SHOW(cuTexObjectGetTextureDesc(&d, object));
    printf("  modes %d %d %d, filter %d, flags %u, anisotropy %u, mipmap %d %g %g %g\n",
           d.addressMode[0], d.addressMode[1], d.addressMode[2], d.filterMode, d.flags,
           d.maxAnisotropy, d.mipmapFilterMode, (double)d.mipmapLevelBias,
           (double)d.minMipmapLevelClamp, (double)d.maxMipmapLevelClamp);
    printf("  view = %d", cuTexObjectGetResourceViewDesc(&v, object));
    printf(", %d, %zu x %zu x %zu\n", v.format, v.width, v.height, v.depth);
}

static void objects(void) {
    CUDA_RESOURCE_DESC of_array = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_RESOURCE_DESC of_pitch = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    CUDA_RESOURCE_DESC of_linear = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_RESOURCE_DESC none = {.resType = 9};
    CUDA_RESOURCE_VIEW_DESC view = {
        .format = CU_RES_VIEW_FORMAT_FLOAT_1X32, .width = SIDE, .height = SIDE};
    CUDA_TEXTURE_DESC clamp = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
                                               CU_TR_ADDRESS_MODE_CLAMP}};
    CUDA_TEXTURE_DESC wrap = {.addressMode = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_WRAP},
                              .filterMode = CU_TR_FILTER_MODE_LINEAR,
                              .flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUDA_TEXTURE_DESC border = {
        .addressMode = {CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_BORDER},
        .borderColor = {77, 1, 2, 3}};
    CUtexObject t = 0;

    printf("-- texture objects\n");
    of_array.res.array.hArray = array;
    of_pitch.res.pitch2D.devPtr = linear;
    of_pitch.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    of_pitch.res.pitch2D.numChannels = 1;
    of_pitch.res.pitch2D.width = of_pitch.res.pitch2D.height = SIDE;
    of_pitch.res.pitch2D.pitchInBytes = pitch;
    of_linear.res.linear.devPtr = linear;
    of_linear.res.linear.format = CU_AD_FORMAT_FLOAT;
    of_linear.res.linear.numChannels = 1;
    of_linear.res.linear.sizeInBytes = 1024;
    CK(cuTexObjectCreate(&t, &of_array, &clamp, NULL));
    sample("array, clamped", t, 0.5f, 1);
    sample("array, beyond", t, 10.5f, 1);
    print_resource(t);
    print_texture(t);
    SHOW(cuTexObjectDestroy(t));
    CK(cuTexObjectCreate(&t, &of_array, &wrap, &view));
    sample("array, wrapped", t, 3, 1.0f / SIDE);
    print_resource(t);
    print_texture(t);
    SHOW(cuTexObjectDestroy(t));
    CK(cuTexObjectCreate(&t, &of_array, &border, NULL));
    sample("array, border", t, 9.5f, 1);
    SHOW(cuTexObjectDestroy(t));
    CK(cuTexObjectCreate(&t, &of_pitch, &clamp, NULL));
    sample("memory", t, 0.5f, 1);
    print_resource(t);
    SHOW(cuTexObjectDestroy(t));
    CK(cuTexObjectCreate(&t, &of_linear, &clamp, NULL));
    print_resource(t);
    SHOW(cuTexObjectDestroy(t));
    SHOW(cuTexObjectDestroy(0));
    SHOW(cuTexObjectCreate(NULL, &of_array, &clamp, NULL));
    SHOW(cuTexObjectCreate(&t, NULL, &clamp, NULL));
    SHOW(cuTexObjectCreate(&t, &of_array, NULL, NULL));
    none.resType = 9;
    SHOW(cuTexObjectCreate(&t, &none, &clamp, NULL));
    of_array.flags = 1;
    SHOW(cuTexObjectCreate(&t, &of_array, &clamp, NULL));
    of_array.flags = 0;
    of_array.res.array.hArray = NULL;
    SHOW(cuTexObjectCreate(&t, &of_array, &clamp, NULL));
    of_pitch.res.pitch2D.devPtr = linear + 4;
    SHOW(cuTexObjectCreate(&t, &of_pitch, &clamp, NULL));
    of_pitch.res.pitch2D.devPtr = linear;
    of_pitch.res.pitch2D.pitchInBytes = 65;
    SHOW(cuTexObjectCreate(&t, &of_pitch, &clamp, NULL));
    clamp.addressMode[0] = 77;
    of_array.res.array.hArray = array;
    SHOW(cuTexObjectCreate(&t, &of_array, &clamp, NULL));
}

static void surfaces(void) {
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_ARRAY}, back;
    CUDA_RESOURCE_DESC of_linear = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = array,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = out,
                       .dstPitch = SIDE * 4,
                       .WidthInBytes = SIDE * 4,
                       .Height = SIDE};
    CUsurfObject s = 0;
    void *params[] = {&s};

    printf("-- surface objects\n");
    d.res.array.hArray = array;
    SHOW(cuSurfObjectCreate(&s, &d));
    CK(cuLaunchKernel(function(m, "paint"), 1, 1, 1, SIDE, SIDE, 1, 0, NULL, params, NULL));
    CK(cuMemcpy2D(&c));
    print_some("painted");
    SHOW(cuSurfObjectGetResourceDesc(&back, s));
    printf("  %s array\n", back.res.array.hArray == array ? "our" : "SOME OTHER");
    SHOW(cuSurfObjectDestroy(s));
    SHOW(cuSurfObjectCreate(NULL, &d));
    SHOW(cuSurfObjectCreate(&s, NULL));
    of_linear.res.linear.devPtr = linear;
    of_linear.res.linear.format = CU_AD_FORMAT_FLOAT;
    of_linear.res.linear.numChannels = 1;
    of_linear.res.linear.sizeInBytes = 1024;
    SHOW(cuSurfObjectCreate(&s, &of_linear));
}

static void references(void) {
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = SIDE, .Height = SIDE, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    float color[4] = {1, 2, 3, 4}, low = 0, high = 0;
    void *params[] = {&out};
    CUaddress_mode mode = 9;
    CUfilter_mode filter = 9;
    CUarray_format format = 0;
    CUdeviceptr address = 0;
    unsigned int flags = 9;
    size_t offset = 9;
    CUsurfref surface;
    int number = 0;
    CUtexref ref;
    CUarray a = NULL;

    printf("-- texture references\n");
    fill_array();
    SHOW(cuModuleGetTexRef(&ref, m, "no_such"));
    SHOW(cuModuleGetSurfRef(&surface, m, "no_such"));
    SHOW(cuModuleGetTexRef(NULL, m, "tex_ref"));
    CK(cuModuleGetTexRef(&ref, m, "tex_ref"));
    SHOW(cuTexRefSetArray(ref, array, CU_TRSA_OVERRIDE_FORMAT));
    SHOW(cuTexRefGetArray(&a, ref));
    printf("  %s array\n", a == array ? "our" : "SOME OTHER");
    SHOW(cuTexRefSetAddressMode(ref, 0, CU_TR_ADDRESS_MODE_CLAMP));
    SHOW(cuTexRefSetAddressMode(ref, 1, CU_TR_ADDRESS_MODE_CLAMP));
    SHOW(cuTexRefGetAddressMode(&mode, ref, 1));
    printf("  %d\n", mode);
    SHOW(cuTexRefSetFilterMode(ref, CU_TR_FILTER_MODE_POINT));
    SHOW(cuTexRefGetFilterMode(&filter, ref));
    printf("  %d\n", filter);
    SHOW(cuTexRefGetFormat(&format, &number, ref));
    printf("  %d, %d\n", format, number);
    SHOW(cuTexRefGetFlags(&flags, ref));
    printf("  %u\n", flags);
    CK(cuLaunchKernel(function(m, "by_ref"), 1, 1, 1, SIDE, SIDE, 1, 0, NULL, params, NULL));
    print_some("by reference");
    SHOW(cuTexRefSetAddress2D(ref, &desc, linear, pitch));
    SHOW(cuTexRefGetAddress(&address, ref));
    printf("  %s\n", address == linear ? "our memory" : "SOME OTHER");
    CK(cuLaunchKernel(function(m, "by_ref"), 1, 1, 1, SIDE, SIDE, 1, 0, NULL, params, NULL));
    print_some("memory by reference");
    SHOW(cuTexRefSetMipmapFilterMode(ref, CU_TR_FILTER_MODE_LINEAR));
    SHOW(cuTexRefGetMipmapFilterMode(&filter, ref));
    printf("  %d\n", filter);
    SHOW(cuTexRefSetMipmapLevelBias(ref, 0.25f));
    SHOW(cuTexRefGetMipmapLevelBias(&low, ref));
    printf("  %g\n", (double)low);
    SHOW(cuTexRefSetMipmapLevelClamp(ref, 1.5f, 2.5f));
    SHOW(cuTexRefGetMipmapLevelClamp(&low, &high, ref));
    printf("  %g %g\n", (double)low, (double)high);
    SHOW(cuTexRefSetMaxAnisotropy(ref, 4));
    SHOW(cuTexRefGetMaxAnisotropy(&number, ref));
    printf("  %d\n", number);
    SHOW(cuTexRefSetBorderColor(ref, color));
    memset(color, 0, sizeof(color));
    SHOW(cuTexRefGetBorderColor(color, ref));
    printf("  %g %g %g %g\n", (double)color[0], (double)color[1], (double)color[2],
           (double)color[3]);
    SHOW(cuTexRefSetFlags(ref, CU_TRSF_NORMALIZED_COORDINATES));
    SHOW(cuTexRefGetFlags(&flags, ref));
    printf("  %u\n", flags);
    SHOW(cuTexRefSetFormat(ref, CU_AD_FORMAT_FLOAT, 1));
    SHOW(cuTexRefSetAddress(&offset, ref, linear, 1024));
    printf("  %zu\n", offset);
    SHOW(cuTexRefSetArray(ref, NULL, CU_TRSA_OVERRIDE_FORMAT));
    SHOW(cuTexRefGetArray(NULL, ref));
    SHOW(cuTexRefGetArray(&a, ref));
    SHOW(cuTexRefGetMipmapLevelBias(NULL, ref));
    SHOW(cuTexRefCreate(NULL));
    CK(cuTexRefCreate(&ref));
    SHOW(cuTexRefGetAddress(&address, ref));
    SHOW(cuTexRefGetFlags(&flags, ref));
    SHOW(cuTexRefDestroy(ref));
}

int main(void) {
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = SIDE,
                                    .Height = SIDE,
                                    .Format = CU_AD_FORMAT_FLOAT,
                                    .NumChannels = 1,
                                    .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    size_t most = 0;

    start();
    m = module(text);
    CK(cuArray3DCreate(&array, &desc));
    CK(cuMemAlloc(&out, SIDE * SIDE * 4));
    CK(cuMemAllocPitch(&linear, &pitch, SIDE * 4, SIDE, 4));
    fill_array();
    objects();
    surfaces();
    references();
    SHOW(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 1, 0));
    printf("  %zu\n", most);
    SHOW(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 3, 0));
    SHOW(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 1, 99));
    SHOW(cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, 0));
    return 0;
}
