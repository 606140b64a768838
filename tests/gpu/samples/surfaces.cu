// SPDX-License-Identifier: Apache-2.0
/* Surface objects: a kernel reads and writes a 2D array of short4. */
#include "common.cuh"

#define W 48
#define H 20

__global__ void swirl(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x;
    short4 v;

    surf2Dread(&v, from, x * (int)sizeof(short4), y);
    v.x += 1;
    v.w = v.y + v.z;
    surf2Dwrite(v, to, (W - 1 - x) * (int)sizeof(short4), H - 1 - y);
}

static cudaSurfaceObject_t surface(cudaArray_t a) {
    cudaResourceDesc d = {};
    cudaSurfaceObject_t s = 0;

    d.resType = cudaResourceTypeArray;
    d.res.array.array = a;
    SHOW(cudaCreateSurfaceObject(&s, &d));
    return s;
}

int main() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<short4>();
    cudaArray_t a, b, plain;
    std::vector<short4> in(W * H), out(W * H);
    cudaResourceDesc d;

    for (int i = 0; i < W * H; i++)
        in[i] = make_short4((short)i, (short)(i * 2), (short)(i * 3), 0);
    SHOW(cudaMallocArray(&a, &format, W, H, cudaArraySurfaceLoadStore));
    SHOW(cudaMallocArray(&b, &format, W, H, cudaArraySurfaceLoadStore));
    SHOW(cudaMallocArray(&plain, &format, W, H));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, in.data(), W * sizeof(short4), W * sizeof(short4), H,
                             cudaMemcpyHostToDevice));
    cudaSurfaceObject_t sa = surface(a), sb = surface(b);
    swirl<<<H, W>>>(sa, sb);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemcpy2DFromArray(out.data(), W * sizeof(short4), b, 0, 0, W * sizeof(short4), H,
                               cudaMemcpyDeviceToHost));
    show_digest("swirled", out);
    printf("corner %d %d %d %d\n", out[0].x, out[0].y, out[0].z, out[0].w);
    SHOW(cudaGetSurfaceObjectResourceDesc(&d, sa));
    printf("same array %d\n", d.res.array.array == a);
    surface(plain);
    SHOW(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, W * sizeof(short4), H,
                                  cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy2DFromArray(in.data(), W * sizeof(short4), a, 0, 0, W * sizeof(short4), H,
                               cudaMemcpyDeviceToHost));
    printf("copied %d\n", !memcmp(in.data(), out.data(), W * H * sizeof(short4)));
    SHOW(cudaDestroySurfaceObject(sa));
    SHOW(cudaDestroySurfaceObject(sb));
    SHOW(cudaFreeArray(a));
    SHOW(cudaFreeArray(b));
    return 0;
}
