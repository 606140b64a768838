// SPDX-License-Identifier: Apache-2.0
/* Copies up, a kernel and copies down, cut in pieces over streams. */
#include "common.cuh"

__global__ void work(float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        for (int k = 0; k < 16; k++)
            v[i] = v[i] * 0.5f + 1.0f;
}

static void run(const char *what, float *host, float *device, int n, int streams) {
    cudaStream_t s[8];
    int piece = n / streams;

    for (int i = 0; i < n; i++)
        host[i] = (float)(i % 1024);
    for (int i = 0; i < streams; i++)
        CK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    for (int i = 0; i < streams; i++) {
        float *h = host + i * piece, *d = device + i * piece;

        CK(cudaMemcpyAsync(d, h, piece * sizeof(float), cudaMemcpyHostToDevice, s[i]));
        work<<<(piece + 255) / 256, 256, 0, s[i]>>>(d, piece);
        CK(cudaMemcpyAsync(h, d, piece * sizeof(float), cudaMemcpyDeviceToHost, s[i]));
    }
    for (int i = 0; i < streams; i++) {
        CK(cudaStreamSynchronize(s[i]));
        CK(cudaStreamDestroy(s[i]));
    }
    printf("%s over %d streams: %016llx\n", what, streams,
           (unsigned long long)digest(host, n * sizeof(float)));
}

int main() {
    const int n = 1 << 22;
    float *pinned, *device;
    std::vector<float> pageable(n);

    CK(cudaMallocHost(&pinned, n * sizeof(float)));
    CK(cudaMalloc(&device, n * sizeof(float)));
    for (int streams : {1, 2, 4, 8}) {
        run("pinned", pinned, device, n, streams);
        run("pageable", pageable.data(), device, n, streams);
    }
    SHOW(cudaMemcpyAsync(nullptr, pinned, 16, cudaMemcpyHostToDevice, 0));
    SHOW(cudaMemcpyAsync(device, pinned, 16, (cudaMemcpyKind)9, 0));
    SHOW(cudaMemcpy(device, nullptr, 16, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, pinned, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, pageable.data(), 16, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(device, pageable.data(), 16, cudaMemcpyDefault));
    SHOW(cudaMemcpy(pageable.data(), pinned, 64, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(device + n - 2, pinned, 64, cudaMemcpyHostToDevice));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}
