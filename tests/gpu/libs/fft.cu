// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcufft */
/* cuFFT: complex, real, double, 2D, batches, in place, wrong plans. */
#include "common.cuh"

#include <cufft.h>

#define FFT(call) printf("%s = %d\n", #call, (int)(call))

int main() {
    const int n = 1000, rows = 30, columns = 77;
    std::vector<cufftComplex> v(n * 4);
    std::vector<float> r(rows * columns);
    std::vector<cufftDoubleComplex> d(256);
    cufftHandle plan;
    cudaStream_t s;
    size_t size = 0;
    uint32_t seed = 11;

    for (auto &x : v)
        x = make_float2((float)(next_random(&seed) % 100), (float)(next_random(&seed) % 100));
    for (auto &x : r)
        x = (float)(next_random(&seed) % 100);
    for (auto &x : d)
        x = make_double2(next_random(&seed) % 100, 0);
    CK(cudaStreamCreate(&s));
    cufftComplex *a = on_device(v);
    FFT(cufftPlan1d(&plan, n, CUFFT_C2C, 4));
    FFT(cufftSetStream(plan, s));
    FFT(cufftGetSize(plan, &size));
    FFT(cufftExecC2C(plan, a, a, CUFFT_FORWARD));
    SHOW(cudaStreamSynchronize(s));
    std::vector<cufftComplex> out = from_device(a, v.size());
    show_digest("forward", out);
    printf("%.9g %.9g\n", out[1].x, out[1].y);
    FFT(cufftExecC2C(plan, a, a, CUFFT_INVERSE));
    SHOW(cudaStreamSynchronize(s));
    show_digest("back", from_device(a, v.size()));
    FFT(cufftDestroy(plan));
    float *in = on_device(r);
    cufftComplex *spectrum;
    CK(cudaMalloc(&spectrum, rows * (columns / 2 + 1) * sizeof(cufftComplex)));
    FFT(cufftPlan2d(&plan, rows, columns, CUFFT_R2C));
    FFT(cufftExecR2C(plan, in, spectrum));
    SHOW(cudaDeviceSynchronize());
    show_digest("2D", from_device(spectrum, rows * (columns / 2 + 1)));
    FFT(cufftDestroy(plan));
    cufftDoubleComplex *w = on_device(d);
    FFT(cufftPlan1d(&plan, 256, CUFFT_Z2Z, 1));
    FFT(cufftExecZ2Z(plan, w, w, CUFFT_FORWARD));
    SHOW(cudaDeviceSynchronize());
    printf("%.17g %.17g\n", from_device(w, 256)[3].x, from_device(w, 256)[3].y);
    FFT(cufftDestroy(plan));
    FFT(cufftPlan1d(&plan, -5, CUFFT_C2C, 1));
    FFT(cufftPlan1d(&plan, 16, (cufftType)0x99, 1));
    FFT(cufftExecC2C(plan, a, a, CUFFT_FORWARD));
    return 0;
}
