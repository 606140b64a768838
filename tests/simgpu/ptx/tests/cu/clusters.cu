// SPDX-License-Identifier: Apache-2.0
/* arch: sm_90 */
/* Clusters: places in them, each other's shared memory by both sorts of addresses, waiting. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned map_shared(unsigned address, unsigned rank) {
    unsigned there;

    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

/* Where each block is: rank, size, places and numbers of clusters. */
extern "C" __global__ void places(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    dim3 place = cluster.block_index(), size = cluster.dim_blocks();
    unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    unsigned id, clusters, is_explicit;

    asm("mov.u32 %0, %%clusterid.y;" : "=r"(id));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_explicit));
    if (threadIdx.x)
        return;
    out[block * 8 + 0] = cluster.block_rank();
    out[block * 8 + 1] = cluster.num_blocks();
    out[block * 8 + 2] = place.x;
    out[block * 8 + 3] = place.y;
    out[block * 8 + 4] = size.x * 10 + size.y;
    out[block * 8 + 5] = id;
    out[block * 8 + 6] = clusters;
    out[block * 8 + 7] = is_explicit;
}

/* Rounds of passing a number on to the next block, into its shared memory. */
extern "C" __global__ void ring(int *out, int rounds) {
    __shared__ int box[2];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    int *theirs = cluster.map_shared_rank(box, next);
    unsigned address = map_shared((unsigned)__cvta_generic_to_shared(&box[1]), next);

    box[0] = blockIdx.x;
    box[1] = 0;
    for (int i = 0; i < rounds; i++) {
        int mine = box[0];
        cluster.sync();
        if (!threadIdx.x)
            theirs[0] = mine;
        asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(address) : "memory");
        cluster.sync();
    }
    if (!threadIdx.x) {
        out[blockIdx.x * 3] = box[0];
        out[blockIdx.x * 3 + 1] = box[1];
        out[blockIdx.x * 3 + 2] = cluster.query_shared_rank(theirs);
    }
}

/* Only some of the threads are there for the second barrier. */
extern "C" __global__ void leaving(int *out) {
    __shared__ int count;
    cg::cluster_group cluster = cg::this_cluster();

    if (!threadIdx.x)
        count = 0;
    cluster.sync();
    if (threadIdx.x % 3 == 1)
        return;
    atomicAdd(cluster.map_shared_rank(&count, 0), 1);
    cluster.sync();
    if (!threadIdx.x && !cluster.block_rank())
        out[blockIdx.x] = count;
    cluster.sync();
}

/* Beyond another block's shared memory. */
extern "C" __global__ void beyond(int *out) {
    __shared__ int box[4];
    cg::cluster_group cluster = cg::this_cluster();

    box[0] = 0;
    cluster.sync();
    *out = cluster.map_shared_rank(box, 1)[1 << 20];
    cluster.sync();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(int *out) {
    out[blockIdx.x] = cg::this_cluster().block_rank();
}
