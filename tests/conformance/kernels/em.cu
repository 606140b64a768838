// SPDX-License-Identifier: Apache-2.0
#define MAX_CLUSTERS 16

/*
 * One EM step of a one-dimensional Gaussian mixture. sums holds, for each cluster, the sums of
 * responsibility, of responsibility * x and of responsibility * x * x; likelihood their log sum.
 */
extern "C" __global__ void em_expect(const float *x, int n, int clusters, const float *weight,
                                     const float *mean, const float *variance, float *sums,
                                     float *likelihood)
{
    __shared__ float local[3 * MAX_CLUSTERS + 1];
    float p[MAX_CLUSTERS];

    for (int i = threadIdx.x; i < 3 * clusters + 1; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float total = 0;

        for (int k = 0; k < clusters; k++) {
            float d = x[i] - mean[k];

            p[k] = weight[k] * expf(-0.5f * d * d / variance[k]) * rsqrtf(6.2831853f * variance[k]);
            total += p[k];
        }
        for (int k = 0; k < clusters; k++) {
            float r = p[k] / total;

            atomicAdd(&local[3 * k], r);
            atomicAdd(&local[3 * k + 1], r * x[i]);
            atomicAdd(&local[3 * k + 2], r * x[i] * x[i]);
        }
        atomicAdd(&local[3 * clusters], logf(total));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * clusters; i += blockDim.x)
        atomicAdd(&sums[i], local[i]);
    if (threadIdx.x == 0)
        atomicAdd(likelihood, local[3 * clusters]);
}

extern "C" __global__ void em_maximise(int n, int clusters, const float *sums, float *weight,
                                       float *mean, float *variance)
{
    int k = threadIdx.x;

    if (k < clusters) {
        float r = sums[3 * k];

        weight[k] = r / n;
        mean[k] = sums[3 * k + 1] / r;
        variance[k] = sums[3 * k + 2] / r - mean[k] * mean[k];
    }
}
