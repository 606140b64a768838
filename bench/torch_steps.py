#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's steps, for bench/run: prints their names and an empty line, then takes a name a line
and prints what that step takes, and an empty line: figure,unit,count,p50,p99,p99.9.

So the same two processes measure again and again in turn, each idle while the other is busy. Exit
status 77, with the reason, where there is no PyTorch or no GPU that it can use.
"""
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print('PyTorch is not installed')
    sys.exit(77)


def report(figure, samples):
    samples = sorted(samples)
    n = len(samples)
    print(f'{figure},ms,{n},{samples[n // 2]:.5g},{samples[n - 1 - n // 100]:.5g},'
          f'{samples[n - 1 - n // 1000]:.5g}', flush=True)


def timed(figure, step, steps=200, burst=10):
    """A step's time, in bursts with one synchronise at the end of each."""
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    samples = []
    for _ in range(steps // burst):
        begun = time.perf_counter()
        for _ in range(burst):
            step()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - begun) * 1e3 / burst)
    report(figure, samples)


def training(model, data, target):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(data), target)
        loss.backward()
        optimizer.step()
        return loss
    return step


def with_and_without_item(figure, step):
    return {figure: lambda: timed(figure, step),
            f'{figure} item': lambda: timed(f'{figure} item', lambda: step().item())}


def mlp(device):
    layers = [nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
              nn.Linear(256, 10)]
    model = nn.Sequential(*layers).to(device)
    return with_and_without_item('mlp', training(model, torch.randn(64, 256, device=device),
                                                 torch.randint(10, (64,), device=device)))


def convolution(device):
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2),
                          nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(64, 10)).to(device)
    return with_and_without_item('convolution',
                                 training(model, torch.randn(32, 3, 64, 64, device=device),
                                          torch.randint(10, (32,), device=device)))


def transformer(device):
    layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 6).to(device).eval()
    data = torch.randn(1, 64, 256, device=device)

    def step():
        with torch.inference_mode():
            return model(data).sum()
    return with_and_without_item('transformer', step)


def graph_replay(device):
    model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(20)]).to(device).eval()
    data = torch.randn(64, 256, device=device)
    side = torch.cuda.Stream()
    with torch.inference_mode(), torch.cuda.stream(side):
        for _ in range(3):
            model(data)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(graph):
        model(data)
    return {'graph replay': lambda: timed('graph replay', graph.replay)}


def product(device):
    a = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)

    def measure():
        # Until the GPU is as warm as it gets, and as slow: else whoever is first is faster.
        begun = time.perf_counter()
        while time.perf_counter() - begun < 1:
            torch.mm(a, b)
            torch.cuda.synchronize()
        timed('bf16 product', lambda: torch.mm(a, b), steps=50, burst=5)
    return {'bf16 product': measure}


def epoch(device):
    """Some 100 batches from a loader with two worker processes and pinned memory."""
    data = torch.utils.data.TensorDataset(torch.randn(6400, 256), torch.randint(10, (6400,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, num_workers=2, pin_memory=True,
                                         persistent_workers=True)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    loss_of = nn.CrossEntropyLoss()

    def measure():
        samples = []
        for turn in range(6):
            begun = time.perf_counter()
            for batch, target in loader:
                optimizer.zero_grad(set_to_none=True)
                loss_of(model(batch.to(device, non_blocking=True)),
                        target.to(device, non_blocking=True)).backward()
                optimizer.step()
            torch.cuda.synchronize()
            if turn:
                samples.append((time.perf_counter() - begun) * 1e3)
        report('epoch', samples)
    return {'epoch': measure}


def main():
    if not torch.cuda.is_available():
        print('PyTorch finds no GPU')
        sys.exit(77)
    torch.manual_seed(1)
    device = torch.device('cuda')
    steps = {}
    for some in (mlp, convolution, transformer, graph_replay, product, epoch):
        steps.update(some(device))
    print(*steps, '', sep='\n', flush=True)
    for line in sys.stdin:
        steps[line.strip()]()
        print(flush=True)


if __name__ == '__main__':
    main()
