# SPDX-License-Identifier: Apache-2.0
"""bf16 and fp16 by autocast, a scaler of gradients, products of half types."""

from _common import show, start

import torch
from torch import nn

device = start()
for kind in (torch.bfloat16, torch.float16):
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 64), nn.LayerNorm(64)).to(device)
    sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda", enabled=kind == torch.float16)
    x = torch.randn(64, 128, device=device)
    for i in range(8):
        sgd.zero_grad()
        with torch.autocast("cuda", dtype=kind):
            out = model(x)
            loss = (out.float() ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(sgd)
        scaler.update()
        show(f"{kind} loss {i}", loss)
    a = torch.randn(300, 200, device=device, dtype=kind)
    b = torch.randn(200, 100, device=device, dtype=kind)
    show(f"{kind} product", a @ b)
    show(f"{kind} batched", torch.bmm(a.view(3, 100, 200), b.expand(3, 200, 100)))
torch.backends.cuda.matmul.allow_tf32 = True
a = torch.randn(256, 256, device=device)
show("tf32", a @ a)
