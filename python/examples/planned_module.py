"""A module of PyTorch in two thirds of its memory: docs/PyTorch.md walks through it."""

import ckpt.torch
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down, self.dropout = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(0.1)

    def forward(self, x):
        return x + self.down(self.dropout(nn.functional.gelu(self.up(x))))


class Model(nn.Module):
    def __init__(self, blocks=8, width=128):
        super().__init__()
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))

    def forward(self, x):
        return (self.blocks(x) ** 2).mean()


def peak_of(call, model, x):
    """Gradients of one step, and the bytes that PyTorch allocated at its peak."""

    def step():
        torch.manual_seed(0)
        call(x).backward()

    step()  # compiles
    model.zero_grad()
    measured = ckpt.torch.measure(step)
    gradients = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    return gradients, measured.peak_bytes


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, x = Model(), torch.randn(1024, 128)

    expected, before = peak_of(model, model, x)
    planned = ckpt.torch.plan(model, budget="50%", engine="eager")
    gradients, after = peak_of(planned, model, x)

    print(planned.report)
    print(f"PyTorch's allocator: {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after")
    print("gradients equal", all(map(torch.equal, gradients, expected)))


if __name__ == "__main__":
    main()
