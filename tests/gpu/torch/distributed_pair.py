# SPDX-License-Identifier: Apache-2.0
"""NCCL with a process for each of two GPUs: collectives, send and receive, a distributed model."""

import os
import tempfile

from _common import show, skip, start

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 2


def in_turn(rank, name, value):
    """Each rank's value, printed in their order."""
    for turn in range(RANKS):
        if turn == rank:
            show(f"rank {rank}: {name}", value)
        dist.barrier()


def train(rank, device):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).to(device)
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    torch.manual_seed(rank)
    for _ in range(5):
        x = torch.randn(32, 64, device=device)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    in_turn(rank, "loss", loss)
    in_turn(rank, "weight", model.module[0].weight)


def run(rank, store):
    start()
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=RANKS, device_id=device)
    for size in (10, 100_000, 10_000_000):
        x = torch.arange(size, device=device, dtype=torch.float32) % 1000 + rank
        dist.all_reduce(x)
        in_turn(rank, f"all_reduce of {size}", x)
    x = torch.full((1000,), float(rank), device=device)
    parts = [torch.empty_like(x) for _ in range(RANKS)]
    dist.all_gather(parts, x)
    in_turn(rank, "all_gather", torch.stack(parts))
    out = torch.empty(500, device=device)
    dist.reduce_scatter_tensor(out, x)
    in_turn(rank, "reduce_scatter", out)
    if rank == 0:
        dist.send(x + 7, 1)
    else:
        dist.recv(x, 0)
    in_turn(rank, "sent", x)
    train(rank, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    if not dist.is_available() or not dist.is_nccl_available():
        skip("torch has no NCCL")
    if torch.cuda.device_count() < RANKS:
        skip("one GPU")
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    os.environ.setdefault("NCCL_IB_DISABLE", "1")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(f"{folder}/store",), nprocs=RANKS)
    print("done")
