// SPDX-License-Identifier: Apache-2.0
/* Votes, shuffles, matches and reductions of warps; inline PTX. */
#include "common.cuh"

__global__ void votes(unsigned *out) {
    unsigned lane = threadIdx.x % 32, all = ~0u, v = lane * 7 % 32;

    out[threadIdx.x] = __ballot_sync(all, lane % 3 == 0) + __popc(__activemask());
    out[threadIdx.x] += __any_sync(all, lane == 5) * 3 + __all_sync(all, lane < 32) * 5;
    out[threadIdx.x] ^= __shfl_sync(all, v, (lane + 5) % 32) << 3;
    out[threadIdx.x] ^= __shfl_up_sync(all, v, 2) << 8;
    out[threadIdx.x] ^= __shfl_xor_sync(all, v, 9) << 13;
    out[threadIdx.x] += __match_any_sync(all, lane / 4);
    out[threadIdx.x] ^= __reduce_add_sync(all, v) << 20;
    out[threadIdx.x] += __reduce_max_sync(all, v) + __reduce_xor_sync(all, v * 3);
    if (lane < 16)
        out[threadIdx.x] += __shfl_down_sync(0xffff, v, 3);
}

__global__ void ptx(unsigned *out) {
    unsigned lane, rotated, product, permuted, found, field;

    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("shf.l.wrap.b32 %0, %1, %1, 5;" : "=r"(rotated) : "r"(threadIdx.x * 0x01010101u));
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(product) : "r"(threadIdx.x << 24), "r"(0x12345678u));
    asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(permuted) : "r"(lane), "r"(threadIdx.x << 8));
    asm("bfind.u32 %0, %1;" : "=r"(found) : "r"(threadIdx.x));
    asm("bfe.u32 %0, %1, 3, 4;" : "=r"(field) : "r"(threadIdx.x * 55));
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 40; @p add.u32 %0, %0, 1000; }"
                 : "+r"(field)
                 : "r"(threadIdx.x));
    out[threadIdx.x] = rotated ^ product ^ permuted ^ (found << 4) ^ field ^ (lane << 27);
}

int main() {
    std::vector<unsigned> v(64, 0);
    unsigned *d = on_device(v);

    votes<<<1, 64>>>(d);
    SHOW(cudaDeviceSynchronize());
    for (unsigned x : from_device(d, 8))
        printf("%08x\n", x);
    show_digest("votes", from_device(d, 64));
    ptx<<<1, 64>>>(d);
    SHOW(cudaDeviceSynchronize());
    for (unsigned x : from_device(d, 8))
        printf("%08x\n", x);
    show_digest("ptx", from_device(d, 64));
    return 0;
}
