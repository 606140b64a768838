// SPDX-License-Identifier: Apache-2.0
/* needs: nccl.h */
/* nvcc: -lnccl */
/* NCCL with one rank: collectives in place and out of place, a group, a wrong call. */
#include "common.cuh"

#include <nccl.h>

#define COLL(call) printf("%s = %d\n", #call, (int)(call))

int main() {
    const int n = 10000;
    std::vector<float> v(n), zero(n, 0);
    ncclComm_t comm;
    ncclUniqueId id;
    cudaStream_t s;
    int count = 0, rank = -1, device = -1, version = 0;

    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    setenv("NCCL_IB_DISABLE", "1", 0);
    for (int i = 0; i < n; i++)
        v[i] = (float)i / 4;
    float *a = on_device(v), *b = on_device(zero);
    CK(cudaStreamCreate(&s));
    COLL(ncclGetVersion(&version));
    COLL(ncclGetUniqueId(&id));
    COLL(ncclCommInitRank(&comm, 1, id, 0));
    COLL(ncclCommCount(comm, &count));
    COLL(ncclCommUserRank(comm, &rank));
    COLL(ncclCommCuDevice(comm, &device));
    printf("count %d rank %d device %d\n", count, rank, device);
    COLL(ncclAllReduce(a, b, n, ncclFloat, ncclSum, comm, s));
    SHOW(cudaStreamSynchronize(s));
    show_digest("reduced", from_device(b, n));
    COLL(ncclAllReduce(b, b, n, ncclFloat, ncclMax, comm, s));
    COLL(ncclBroadcast(a, b, n, ncclFloat, 0, comm, s));
    COLL(ncclAllGather(a, b, n, ncclFloat, comm, s));
    COLL(ncclReduceScatter(a, b, n, ncclFloat, ncclSum, comm, s));
    COLL(ncclGroupStart());
    COLL(ncclSend(a, n, ncclFloat, 0, comm, s));
    COLL(ncclRecv(b, n, ncclFloat, 0, comm, s));
    COLL(ncclGroupEnd());
    SHOW(cudaStreamSynchronize(s));
    show_digest("sent", from_device(b, n));
    COLL(ncclBroadcast(a, b, n, ncclFloat, 7, comm, s));
    COLL(ncclCommDestroy(comm));
    SHOW(cudaGetLastError());
    return 0;
}
