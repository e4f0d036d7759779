"""Modules of PyTorch in the sizes of torch_rows.py, each returning a loss.

`make(name)` returns `(module, arguments)`; the structures are those of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from resnet_sizes import CLASSES, RESNETS, ResNetSize, kernel, make_batch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from torch_models import GPT, Convolutions, Llama  # noqa: E402


def _normed(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * inner
        self.first, self.second = _normed(inputs, inner, 1), _normed(inner, inner, 3, stride)
        self.third = _normed(inner, outputs, 1)
        self.short = _normed(inputs, outputs, 1, stride) if inputs != outputs or stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = self.third(F.relu(self.second(F.relu(self.first(x)))))
        return F.relu(made + self.short(x))


class ResNet50(nn.Module):
    """Bottlenecks in the stages of resnet_sizes.py; the published model by default."""

    def __init__(self, size: ResNetSize = RESNETS["resnet50"]) -> None:
        super().__init__()
        blocks, channels = [], 64
        for count, inner, stride in size.stages:
            for number in range(count):
                blocks.append(Bottleneck(channels, inner, stride if number == 0 else 1))
                channels = 4 * inner
        self.stem, self.blocks, self.head = _normed(3, 64, 7, 2), nn.Sequential(*blocks), nn.Linear(channels, CLASSES)

    def forward(self, images: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        x = self.blocks(F.max_pool2d(F.relu(self.stem(images)), 3, 2, 1))
        return F.cross_entropy(self.head(x.mean((2, 3))), classes)


def make_resnet(size: ResNetSize) -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """With the weights and images of resnet_jax.py."""
    module, random = ResNet50(size), np.random.default_rng(0)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim > 1:
                parameter.copy_(torch.from_numpy(kernel(random, *parameter.shape)))
            elif name == "head.bias":
                parameter.zero_()
    images, classes = make_batch(size)
    return module, (torch.from_numpy(images.transpose(0, 3, 1, 2).copy()), torch.from_numpy(classes).long())


STEPS = {
    "llama": lambda: (Llama(), (torch.randint(0, 64, (4, 64)),)),
    "gpt": lambda: (GPT(6, 256, 4096), (torch.randint(0, 4096, (12, 256)),)),
    "dropout": lambda: (GPT(4, 128, 1024, dropout=0.2), (torch.randint(0, 1024, (8, 128)),)),
    "batchnorm": lambda: (Convolutions(8, 32), (torch.randn(8, 32, 32, 32),)),
    "resnet50": lambda: (ResNet50(), (torch.randn(8, 3, 128, 128), torch.randint(0, 1000, (8,)))),
}


def make(name: str) -> tuple[nn.Module, Any]:
    torch.manual_seed(0)
    return STEPS[name]()
