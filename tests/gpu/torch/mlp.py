# SPDX-License-Identifier: Apache-2.0
"""Trains a small perceptron with Adam; says how long a step takes."""

import time

from _common import info, show, start

import torch
from torch import nn

device = start()
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10)).to(device)
x = torch.randn(128, 256, device=device)
y = torch.randint(0, 10, (128,), device=device)
adam = torch.optim.Adam(model.parameters(), lr=1e-3)


def step():
    adam.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    adam.step()
    return loss


for i in range(30):
    show(f"loss {i}", step())
for name, parameter in model.named_parameters():
    show(name, parameter)
torch.cuda.synchronize()
began = time.perf_counter()
for _ in range(200):
    step()
torch.cuda.synchronize()
info(f"MLP step {(time.perf_counter() - began) / 200 * 1e3:.3f} ms")
began = time.perf_counter()
for _ in range(200):
    step().item()
info(f"MLP step with item() {(time.perf_counter() - began) / 200 * 1e3:.3f} ms")
