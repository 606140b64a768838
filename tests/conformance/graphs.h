/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs share that build graphs by hand. After common.h. */
#ifndef VCUDA_CONFORMANCE_GRAPHS_H
#define VCUDA_CONFORMANCE_GRAPHS_H

/* Once, in a stream. */
static inline void run_graph(CUgraph graph, CUstream s) {
    CUgraphExec exec;

    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuGraphExecDestroy(exec));
}

/* A copy of bytes in a row. */
static inline CUDA_MEMCPY3D line(CUmemorytype to, uint64_t dst, CUmemorytype from, uint64_t src,
                                 size_t bytes) {
    CUDA_MEMCPY3D c = {0};

    c.dstMemoryType = to;
    c.dstDevice = to == CU_MEMORYTYPE_HOST ? 0 : dst;
    c.dstHost = to == CU_MEMORYTYPE_HOST ? (void *)dst : NULL;
    c.srcMemoryType = from;
    c.srcDevice = from == CU_MEMORYTYPE_HOST ? 0 : src;
    c.srcHost = from == CU_MEMORYTYPE_HOST ? (const void *)src : NULL;
    c.WidthInBytes = bytes;
    c.Height = c.Depth = 1;
    return c;
}

#endif
