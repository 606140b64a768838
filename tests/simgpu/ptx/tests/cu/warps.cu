// SPDX-License-Identifier: Apache-2.0
// Lanes and threads that meet, part and wait.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void diverge(const int *in, int *out)
{
    int v = in[threadIdx.x], steps = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        if (++steps > 200)
            break;
    }
    __syncwarp();
    out[threadIdx.x] = steps + 1000 * __popc(__ballot_sync(0xffffffff, steps & 1));
}

extern "C" __global__ void lock(int *mutex, int *count)
{
    while (atomicCAS(mutex, 0, 1) != 0)
        ;
    int old = *(volatile int *)count;
    *(volatile int *)count = old + 1;
    __threadfence();
    atomicExch(mutex, 0);
}

extern "C" __global__ void tiles(int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = threadIdx.x;
    for (int d = tile.size() / 2; d; d /= 2)
        v += tile.shfl_xor(v, d);
    int sum = v;
    if (threadIdx.x % 3 == 0) {
        auto some = cg::coalesced_threads();
        sum += 1000 * some.size() + 100000 * some.thread_rank();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void group_sum(int *out)
{
    unsigned key = threadIdx.x % 5;
    unsigned mask = __match_any_sync(0xffffffff, key);
    int leader = __ffs(mask) - 1, pred;
    __match_all_sync(0xffffffff, key / 5, &pred);
    out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, leader) + 100 * __popc(mask) + 10000 * pred;
}

extern "C" __global__ void grid_sum(int *data, int *out)
{
    auto grid = cg::this_grid();
    int i = grid.thread_rank();
    data[i] = i;
    grid.sync();
    int n = grid.size();
    out[i] = data[(i + n / 2) % n];
}

extern "C" __global__ void producer(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x >= 32) { // a later warp produces, an earlier one waits
        if (threadIdx.x == 63) {
            *data = 77;
            __threadfence();
            *flag = 1;
        }
    } else if (threadIdx.x == 0) {
        while (!*flag)
            __nanosleep(100);
        *out = *(volatile int *)data;
    }
}

extern "C" __global__ void votes(const int *in, int *out)
{
    int v = in[threadIdx.x];
    out[threadIdx.x] = __syncthreads_count(v > 0) + 1000 * !!__syncthreads_and(v < 100) +
                       10000 * !!__syncthreads_or(v == 5);
}

extern "C" __global__ void early(int *out, int n)
{
    __shared__ int s[128];
    if (threadIdx.x >= n)
        return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

extern "C" __global__ void spin(volatile int *p)
{
    while (!*p)
        ;
}

extern "C" __global__ void pick(const int *in, int *out)
{
    int r;
    switch (in[threadIdx.x]) {
    case 0: r = 10 * threadIdx.x; break;
    case 1: r = threadIdx.x - 5; break;
    case 2: r = threadIdx.x * threadIdx.x; break;
    case 3: r = -3; break;
    case 4: r = in[0] + 4; break;
    case 5: r = threadIdx.x ^ 21; break;
    case 6: r = 1 << (threadIdx.x & 15); break;
    case 7: r = in[threadIdx.x + 1]; break;
    default: r = 99;
    }
    out[threadIdx.x] = r;
}
