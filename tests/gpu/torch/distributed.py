# SPDX-License-Identifier: Apache-2.0
"""NCCL with one rank: collectives, a distributed model, a graph that holds one."""

import os
import tempfile

from _common import show, skip, start

import torch
import torch.distributed as dist

if not dist.is_available() or not dist.is_nccl_available():
    skip("torch has no NCCL")
os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
os.environ.setdefault("NCCL_IB_DISABLE", "1")
device = start()
torch.cuda.set_device(0)
with tempfile.TemporaryDirectory() as d:
    dist.init_process_group("nccl", init_method=f"file://{d}/store", rank=0, world_size=1, device_id=torch.device("cuda:0"))
    x = torch.arange(1000, device=device, dtype=torch.float32)
    dist.all_reduce(x)
    show("all_reduce", x)
    dist.broadcast(x, 0)
    parts = [torch.empty_like(x)]
    dist.all_gather(parts, x)
    show("all_gather", parts[0])
    out = torch.empty_like(x)
    dist.reduce_scatter_tensor(out, x)
    show("reduce_scatter", out)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    dist.barrier()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 32).to(device), device_ids=[0])
    loss = model(torch.randn(8, 32, device=device)).pow(2).mean()
    loss.backward()
    show("loss", loss)
    show("gradient", model.module.weight.grad)
    dist.destroy_process_group()
