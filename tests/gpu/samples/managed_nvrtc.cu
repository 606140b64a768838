// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lnvrtc -lcuda */
/* Managed variables of a text: NVRTC compiles it, the driver interface loads it, both sides use them. */
#include "common.cuh"

#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char text[] =
    "struct node { int value; node *next; };\n"
    "extern \"C\" __device__ __managed__ int total = 3;\n"
    "extern \"C\" __device__ __managed__ node *list;\n"
    "extern \"C\" __device__ __managed__ double squares[64];\n"
    "extern \"C\" __global__ void walk() {\n"
    "    for (node *n = list; n; n = n->next) {\n"
    "        total += n->value;\n"
    "        n->value = -n->value;\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void square() {\n"
    "    squares[threadIdx.x] *= squares[threadIdx.x];\n"
    "}\n";

struct node {
    int value;
    node *next;
};

#define NV(call) printf("%s = %s\n", #call, nvrtcGetErrorString(call))
#define DRV(call) printf("%s = %d\n", #call, (int)(call))

template <typename T> static T *variable(CUmodule m, const char *name) {
    CUdeviceptr p = 0;
    size_t bytes = 0;
    CUresult r = cuModuleGetGlobal(&p, &bytes, m, name);

    printf("%s: %d, %zu bytes\n", name, (int)r, bytes);
    return (T *)p;
}

static void launch(CUmodule m, const char *name, unsigned threads) {
    CUfunction f;

    DRV(cuModuleGetFunction(&f, m, name));
    DRV(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, nullptr, nullptr, nullptr));
    DRV(cuCtxSynchronize());
}

static void run(const char *what, const std::string &image) {
    cudaPointerAttributes a;
    double sum = 0;
    node *nodes;
    CUmodule m;
    CUresult r = cuModuleLoadData(&m, image.data());

    printf("%s: %d\n", what, (int)r);
    if (r != CUDA_SUCCESS)
        return;
    int *total = variable<int>(m, "total");
    node **list = variable<node *>(m, "list");
    double *squares = variable<double>(m, "squares");

    printf("total %d, list %s\n", *total, *list ? "something" : "empty");
    SHOW(cudaPointerGetAttributes(&a, squares));
    printf("managed %d\n", a.type == cudaMemoryTypeManaged);
    SHOW(cudaMallocHost(&nodes, 5 * sizeof(*nodes)));
    for (int i = 0; i < 5; i++)
        nodes[i] = {i + 1, i < 4 ? &nodes[i + 1] : nullptr};
    *list = nodes;
    for (int i = 0; i < 64; i++)
        squares[i] = i;
    launch(m, "walk", 1);
    launch(m, "square", 64);
    for (int i = 0; i < 64; i++)
        sum += squares[i];
    printf("total %d, last %d, sum %.1f\n", *total, nodes[4].value, sum);
    SHOW(cudaFreeHost(nodes));
    DRV(cuModuleUnload(m));
}

int main() {
    const char *options[] = {"--gpu-architecture=sm_90"};
    std::string ptx, cubin;
    nvrtcProgram p;
    size_t size;

    CK(cudaFree(nullptr));
    NV(nvrtcCreateProgram(&p, text, "text.cu", 0, nullptr, nullptr));
    NV(nvrtcCompileProgram(p, 1, options));
    NV(nvrtcGetPTXSize(p, &size));
    ptx.resize(size);
    NV(nvrtcGetPTX(p, &ptx[0]));
    NV(nvrtcGetCUBINSize(p, &size));
    cubin.resize(size);
    NV(nvrtcGetCUBIN(p, &cubin[0]));
    NV(nvrtcDestroyProgram(&p));
    run("PTX", ptx);
    run("PTX again", ptx);
    run("machine code", cubin);
    return 0;
}
