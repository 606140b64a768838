// SPDX-License-Identifier: Apache-2.0
/* Textures of mipmapped arrays: levels by number, rounded and mixed, bias and limits. */
#include "common.cuh"

static const int sides[2] = {16, 8};
static const unsigned levels = 4;

__global__ void read(cudaTextureObject_t t, const float *lod, float *out, int n) {
    int i = threadIdx.x;

    if (i < n) {
        out[3 * i] = tex2DLod<float>(t, 0.3f, 0.7f, lod[i]);
        out[3 * i + 1] = tex2DLod<float>(t, 0.96875f, 0.0625f, lod[i]);
        out[3 * i + 2] = tex2D<float>(t, 0.3f, 0.7f);
    }
}

/* Level l has element (x, y) = 1000 l + 10 y + x. */
static cudaMipmappedArray_t make(void) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t mipmap;

    SHOW(
        cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(sides[0], sides[1], 0), levels));
    for (unsigned l = 0; l < levels; l++) {
        int w = sides[0] >> l, h = sides[1] >> l;
        std::vector<float> v(w * h);
        cudaArray_t a;

        for (int i = 0; i < w * h; i++)
            v[i] = 1000.0f * l + 10 * (i / w) + i % w;
        CK(cudaGetMipmappedArrayLevel(&a, mipmap, l));
        CK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    }
    return mipmap;
}

static void show(const char *what, cudaMipmappedArray_t mipmap, const cudaTextureDesc &how) {
    std::vector<float> lod = {-1, 0, 0.25f, 0.75f, 1, 1.5f, 2, 2.75f, 3, 9}, out(3 * 10);
    float *d = on_device(lod), *o = on_device(out);
    cudaTextureObject_t t = 0;
    cudaResourceDesc r = {};

    printf("%s\n", what);
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = mipmap;
    SHOW(cudaCreateTextureObject(&t, &r, &how, nullptr));
    if (cudaGetLastError() != cudaSuccess)
        return;
    read<<<1, 32>>>(t, d, o, (int)lod.size());
    SHOW(cudaDeviceSynchronize());
    out = from_device(o, out.size());
    for (size_t i = 0; i < lod.size(); i++)
        printf("%g: %g %g %g\n", lod[i], out[3 * i], out[3 * i + 1], out[3 * i + 2]);
    SHOW(cudaDestroyTextureObject(t));
}

int main() {
    cudaMipmappedArray_t mipmap = make();
    cudaTextureDesc how = {};

    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 3;
    show("points of the nearest level", mipmap, how);
    how.mipmapFilterMode = cudaFilterModeLinear;
    show("points of two levels", mipmap, how);
    how.filterMode = cudaFilterModeLinear;
    show("between points of two levels", mipmap, how);
    how.filterMode = cudaFilterModePoint;
    how.mipmapLevelBias = 0.5f;
    show("with a bias", mipmap, how);
    how.mipmapLevelBias = 0;
    how.minMipmapLevelClamp = 1;
    how.maxMipmapLevelClamp = 2;
    show("with limits", mipmap, how);
    how.normalizedCoords = 0;
    show("by elements", mipmap, how);
    SHOW(cudaFreeMipmappedArray(mipmap));
    return 0;
}
