# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network (cuDNN), with normalisation, pooling and dropout."""

from _common import show, start

import torch
from torch import nn

device = start()
show("cudnn", torch.backends.cudnn.is_available())
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, stride=2, padding=1, groups=4), nn.GroupNorm(8, 64), nn.SiLU(),
    nn.ConvTranspose2d(64, 16, 2, stride=2), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
    nn.Dropout(0.25), nn.Linear(256, 10)).to(device)
x = torch.randn(16, 3, 32, 32, device=device)
y = torch.randint(0, 10, (16,), device=device)
adam = torch.optim.Adam(model.parameters(), lr=1e-3)
for i in range(10):
    adam.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    adam.step()
    show(f"loss {i}", loss)
for name, parameter in model.named_parameters():
    show(name, parameter)
model.eval()
show("eval", model(x.to(memory_format=torch.channels_last)))
show("conv3d", nn.Conv3d(2, 4, 3).to(device)(torch.randn(2, 2, 8, 8, 8, device=device)))
show("conv1d", nn.Conv1d(4, 4, 5).to(device)(torch.randn(2, 4, 100, device=device)))
