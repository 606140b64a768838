# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention by each of its kernels, forward and backward."""

from _common import show, start

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attention

device = start()
for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
    for causal in (False, True):
        q, k, v = (torch.randn(2, 4, 128, 64, device=device, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        try:
            with sdpa_kernel(backend):
                out = attention(q, k, v, is_causal=causal)
                show(f"{backend.name} causal {causal}", out)
                if backend != SDPBackend.CUDNN_ATTENTION:
                    out.float().sum().backward()
                    show("gradient of v", v.grad)
        except RuntimeError as e:
            print(backend.name, "refused:", str(e).splitlines()[0])
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True).to(device)
show("transformer", layer(torch.randn(3, 20, 64, device=device)))
