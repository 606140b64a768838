# SPDX-License-Identifier: Apache-2.0
"""torch.compile: inductor's kernels, forward and backward, and with CUDA graphs."""

import os
import tempfile

from _common import show, start

os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "2"

import torch
from torch import nn

device = start()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 96), nn.Linear(96, 8)

    def forward(self, x):
        return torch.softmax(self.second(torch.sin(self.first(x)) ** 2), dim=-1)


net = Net().to(device)
x = torch.randn(32, 64, device=device)
compiled = torch.compile(net)
out = compiled(x)
show("out", out)
show("close to eager", bool(torch.allclose(out, net(x), atol=1e-4)))
out.log().mean().backward()
show("gradient", net.first.weight.grad)
fast = torch.compile(net, mode="reduce-overhead")
with torch.no_grad():
    for i in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        show(f"reduced {i}", fast(x).clone())
