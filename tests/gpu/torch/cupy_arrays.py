# SPDX-License-Identifier: Apache-2.0
"""CuPy: arrays, a raw kernel, its libraries."""

import sys

try:
    import cupy
except ImportError:
    print("there is no cupy")
    sys.exit(77)

x = cupy.arange(100000, dtype=cupy.float64)
print("sum", repr(float(x.sum())))
print("fft", repr(float(cupy.abs(cupy.fft.fft(x[:1000])).sum())))
a = cupy.eye(50) * 3 + 1
print("solve", repr(float(cupy.linalg.solve(a, cupy.ones(50)).sum())))
kernel = cupy.RawKernel('extern "C" __global__ void k(double *v) { v[blockIdx.x] *= 2; }', "k")
kernel((100,), (1,), (x,))
print("raw", repr(float(x[:101].sum())))
print("sorted", repr(float(cupy.sort(cupy.sin(x))[1000])))
