# SPDX-License-Identifier: Apache-2.0
"""Triton: kernels that it compiles and launches itself."""

import os
import tempfile

from _common import show, skip, start

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    skip("there is no triton")


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def product(a, b, c, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    sum = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        kk = k + tl.arange(0, BLOCK)
        sum += tl.dot(tl.load(a + m[:, None] * K + kk[None, :]), tl.load(b + kk[:, None] * K + n[None, :]))
    tl.store(c + m[:, None] * K + n[None, :], sum)


device = start()
x, y = torch.randn(10001, device=device), torch.randn(10001, device=device)
out = torch.empty_like(x)
add[(triton.cdiv(10001, 256),)](x, y, out, 10001, BLOCK=256)
show("add", out)
show("right", bool((out == x + y).all()))
m = torch.randn(64, 1000, device=device)
soft = torch.empty_like(m)
softmax[(64,)](m, soft, 1000, BLOCK=1024)
show("softmax", soft)
a, b = (torch.randn(256, 256, device=device, dtype=torch.float16) for _ in range(2))
c = torch.empty(256, 256, device=device)
product[(4, 4)](a, b, c, 256, BLOCK=64)
show("product", c)
show("close", bool(torch.allclose(c, (a @ b).float(), atol=0.5)))
