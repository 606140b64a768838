# SPDX-License-Identifier: Apache-2.0
"""What the scripts share: fixed seeds, deterministic kernels, exact printing.

A script prints what must be the same on each run with the same driver, to the last
bit. It exits with 77, after a line that says why, where it cannot run.
"""

import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch


def skip(why):
    print(why)
    sys.exit(77)


def start():
    """Seeds everything; returns the device."""
    if not torch.cuda.is_available():
        # Not a skip: this script was started because there is a driver.
        torch.cuda.init()
    torch.manual_seed(1234)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    return torch.device("cuda")


def show(name, value):
    """A number or a tensor: shape, type, and what tells any difference."""
    if isinstance(value, torch.Tensor):
        v = value.detach()
        if v.is_complex():
            v = torch.view_as_real(v)
        v = v.cpu()
        if v.numel() == 1:
            print(f"{name} {v.dtype} {v.reshape(()).item()!r}")
            return
        d = v.double()
        print(f"{name} {v.dtype} {tuple(v.shape)} sum {d.sum().item()!r} squares {(d * d).sum().item()!r} "
              f"first {d.flatten()[0].item()!r} last {d.flatten()[-1].item()!r}")
    else:
        print(f"{name} {value!r}")


def error_of(call):
    """The kind of error that a call gives."""
    try:
        call()
    except Exception as e:  # any: its type is the result
        return type(e).__name__
    return "none"


def info(text):
    print(f"info: {text}", file=sys.stderr)
