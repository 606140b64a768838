// SPDX-License-Identifier: Apache-2.0
/* The first program of every course, over several sizes. */
#include "common.cuh"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = a[i] + b[i];
}

static void run(int n) {
    std::vector<float> a(n), b(n), c(n);
    uint32_t seed = n;

    for (int i = 0; i < n; i++) {
        a[i] = (float)(next_random(&seed) % 1000) / 8;
        b[i] = (float)(next_random(&seed) % 1000) / 8;
    }
    float *da = on_device(a), *db = on_device(b), *dc = on_device(c);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    c = from_device(dc, n);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    printf("n %d wrong %d\n", n, wrong);
    show_digest("sum", c);
    CK(cudaFree(da));
    CK(cudaFree(db));
    CK(cudaFree(dc));
}

int main() {
    for (int n : {1, 255, 256, 257, 50000, 1 << 20})
        run(n);
    return 0;
}
