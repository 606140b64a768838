# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: a training step captured and replayed, graphed callables, shared pools."""

from _common import show, start

import torch
from torch import nn

device = start()
model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 8)).to(device)
x = torch.randn(32, 64, device=device)
y = torch.randn(32, 8, device=device)
adam = torch.optim.Adam(model.parameters(), lr=1e-2, capturable=True)


def step():
    adam.zero_grad(set_to_none=True)
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    adam.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for i in range(20):
    graph.replay()
    show(f"replay {i}", loss)
x.copy_(torch.randn(32, 64, device=device))
graph.replay()
show("new input", loss)
second = torch.cuda.CUDAGraph()
with torch.cuda.graph(second, pool=graph.pool()):
    out = model(x) * 2
second.replay()
show("second", out)
called = torch.cuda.make_graphed_callables(nn.Linear(16, 16).to(device), (torch.randn(4, 16, device=device, requires_grad=True),))
show("graphed", called(torch.ones(4, 16, device=device)))
noise = torch.cuda.CUDAGraph()
with torch.cuda.graph(noise):
    r = torch.rand(10, device=device)
for i in range(3):
    noise.replay()
    show(f"random {i}", r)
graph.reset()
