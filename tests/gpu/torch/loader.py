# SPDX-License-Identifier: Apache-2.0
"""DataLoader: pinned batches, workers that are forked before and after CUDA starts."""

import os

from _common import show, start

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        return torch.full((16,), float(i)), i


def epoch(name, **options):
    total = 0.0
    for batch, labels in DataLoader(Numbers(), batch_size=32, **options):
        batch = batch.to("cuda", non_blocking=True)
        total += (batch.sum() + labels.to("cuda").sum()).item()
    show(name, total)


def main():
    early = DataLoader(Numbers(), batch_size=64, num_workers=2, persistent_workers=True, pin_memory=True)
    show("before", sum(float(b.sum()) for b, _ in early))
    start()
    epoch("plain")
    epoch("pinned", pin_memory=True)
    epoch("workers", num_workers=2, pin_memory=True)
    epoch("workers again", num_workers=2, pin_memory=True, prefetch_factor=4)
    epoch("spawned", num_workers=1, multiprocessing_context="spawn")
    show("persistent", sum(b.cuda().sum().item() for b, _ in early))
    # A child that only forks must not hurt its parent's session, nor use CUDA.
    child = os.fork()
    if child == 0:
        try:
            torch.ones(1, device="cuda")
        except RuntimeError as e:
            os._exit(7 if "fork" in str(e) else 8)
        os._exit(9)
    show("a forked child is told", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    show("after", torch.ones(1000, device="cuda").sum())


if __name__ == "__main__":
    main()
