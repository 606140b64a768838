# SPDX-License-Identifier: Apache-2.0
"""What torch says about the device; memory, copies, errors."""

from _common import error_of, show, start

import torch

device = start()
p = torch.cuda.get_device_properties(0)
show("name", p.name)
show("capability", torch.cuda.get_device_capability())
show("memory", p.total_memory)
show("processors", p.multi_processor_count)
show("count", torch.cuda.device_count())
show("arch", torch.cuda.get_arch_list())
show("bf16", torch.cuda.is_bf16_supported())
free, total = torch.cuda.mem_get_info()
show("free below total", free < total)
for kind in (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.uint8, torch.bool):
    host = (torch.arange(5000) % 7).to(kind)
    there = host.to(device)
    show(f"round trip {kind}", bool((there.cpu() == host).all()))
pinned = torch.arange(100000, dtype=torch.float32).pin_memory()
show("pinned", pinned.is_pinned())
there = pinned.to(device, non_blocking=True) * 2
back = torch.empty_like(pinned, pin_memory=True)
back.copy_(there, non_blocking=True)
torch.cuda.synchronize()
show("back", back)
show("too large", error_of(lambda: torch.empty(1 << 45, device=device)))
show("after that", torch.ones(10, device=device).sum())
show("wrong device", error_of(lambda: torch.empty(1, device="cuda:99")))
show("random", torch.randn(1000, device=device))
state = torch.cuda.get_rng_state()
a = torch.rand(100, device=device)
torch.cuda.set_rng_state(state)
show("random again", bool((torch.rand(100, device=device) == a).all()))
