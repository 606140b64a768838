// SPDX-License-Identifier: Apache-2.0
/* Texture objects: linear, pitched, 2D arrays; filters, borders, what they say of themselves. */
#include "common.cuh"

#define W 64
#define H 32

__global__ void linear(cudaTextureObject_t t, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = tex1Dfetch<float>(t, i);
}

__global__ void plane(cudaTextureObject_t t, float *out, float offset, float scale) {
    int x = threadIdx.x, y = blockIdx.x;

    out[y * W + x] = tex2D<float>(t, (x + offset) * scale, (y + offset) * scale);
}

static cudaTextureObject_t texture(const cudaResourceDesc &from, cudaTextureAddressMode address,
                                   cudaTextureFilterMode filter, bool normalized) {
    cudaTextureDesc how = {};
    cudaTextureObject_t t = 0;

    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = address;
    how.filterMode = filter;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = normalized;
    SHOW(cudaCreateTextureObject(&t, &from, &how, nullptr));
    return t;
}

static void use(const char *what, cudaTextureObject_t t, float *out, float offset, float scale) {
    plane<<<H, W>>>(t, out, offset, scale);
    SHOW(cudaDeviceSynchronize());
    std::vector<float> v = from_device(out, W * H);
    show_digest(what, v);
    printf("%s: %.6f %.6f %.6f\n", what, v[0], v[W + 1], v[W * H - 1]);
    CK(cudaDestroyTextureObject(t));
}

int main() {
    std::vector<float> v(W * H);
    float *out, *pitched;
    size_t pitch;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), got;
    cudaResourceDesc from = {}, back;
    cudaTextureDesc how;
    cudaExtent extent;
    unsigned flags;

    for (int i = 0; i < W * H; i++)
        v[i] = (float)(i * 7 % 101);
    CK(cudaMalloc(&out, W * H * sizeof(float)));
    float *flat = on_device(v);
    from.resType = cudaResourceTypeLinear;
    from.res.linear.devPtr = flat;
    from.res.linear.desc = format;
    from.res.linear.sizeInBytes = W * H * sizeof(float);
    cudaTextureObject_t t = texture(from, cudaAddressModeClamp, cudaFilterModePoint, false);
    linear<<<H, W>>>(t, out, W * H);
    show_digest("linear", from_device(out, W * H));
    SHOW(cudaGetTextureObjectResourceDesc(&back, t));
    printf("type %d size %zu\n", back.resType, back.res.linear.sizeInBytes);
    CK(cudaDestroyTextureObject(t));

    CK(cudaMallocPitch(&pitched, &pitch, W * sizeof(float), H));
    CK(cudaMemcpy2D(pitched, pitch, v.data(), W * sizeof(float), W * sizeof(float), H,
                    cudaMemcpyHostToDevice));
    from = {};
    from.resType = cudaResourceTypePitch2D;
    from.res.pitch2D.devPtr = pitched;
    from.res.pitch2D.desc = format;
    from.res.pitch2D.width = W;
    from.res.pitch2D.height = H;
    from.res.pitch2D.pitchInBytes = pitch;
    use("pitched", texture(from, cudaAddressModeClamp, cudaFilterModePoint, false), out, 0.5f, 1);

    SHOW(cudaMallocArray(&array, &format, W, H));
    SHOW(cudaMemcpy2DToArray(array, 0, 0, v.data(), W * sizeof(float), W * sizeof(float), H,
                             cudaMemcpyHostToDevice));
    SHOW(cudaArrayGetInfo(&got, &extent, &flags, array));
    printf("array %zu %zu %zu flags %u bits %d kind %d\n", extent.width, extent.height,
           extent.depth, flags, got.x, got.f);
    from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    use("point", texture(from, cudaAddressModeClamp, cudaFilterModePoint, false), out, 0.5f, 1);
    use("filtered", texture(from, cudaAddressModeClamp, cudaFilterModeLinear, false), out, 0.75f,
        1);
    use("border", texture(from, cudaAddressModeBorder, cudaFilterModePoint, false), out, 20.5f, 1);
    use("wrap", texture(from, cudaAddressModeWrap, cudaFilterModePoint, true), out, 20.5f,
        1.0f / 32);
    use("mirror", texture(from, cudaAddressModeMirror, cudaFilterModeLinear, true), out, 20.5f,
        1.0f / 32);
    t = texture(from, cudaAddressModeClamp, cudaFilterModeLinear, true);
    SHOW(cudaGetTextureObjectTextureDesc(&how, t));
    printf("filter %d normalized %d\n", how.filterMode, how.normalizedCoords);
    SHOW(cudaDestroyTextureObject(t));
    SHOW(cudaDestroyTextureObject(0));
    SHOW(cudaCreateTextureObject(nullptr, &from, &how, nullptr));
    SHOW(cudaCreateTextureObject(&t, nullptr, &how, nullptr));
    from.resType = (cudaResourceType)9;
    SHOW(cudaCreateTextureObject(&t, &from, &how, nullptr));
    SHOW(cudaMallocArray(&array, &format, 1 << 20, 1 << 20));
    SHOW(cudaFreeArray(from.res.array.array));
    SHOW(cudaFreeArray(nullptr));
    return 0;
}
