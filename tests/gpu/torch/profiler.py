# SPDX-License-Identifier: Apache-2.0
"""The profiler on the processor's side, NVTX marks, sanity of torch.utils."""

from _common import show, start

import torch
from torch.profiler import ProfilerActivity, profile

device = start()
x = torch.randn(100, 100, device=device)
with profile(activities=[ProfilerActivity.CPU]) as p:
    y = (x @ x).relu().sum()
    y.item()
names = {e.key for e in p.key_averages()}
show("seen", sorted(n for n in names if n in ("aten::matmul", "aten::relu", "aten::sum")))
torch.cuda.nvtx.range_push("range")
torch.cuda.nvtx.mark("mark")
torch.cuda.nvtx.range_pop()
show("result", y)
show("checkpoint", torch.utils.checkpoint.checkpoint(lambda v: (v * 2).sum(), x, use_reentrant=False))
