// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lnvrtc */
/* A kernel from text: NVRTC to PTX, launched through libraries; and a text that is no program. */
#include "nvrtc.cuh"

int main() {
    nvrtcProgram p, bad;
    const char *lowered = compile(&p);
    std::string ptx;
    size_t size;

    NV(nvrtcGetPTXSize(p, &size));
    ptx.resize(size);
    NV(nvrtcGetPTX(p, &ptx[0]));
    run("PTX", ptx, lowered);
    NV(nvrtcDestroyProgram(&p));
    NV(nvrtcCreateProgram(&bad, "this is no program", "bad.cu", 0, nullptr, nullptr));
    NV(nvrtcCompileProgram(bad, 0, nullptr));
    NV(nvrtcDestroyProgram(&bad));
    return 0;
}
