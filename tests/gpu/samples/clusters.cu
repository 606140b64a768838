// SPDX-License-Identifier: Apache-2.0
/* arch: compute_90 */
/* Clusters of blocks that read each other's shared memory; launch attributes. */
#include "common.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void neighbours(int *out) {
    __shared__ int mine[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();

    mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(mine, (rank + 1) % blocks);
    out[blockIdx.x * 32 + threadIdx.x] = theirs[31 - threadIdx.x] * 10 + blocks;
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) fixed(int *out) {
    cg::cluster_group cluster = cg::this_cluster();

    if (!threadIdx.x)
        out[blockIdx.x] = cluster.block_rank() + 10 * cluster.num_blocks();
}

static cudaError_t launch(int blocks, int size, int *d) {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];

    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = size;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.gridDim = dim3(blocks);
    c.blockDim = dim3(32);
    c.attrs = a;
    c.numAttrs = 1;
    return cudaLaunchKernelEx(&c, neighbours, d);
}

int main() {
    const int blocks = 32;
    std::vector<int> v(blocks * 32, 0);
    int *d = on_device(v), n = -1;
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];

    for (int size : {1, 2, 4, 8}) {
        SHOW(launch(blocks, size, d));
        SHOW(cudaDeviceSynchronize());
        show_digest("clusters", from_device(d, v.size()));
    }
    SHOW(launch(blocks, 16, d));
    SHOW(launch(blocks, 3, d));
    SHOW(launch(blocks + 1, 2, d));
    SHOW(cudaGetLastError());
    SHOW(cudaFuncSetAttribute(neighbours, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    SHOW(launch(blocks, 16, d));
    SHOW(cudaDeviceSynchronize());
    show_digest("sixteen", from_device(d, v.size()));
    fixed<<<4, 32>>>(d);
    SHOW(cudaDeviceSynchronize());
    std::vector<int> f = from_device(d, 4);
    printf("fixed %d %d %d %d\n", f[0], f[1], f[2], f[3]);
    fixed<<<3, 32>>>(d);
    SHOW(cudaGetLastError());
    c.gridDim = dim3(blocks);
    c.blockDim = dim3(32);
    c.attrs = a;
    c.numAttrs = 1;
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = 4;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    SHOW(cudaOccupancyMaxActiveClusters(&n, neighbours, &c));
    printf("active clusters %d\n", n);
    SHOW(cudaOccupancyMaxPotentialClusterSize(&n, neighbours, &c));
    printf("largest %d\n", n);
    return 0;
}
