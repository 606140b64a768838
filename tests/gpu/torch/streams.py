# SPDX-License-Identifier: Apache-2.0
"""Streams, events, priorities, threads, memory that moves between streams."""

import threading

from _common import show, start

import torch

device = start()
a, b = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
show("priorities", (a.priority, b.priority, torch.cuda.Stream.priority_range()))
x = torch.zeros(1000, device=device)
done = torch.cuda.Event()
for i in range(50):
    with torch.cuda.stream(a):
        a.wait_event(done)
        x += i
        done.record(a)
    with torch.cuda.stream(b):
        b.wait_event(done)
        x *= 1.01
        done.record(b)
done.synchronize()
show("query", done.query())
show("chain", x)
began, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
began.record()
torch.cuda._sleep(10_000_000)
ended.record()
show("not yet", ended.query())
ended.synchronize()
show("time makes sense", 1 < began.elapsed_time(ended) < 1000)
with torch.cuda.stream(a):
    y = torch.full((1 << 20,), 3.0, device=device)
y.record_stream(b)
b.wait_stream(a)
with torch.cuda.stream(b):
    z = y.sum()
torch.cuda.synchronize()
show("recorded", z)
sums = [None] * 8


def work(i):
    with torch.cuda.stream(torch.cuda.Stream()):
        v = torch.full((500, 500), 0.01 * i, device=device)
        for _ in range(20):
            v = v @ v + 0.01
        sums[i] = v.sum().item()


threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
show("threads", sums)
