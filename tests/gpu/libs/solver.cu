// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcusolver -lcublas */
/* cuSOLVER: Cholesky, LU, QR, eigenvalues; a matrix that is not positive. */
#include "common.cuh"

#include <cusolverDn.h>

#define SOLVE(call) printf("%s = %d\n", #call, (int)(call))

#define N 64

static std::vector<double> positive() {
    std::vector<double> a(N * N);

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = 1.0 / (1 + abs(i - j)) + (i == j ? N : 0);
    return a;
}

int main() {
    cusolverDnHandle_t h;
    int *info, *pivots, size = 0;
    double *work, *eigen, *tau;
    std::vector<double> b(N, 1);

    CK(cudaMalloc(&info, sizeof(int)));
    CK(cudaMalloc(&pivots, N * sizeof(int)));
    CK(cudaMalloc(&work, 4 << 20));
    CK(cudaMalloc(&eigen, N * sizeof(double)));
    CK(cudaMalloc(&tau, N * sizeof(double)));
    SOLVE(cusolverDnCreate(&h));
    double *a = on_device(positive()), *x = on_device(b);
    SOLVE(cusolverDnDpotrf_bufferSize(h, CUBLAS_FILL_MODE_LOWER, N, a, N, &size));
    SOLVE(cusolverDnDpotrf(h, CUBLAS_FILL_MODE_LOWER, N, a, N, work, size, info));
    SOLVE(cusolverDnDpotrs(h, CUBLAS_FILL_MODE_LOWER, N, 1, a, N, x, N, info));
    SHOW(cudaDeviceSynchronize());
    printf("info %d, %.17g %.17g\n", from_device(info, 1)[0], from_device(x, N)[0],
           from_device(x, N)[N - 1]);
    std::vector<double> negative = positive();
    negative[5 * N + 5] = -3;
    CK(cudaMemcpy(a, negative.data(), N * N * sizeof(double), cudaMemcpyHostToDevice));
    SOLVE(cusolverDnDpotrf(h, CUBLAS_FILL_MODE_LOWER, N, a, N, work, size, info));
    printf("info %d\n", from_device(info, 1)[0]);
    CK(cudaMemcpy(a, positive().data(), N * N * sizeof(double), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(x, b.data(), N * sizeof(double), cudaMemcpyHostToDevice));
    SOLVE(cusolverDnDgetrf_bufferSize(h, N, N, a, N, &size));
    SOLVE(cusolverDnDgetrf(h, N, N, a, N, work, pivots, info));
    SOLVE(cusolverDnDgetrs(h, CUBLAS_OP_N, N, 1, a, N, pivots, x, N, info));
    SHOW(cudaDeviceSynchronize());
    printf("info %d, %.17g\n", from_device(info, 1)[0], from_device(x, N)[7]);
    CK(cudaMemcpy(a, positive().data(), N * N * sizeof(double), cudaMemcpyHostToDevice));
    SOLVE(cusolverDnDgeqrf_bufferSize(h, N, N, a, N, &size));
    SOLVE(cusolverDnDgeqrf(h, N, N, a, N, tau, work, size, info));
    SHOW(cudaDeviceSynchronize());
    printf("info %d, %.17g\n", from_device(info, 1)[0], from_device(a, N * N)[N * N - 1]);
    CK(cudaMemcpy(a, positive().data(), N * N * sizeof(double), cudaMemcpyHostToDevice));
    SOLVE(cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, N, a, N,
                                      eigen, &size));
    printf("fits %d\n", size * sizeof(double) <= 4 << 20);
    SOLVE(cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, N, a, N, eigen,
                           work, size, info));
    SHOW(cudaDeviceSynchronize());
    printf("info %d, %.17g %.17g\n", from_device(info, 1)[0], from_device(eigen, N)[0],
           from_device(eigen, N)[N - 1]);
    SOLVE(cusolverDnDpotrf_bufferSize(h, CUBLAS_FILL_MODE_LOWER, -1, a, N, &size));
    SOLVE(cusolverDnDestroy(h));
    return 0;
}
