// SPDX-License-Identifier: Apache-2.0
/* Pitched copies and sets, with wrong pitches and sizes. */
#include "common.cuh"

int main() {
    const size_t width = 100, height = 50;
    std::vector<unsigned char> host(width * height), back(width * height, 0xee);
    unsigned char *a, *b;
    size_t pa, pb;
    cudaStream_t s;

    for (size_t i = 0; i < host.size(); i++)
        host[i] = (unsigned char)(i * 31 + i / 100);
    CK(cudaStreamCreate(&s));
    SHOW(cudaMallocPitch(&a, &pa, width, height));
    SHOW(cudaMallocPitch(&b, &pb, 2 * width, height));
    printf("pitches %zu %zu\n", pa, pb);
    SHOW(cudaMemset2D(b, pb, 0x5a, 2 * width, height));
    SHOW(cudaMemcpy2D(a, pa, host.data(), width, width, height, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DAsync(b + 7 * pb + 3, pb, a + pa + 10, pa, 50, 30, cudaMemcpyDeviceToDevice,
                           s));
    SHOW(cudaMemset2DAsync(b + 9 * pb, pb, 0, 20, 3, s));
    SHOW(cudaMemcpy2DAsync(back.data(), width, b, pb, width, height, cudaMemcpyDeviceToHost, s));
    SHOW(cudaStreamSynchronize(s));
    show_digest("part", back);
    SHOW(cudaMemcpy2D(back.data(), width, a, pa, width, height, cudaMemcpyDefault));
    printf("equal %d\n", back == host);
    SHOW(cudaMemcpy2D(back.data(), width - 1, a, pa, width, height, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back.data(), width, a, width - 1, width, height, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back.data(), width, a, pa, 0, height, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(nullptr, width, a, pa, width, height, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2D(back.data(), width, a, pa, width, height, (cudaMemcpyKind)7));
    SHOW(cudaMallocPitch(&a, nullptr, width, height));
    SHOW(cudaMallocPitch((unsigned char **)nullptr, &pa, width, height));
    SHOW(cudaMallocPitch(&a, &pa, 0, height));
    SHOW(cudaMemset(b, 3, 0));
    SHOW(cudaMemset(nullptr, 3, 10));
    SHOW(cudaMemset(b, 0x1ff, 16));
    SHOW(cudaMemcpy(back.data(), b, 16, cudaMemcpyDeviceToHost));
    printf("set %02x\n", back[15]);
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    return 0;
}
