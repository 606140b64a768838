// SPDX-License-Identifier: Apache-2.0
/* A transposition through padded shared memory, at several shapes. */
#include "common.cuh"

__global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

static void run(int width, int height) {
    std::vector<float> in(width * height), out(width * height);
    int wrong = 0;

    for (int i = 0; i < width * height; i++)
        in[i] = (float)i;
    float *a = on_device(in), *b = on_device(out);
    transpose<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 8)>>>(a, b, width, height);
    SHOW(cudaDeviceSynchronize());
    out = from_device(b, width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wrong += out[x * height + y] != in[y * width + x];
    printf("%d x %d wrong %d\n", width, height, wrong);
    show_digest("transposed", out);
    CK(cudaFree(a));
    CK(cudaFree(b));
}

int main() {
    run(32, 32);
    run(1024, 1024);
    run(1000, 37);
    run(1, 513);
    return 0;
}
