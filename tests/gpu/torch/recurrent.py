# SPDX-License-Identifier: Apache-2.0
"""LSTM and GRU (cuDNN), trained a little; embeddings."""

from _common import show, start

import torch
from torch import nn

device = start()
for kind in (nn.LSTM, nn.GRU):
    net = kind(32, 64, num_layers=2, bidirectional=True, batch_first=True).to(device)
    words = nn.Embedding(100, 32).to(device)
    adam = torch.optim.AdamW([*net.parameters(), *words.parameters()], lr=1e-2)
    text = torch.randint(0, 100, (8, 20), device=device)
    for i in range(5):
        adam.zero_grad()
        out, _ = net(words(text))
        loss = out.pow(2).mean()
        loss.backward()
        adam.step()
        show(f"{kind.__name__} loss {i}", loss)
    show("out", out)
    packed = nn.utils.rnn.pack_padded_sequence(words(text), [20, 18, 15, 11, 9, 5, 2, 1], batch_first=True)
    show("packed", net(packed)[0].data)
