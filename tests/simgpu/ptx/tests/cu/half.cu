// SPDX-License-Identifier: Apache-2.0
// 16-bit floats through NVIDIA's headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(const __half *a, const __half *b, __half *o)
{
    int i = threadIdx.x;
    __half x = a[i], y = b[i];
    __half *r = o + 10 * i;
    r[0] = x + y;
    r[1] = x * y;
    r[2] = __hfma(x, y, x);
    r[3] = x / y;
    r[4] = hsqrt(__habs(x));
    r[5] = x > y ? x : y;
    __half2 p = __halves2half2(x, y), q = __hmul2(p, p);
    r[6] = __low2half(q);
    r[7] = __hadd(__high2half(q), __float2half(0.25f));
    r[8] = __int2half_rn(__half2int_rz(x));
    r[9] = hexp(x);
}

extern "C" __global__ void brains(const __nv_bfloat16 *a, float *o)
{
    __nv_bfloat16 x = a[threadIdx.x];
    o[threadIdx.x] = __bfloat162float(x * x + __float2bfloat16(1.5f));
}
