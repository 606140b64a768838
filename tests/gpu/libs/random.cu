// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcurand */
/* cuRAND: each generator of the host interface; generators in kernels. */
#include "common.cuh"

#include <curand.h>
#include <curand_kernel.h>

#define RAND(call) printf("%s = %d\n", #call, (int)(call))

__global__ void numbers(float *uniform, float *normal, unsigned *poisson) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t a;
    curandState b;

    curand_init(7, i, 0, &a);
    curand_init(9, i, 0, &b);
    uniform[i] = curand_uniform(&a);
    normal[i] = curand_normal(&b);
    poisson[i] = curand_poisson(&a, 4.0);
}

int main() {
    const int n = 4096;
    float *f, *g;
    unsigned *u;
    double *d;
    curandGenerator_t r;

    CK(cudaMalloc(&f, n * sizeof(float)));
    CK(cudaMalloc(&g, n * sizeof(float)));
    CK(cudaMalloc(&u, n * sizeof(unsigned)));
    CK(cudaMalloc(&d, n * sizeof(double)));
    for (curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                 CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
        printf("generator %d\n", type);
        RAND(curandCreateGenerator(&r, type));
        RAND(curandSetPseudoRandomGeneratorSeed(r, 1234));
        RAND(curandGenerate(r, u, n));
        show_digest("bits", from_device(u, n));
        RAND(curandGenerateUniform(r, f, n));
        show_digest("uniform", from_device(f, n));
        RAND(curandGenerateNormalDouble(r, d, n, 1, 2));
        show_digest("normal", from_device(d, n));
        printf("%.17g\n", from_device(d, n)[n - 1]);
        RAND(curandDestroyGenerator(r));
    }
    RAND(curandCreateGenerator(&r, CURAND_RNG_QUASI_SOBOL32));
    RAND(curandSetQuasiRandomGeneratorDimensions(r, 4));
    RAND(curandGenerateUniform(r, f, n));
    show_digest("quasi", from_device(f, n));
    RAND(curandSetPseudoRandomGeneratorSeed(r, 5));
    RAND(curandDestroyGenerator(r));
    RAND(curandCreateGenerator(&r, (curandRngType_t)9999));
    numbers<<<n / 128, 128>>>(f, g, u);
    SHOW(cudaDeviceSynchronize());
    show_digest("uniform", from_device(f, n));
    show_digest("normal", from_device(g, n));
    show_digest("poisson", from_device(u, n));
    return 0;
}
