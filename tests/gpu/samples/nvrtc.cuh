/* SPDX-License-Identifier: Apache-2.0 */
/* A text for NVRTC, and what is done with what becomes of it. */
#ifndef VCUDA_SAMPLES_NVRTC_CUH
#define VCUDA_SAMPLES_NVRTC_CUH

#include "common.cuh"

#include <nvrtc.h>
#include <string>

static const char text[] =
    "template <typename T> __global__ void fma(T *v, T a, T b) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    v[i] = v[i] * a + b;\n"
    "}\n"
    "extern \"C\" __device__ int variable = 5;\n"
    "extern \"C\" __global__ void plain(int *v) { v[threadIdx.x] += variable; }\n";

#define NV(call) printf("%s = %s\n", #call, nvrtcGetErrorString(call))

static void run(const char *what, const std::string &image, const std::string &lowered) {
    cudaLibrary_t library, none;
    cudaKernel_t kernel;
    std::vector<float> v(256, 2.0f);
    std::vector<int> w(32, 1);
    float *d = on_device(v), a = 3, b = 0.5f;
    int *e = on_device(w);
    void *args[] = {&d, &a, &b}, *args2[] = {&e}, *variable;
    unsigned count = 0;
    size_t bytes = 0;

    printf("%s\n", what);
    SHOW(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaLibraryGetKernelCount(&count, library));
    printf("kernels %u\n", count);
    SHOW(cudaLibraryGetKernel(&kernel, library, lowered.c_str()));
    SHOW(cudaLaunchKernel((void *)kernel, 2, 128, args, 0, nullptr));
    SHOW(cudaDeviceSynchronize());
    printf("value %.2f\n", from_device(d, 256)[255]);
    SHOW(cudaLibraryGetKernel(&kernel, library, "plain"));
    SHOW(cudaLaunchKernel((void *)kernel, 1, 32, args2, 0, nullptr));
    printf("value %d\n", from_device(e, 32)[31]);
    SHOW(cudaLibraryGetGlobal(&variable, &bytes, library, "variable"));
    printf("variable of %zu bytes: %d\n", bytes, from_device((int *)variable, 1)[0]);
    SHOW(cudaLibraryGetGlobal(&variable, &bytes, library, "nothing"));
    SHOW(cudaLibraryGetKernel(&kernel, library, "nothing"));
    SHOW(cudaLibraryUnload(library));
    SHOW(cudaLibraryLoadData(&none, "not an image", nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaGetLastError());
}

/* Compiles the text; the name of its template's instance. */
static const char *compile(nvrtcProgram *p) {
    const char *options[] = {"--gpu-architecture=sm_90", "-default-device"};
    const char *lowered;

    NV(nvrtcCreateProgram(p, text, "text.cu", 0, nullptr, nullptr));
    NV(nvrtcAddNameExpression(*p, "fma<float>"));
    NV(nvrtcCompileProgram(*p, 2, options));
    NV(nvrtcGetLoweredName(*p, "fma<float>", &lowered));
    printf("name %s\n", lowered);
    return lowered;
}

#endif
