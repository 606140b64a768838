// SPDX-License-Identifier: Apache-2.0
/* 3D, layered and mipmapped arrays, and 3D copies between all kinds of memory. */
#include "common.cuh"

#define W 20
#define H 12
#define D 6

__global__ void sample(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;

    out[(z * H + y) * W + x] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void sample_layer(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;

    out[(z * H + y) * W + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, z);
}

static cudaTextureObject_t texture(cudaArray_t a) {
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t t = 0;

    from.resType = cudaResourceTypeArray;
    from.res.array.array = a;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    SHOW(cudaCreateTextureObject(&t, &from, &how, nullptr));
    return t;
}

static void fill(cudaArray_t a, std::vector<float> &v) {
    cudaMemcpy3DParms p = {};

    p.srcPtr = make_cudaPitchedPtr(v.data(), W * sizeof(float), W, H);
    p.dstArray = a;
    p.extent = make_cudaExtent(W, H, D);
    p.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&p));
}

int main() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), got;
    cudaExtent all = make_cudaExtent(W, H, D), extent;
    cudaArray_t solid, layers, level, none;
    cudaMipmappedArray_t mips;
    std::vector<float> v(W * H * D), back(W * H * D);
    float *out;
    cudaPitchedPtr pitched;
    unsigned flags;

    for (int i = 0; i < W * H * D; i++)
        v[i] = (float)(i % 97);
    CK(cudaMalloc(&out, v.size() * sizeof(float)));
    SHOW(cudaMalloc3DArray(&solid, &format, all, 0));
    fill(solid, v);
    sample<<<dim3(H, D), W>>>(texture(solid), out);
    SHOW(cudaDeviceSynchronize());
    show_digest("solid", from_device(out, v.size()));
    SHOW(cudaMalloc3DArray(&layers, &format, all, cudaArrayLayered));
    fill(layers, v);
    sample_layer<<<dim3(H, D), W>>>(texture(layers), out);
    SHOW(cudaDeviceSynchronize());
    show_digest("layers", from_device(out, v.size()));
    SHOW(cudaArrayGetInfo(&got, &extent, &flags, layers));
    printf("layers %zu %zu %zu flags %u\n", extent.width, extent.height, extent.depth, flags);

    SHOW(cudaMallocMipmappedArray(&mips, &format, make_cudaExtent(64, 64, 0), 4));
    for (unsigned i = 0; i < 5; i++) {
        SHOW(cudaGetMipmappedArrayLevel(&level, mips, i));
        if (i < 4) {
            SHOW(cudaArrayGetInfo(&got, &extent, &flags, level));
            printf("level %u %zu %zu %zu\n", i, extent.width, extent.height, extent.depth);
        }
    }
    SHOW(cudaFreeMipmappedArray(mips));

    // Part of the solid array into pitched memory, and that to the host.
    SHOW(cudaMalloc3D(&pitched, make_cudaExtent(W * sizeof(float), H, D)));
    printf("pitched %zu x %zu\n", pitched.xsize, pitched.ysize);
    SHOW(cudaMemset3D(pitched, 0, make_cudaExtent(W * sizeof(float), H, D)));
    cudaMemcpy3DParms p = {};
    p.srcArray = solid;
    p.srcPos = make_cudaPos(2, 1, 1);
    p.dstPtr = pitched;
    p.dstPos = make_cudaPos(4 * sizeof(float), 3, 2);
    p.extent = make_cudaExtent(8, 5, 3);
    p.kind = cudaMemcpyDeviceToDevice;
    SHOW(cudaMemcpy3D(&p));
    p = {};
    p.srcPtr = pitched;
    p.dstPtr = make_cudaPitchedPtr(back.data(), W * sizeof(float), W, H);
    p.extent = make_cudaExtent(W * sizeof(float), H, D);
    p.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3DAsync(&p));
    SHOW(cudaDeviceSynchronize());
    show_digest("part", back);
    p.extent.depth = D + 9;
    p.srcArray = solid;
    SHOW(cudaMemcpy3D(&p));
    SHOW(cudaMemcpy3D(nullptr));
    SHOW(cudaMalloc3DArray(&none, &format, make_cudaExtent(1 << 20, 1 << 20, 1 << 20), 0));
    SHOW(cudaMalloc3DArray(&none, nullptr, all, 0));
    SHOW(cudaFree(pitched.ptr));
    SHOW(cudaFreeArray(solid));
    SHOW(cudaFreeArray(layers));
    return 0;
}
