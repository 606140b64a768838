// SPDX-License-Identifier: Apache-2.0
/* Cooperative groups, and a cooperative launch in which the grid synchronises. */
#include "common.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    int high = cg::reduce(tile, in[i], cg::greater<int>());

    if (!tile.thread_rank())
        out[i / 8] = sum * 1000 + high;
}

__global__ void rounds(int *v, int n, int rounds) {
    cg::grid_group grid = cg::this_grid();

    for (int r = 0; r < rounds; r++) {
        int i = grid.thread_rank(), left = v[(i + n - 1) % n];

        grid.sync();
        v[i] += left;
        grid.sync();
    }
}

int main() {
    const int n = 1024;
    std::vector<int> in(n), out(n / 8);
    int blocks = n / 128, count = 3, many = 100000, supported, resident;

    for (int i = 0; i < n; i++)
        in[i] = i * 37 % 101;
    int *a = on_device(in), *b = on_device(out);
    tiles<<<n / 256, 256>>>(a, b);
    SHOW(cudaDeviceSynchronize());
    show_digest("tiles", from_device(b, n / 8));
    SHOW(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("cooperative %d\n", supported);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, rounds, 128, 0));
    printf("resident blocks of a processor %d\n", resident);
    int length = n;
    void *args[] = {&a, &length, &count};
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, blocks, 128, args, 0, 0));
    SHOW(cudaDeviceSynchronize());
    show_digest("rounds", from_device(a, n));
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, many, 128, args, 0, 0));
    SHOW(cudaGetLastError());
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, 0, 128, args, 0, 0));
    SHOW(cudaGetLastError());
    return 0;
}
