# SPDX-License-Identifier: Apache-2.0
"""FFT, linear algebra, sparse products, sorting, scans, reductions, jiterator."""

from _common import error_of, show, start

import torch

device = start()
x = torch.randn(64, 1000, device=device)
show("rfft", torch.fft.rfft(x))
show("fft and back", torch.fft.ifft(torch.fft.fft(x)).real)
show("fft2", torch.fft.fft2(torch.randn(4, 60, 77, device=device)))
show("fft double", torch.fft.fft(torch.randn(128, device=device, dtype=torch.float64)))
a = torch.randn(5, 40, 40, device=device, dtype=torch.float64)
s = a @ a.mT + 40 * torch.eye(40, device=device, dtype=torch.float64)
show("cholesky", torch.linalg.cholesky(s))
show("solve", torch.linalg.solve(a, torch.ones(5, 40, 2, device=device, dtype=torch.float64)))
show("inverse", torch.linalg.inv(s))
show("determinant", torch.linalg.det(s))
show("eigenvalues", torch.linalg.eigvalsh(s))
show("singular values", torch.linalg.svdvals(a))
show("qr", torch.linalg.qr(a)[1].abs())
show("not positive", error_of(lambda: torch.linalg.cholesky(-s)))
dense = torch.randn(200, 300, device=device)
dense[dense.abs() < 1] = 0
csr = dense.to_sparse_csr()
show("nonzero", csr.values().numel())
# Its parts are added in any order: no two runs agree to the last bit.
factor = torch.randn(300, 16, device=device)
product = csr @ factor
show("sparse product", (tuple(product.shape), product.dtype, torch.allclose(product, dense @ factor, atol=1e-4)))
show("sparse vector", csr @ torch.randn(300, device=device))
show("coalesced", dense.to_sparse().coalesce().values())
v = torch.randint(0, 1 << 30, (100000,), device=device)
show("sorted", torch.sort(v).values[::1000])
show("unique", torch.unique(v % 1000))
show("cumulative", torch.cumsum(v, 0)[-1])
show("top", torch.topk(v, 5).values)
show("counts", torch.bincount(v % 50))
show("where", torch.nonzero(v % 997 == 0).numel())
show("quantile", torch.quantile(torch.rand(1000, device=device), 0.3))
show("einsum", torch.einsum("bij,bjk->ik", a, a))
show("special", torch.special.i0e(torch.linspace(0, 5, 10, device=device)) + torch.lgamma(torch.tensor(2.5, device=device)))
cube = torch.cuda.jiterator._create_jit_fn("template <typename T> T cube(T x) { return x * x * x; }")
show("jiterator", cube(torch.arange(10, device=device, dtype=torch.float32)))
show("scatter", torch.zeros(10, device=device, dtype=torch.int64).scatter_add_(0, v % 10, torch.ones_like(v)))
