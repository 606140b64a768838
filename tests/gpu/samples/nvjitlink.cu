// SPDX-License-Identifier: Apache-2.0
/* simgpu: no machine code */
/* nvcc: -lnvrtc -lnvJitLink */
/* Two objects from text, linked at run time; then the driver loads the result. */
#include "common.cuh"

#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>

static std::string compile(const char *text) {
    const char *options[] = {"--gpu-architecture=compute_90", "-dc"};
    nvrtcProgram p;
    size_t size = 0;
    std::string ptx;

    nvrtcCreateProgram(&p, text, "text.cu", 0, nullptr, nullptr);
    printf("compiled %d\n", nvrtcCompileProgram(p, 2, options));
    nvrtcGetPTXSize(p, &size);
    ptx.resize(size);
    nvrtcGetPTX(p, &ptx[0]);
    nvrtcDestroyProgram(&p);
    return ptx;
}

int main() {
    std::string a = compile("extern \"C\" __device__ int twice(int x) { return 2 * x; }");
    std::string b = compile("extern \"C\" __device__ int twice(int);\n"
                            "extern \"C\" __global__ void k(int *v) {"
                            " v[threadIdx.x] = twice(v[threadIdx.x]) + 1; }");
    const char *options[] = {"-arch=sm_90"};
    nvJitLinkHandle link;
    size_t size = 0;
    std::string image;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    std::vector<int> v(32, 20);
    int *d = on_device(v);
    void *args[] = {&d};

    printf("create %d\n", nvJitLinkCreate(&link, 1, options));
    printf("add %d\n", nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, a.data(), a.size(), "a"));
    printf("add %d\n", nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, b.data(), b.size(), "b"));
    printf("complete %d\n", nvJitLinkComplete(link));
    printf("size %d\n", nvJitLinkGetLinkedCubinSize(link, &size));
    image.resize(size);
    printf("get %d\n", nvJitLinkGetLinkedCubin(link, &image[0]));
    printf("destroy %d\n", nvJitLinkDestroy(&link));
    SHOW(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    SHOW(cudaLibraryGetKernel(&kernel, library, "k"));
    SHOW(cudaLaunchKernel((void *)kernel, 1, 32, args, 0, nullptr));
    SHOW(cudaDeviceSynchronize());
    printf("value %d\n", from_device(d, 32)[31]);
    SHOW(cudaLibraryUnload(library));
    return 0;
}
