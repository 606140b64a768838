// SPDX-License-Identifier: Apache-2.0
/* simgpu: no machine code */
/* nvcc: -lnvrtc */
/* A kernel from text: NVRTC to machine code, launched through libraries. */
#include "nvrtc.cuh"

int main() {
    nvrtcProgram p;
    const char *lowered = compile(&p);
    std::string cubin;
    size_t size;

    NV(nvrtcGetCUBINSize(p, &size));
    cubin.resize(size);
    NV(nvrtcGetCUBIN(p, &cubin[0]));
    run("machine code", cubin, lowered);
    NV(nvrtcDestroyProgram(&p));
    return 0;
}
