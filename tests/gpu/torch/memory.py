# SPDX-License-Identifier: Apache-2.0
"""The caching allocator: statistics, segments that grow, the asynchronous backend."""

import os
import subprocess
import sys

from _common import show, start

import torch


def use(device):
    kept = [torch.empty(i * 300000, device=device, dtype=torch.uint8) for i in range(1, 12)]
    del kept[::2]
    # Whether a pool joins what was freed to what is free beside it depends on the GPU having come by.
    torch.cuda.synchronize()
    kept += [torch.empty(1 << 22, device=device, dtype=torch.uint8) for _ in range(20)]
    stats = torch.cuda.memory_stats()
    for name in ("allocated_bytes.all.current", "allocated_bytes.all.peak", "allocation.all.allocated",
                 "reserved_bytes.all.current", "segment.all.current", "num_alloc_retries", "num_ooms"):
        show(name, stats.get(name))
    del kept
    torch.cuda.empty_cache()
    show("after", torch.cuda.memory_allocated())
    show("reserved", torch.cuda.memory_reserved())
    a = torch.arange(1 << 22, device=device)
    show("sum", a.sum())
    free, total = torch.cuda.mem_get_info()
    show("known", 0 < free < total)


if len(sys.argv) > 1:
    use(start())
else:
    for config in ("", "expandable_segments:True", "backend:cudaMallocAsync", "max_split_size_mb:32"):
        print(f"-- {config}", flush=True)
        env = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=config, PYTORCH_ALLOC_CONF=config)
        done = subprocess.run([sys.executable, __file__, "child"], env=env, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="")
        print("exit", done.returncode)
    # The parent's own session, which the runner looks for.
    show("own", torch.ones(3, device=start()).sum())
