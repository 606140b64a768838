// SPDX-License-Identifier: Apache-2.0
/* arch: sm_80 */
/* Copies into shared memory that go on by themselves: stages, parts, and by a group. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

/* Turns each stage round, of which two are under way. */
extern "C" __global__ void stages(const int4 *in, int4 *out, int n) {
    extern __shared__ int4 stage[];
    unsigned threads = blockDim.x, me = threadIdx.x;

    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&stage[i * threads + me], &in[i * threads + me], 16);
        __pipeline_commit();
    }
    for (int i = 0; i < n; i++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * threads + me] = stage[i % 2 * threads + threads - 1 - me];
        __syncthreads();
        if (i + 2 < n)
            __pipeline_memcpy_async(&stage[i % 2 * threads + me], &in[(i + 2) * threads + me], 16);
        __pipeline_commit();
    }
}

/* Of eight bytes the first few, and zeros. */
extern "C" __global__ void parts(const char *in, long long *out) {
    __shared__ long long box[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&box[threadIdx.x]);

    box[threadIdx.x] = -1;
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;\n"
                 "cp.async.wait_all;" ::"r"(to),
                 "l"(__cvta_generic_to_global(in + 8 * threadIdx.x)), "r"(threadIdx.x % 9)
                 : "memory");
    out[threadIdx.x] = box[threadIdx.x];
}

extern "C" __global__ void by_group(const int *in, int *out, int n) {
    extern __shared__ int row[];
    cg::thread_block block = cg::this_thread_block();

    cg::memcpy_async(block, row, in, sizeof(int) * n);
    cg::wait(block);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = row[n - 1 - i];
}
