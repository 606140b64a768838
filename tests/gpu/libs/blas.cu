// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcublas -lcublasLt */
/* cuBLAS in single, double and mixed precision; cublasLt with bf16; batches; wrong sizes. */
#include "common.cuh"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>

#define BLAS(call) printf("%s = %d\n", #call, (int)(call))

static std::vector<float> numbers(int n, uint32_t seed) {
    std::vector<float> v(n);

    for (float &x : v)
        x = (float)(next_random(&seed) % 2000) / 512 - 2;
    return v;
}

template <typename T> static std::vector<T> as(const std::vector<float> &v) {
    std::vector<T> r;

    for (float x : v)
        r.push_back((T)x);
    return r;
}

static void lt(cudaStream_t s) {
    const int m = 128, n = 64, k = 96;
    cublasLtHandle_t h;
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t p;
    cublasLtMatmulHeuristicResult_t best;
    size_t workspace = 4 << 20;
    void *space;
    float one = 1, zero = 0;
    int found = 0;
    __nv_bfloat16 *a = on_device(as<__nv_bfloat16>(numbers(m * k, 1)));
    __nv_bfloat16 *b = on_device(as<__nv_bfloat16>(numbers(k * n, 2)));
    __nv_bfloat16 *c = on_device(as<__nv_bfloat16>(numbers(m * n, 3)));

    CK(cudaMalloc(&space, workspace));
    BLAS(cublasLtCreate(&h));
    BLAS(cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatrixLayoutCreate(&la, CUDA_R_16BF, m, k, m));
    BLAS(cublasLtMatrixLayoutCreate(&lb, CUDA_R_16BF, k, n, k));
    BLAS(cublasLtMatrixLayoutCreate(&lc, CUDA_R_16BF, m, n, m));
    BLAS(cublasLtMatmulPreferenceCreate(&p));
    BLAS(cublasLtMatmulPreferenceSetAttribute(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace, sizeof(workspace)));
    BLAS(cublasLtMatmulAlgoGetHeuristic(h, d, la, lb, lc, lc, p, 1, &best, &found));
    printf("found %d\n", found);
    BLAS(cublasLtMatmul(h, d, &one, a, la, b, lb, &zero, c, lc, c, lc, &best.algo, space, workspace,
                        s));
    SHOW(cudaStreamSynchronize(s));
    std::vector<__nv_bfloat16> out = from_device(c, m * n);
    show_digest("bf16", out);
    printf("first %.9g last %.9g\n", (float)out[0], (float)out[m * n - 1]);
    BLAS(cublasLtDestroy(h));
}

int main() {
    const int n = 200;
    cublasHandle_t h;
    cudaStream_t s;
    std::vector<float> va = numbers(n * n, 5), vb = numbers(n * n, 6), vc(n * n, 0);
    float *a = on_device(va), *b = on_device(vb), *c = on_device(vc), one = 1, half = 0.5f, f = 0;
    double *da = on_device(as<double>(va)), *db = on_device(as<double>(vb)),
           *dc = on_device(as<double>(vc)), one_d = 1, zero_d = 0, r = 0;
    int version, index;

    CK(cudaStreamCreate(&s));
    BLAS(cublasCreate(&h));
    BLAS(cublasGetVersion(h, &version));
    BLAS(cublasSetStream(h, s));
    BLAS(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, n, b, n, &half, c, n));
    SHOW(cudaStreamSynchronize(s));
    std::vector<float> out = from_device(c, n * n);
    show_digest("sgemm", out);
    printf("first %.9g last %.9g\n", out[0], out[n * n - 1]);
    BLAS(cublasDgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one_d, da, n, db, n, &zero_d, dc, n));
    SHOW(cudaStreamSynchronize(s));
    std::vector<double> wide = from_device(dc, n * n);
    show_digest("dgemm", wide);
    printf("first %.17g last %.17g\n", wide[0], wide[n * n - 1]);
    BLAS(cublasSgemv(h, CUBLAS_OP_N, n, n, &one, a, n, b, 1, &half, c, 1));
    BLAS(cublasSdot(h, n, a, 1, b, 1, &f));
    printf("dot %.9g\n", f);
    BLAS(cublasDnrm2(h, n, da, 1, &r));
    printf("norm %.17g\n", r);
    BLAS(cublasIsamax(h, n, a, 1, &index));
    printf("largest %d\n", index);
    BLAS(cublasSaxpy(h, n, &half, a, 1, c, 1));
    BLAS(cublasSscal(h, n, &half, c, 1));
    show_digest("vectors", from_device(c, n));
    BLAS(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 10, 10, 10, &one, a, 10, 100, b, 10,
                                   100, &half, c, 10, 100, 20));
    SHOW(cudaStreamSynchronize(s));
    show_digest("batches", from_device(c, 2000));
    BLAS(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 20,
                     20, &one, a, n, c, n));
    SHOW(cudaStreamSynchronize(s));
    BLAS(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH));
    BLAS(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &half, c, n));
    SHOW(cudaStreamSynchronize(s));
    BLAS(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, -1, n, n, &one, a, n, b, n, &half, c, n));
    BLAS(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, 1, b, n, &half, c, n));
    lt(s);
    BLAS(cublasDestroy(h));
    SHOW(cudaGetLastError());
    return 0;
}
