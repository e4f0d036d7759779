"""Sizes, weights and images of residual networks, in every framework alike, for gpu_rows.py."""

from __future__ import annotations

import dataclasses

import numpy as np

CLASSES = 1000


@dataclasses.dataclass(frozen=True)
class ResNetSize:
    """`stages`: blocks, inner width and stride of each stage."""

    batch: int
    extent: int
    stages: tuple[tuple[int, int, int], ...]


RESNETS = {
    "resnet-tiny": ResNetSize(2, 32, ((1, 8, 1), (1, 16, 2))),
    "resnet50": ResNetSize(16, 224, ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))),
}


def kernel(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Of a convolution or a product; the first dimension is that of its results."""
    return (random.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5).astype(np.float32)


def make_batch(size: ResNetSize) -> tuple[np.ndarray, np.ndarray]:
    """Images, as batch, rows, columns and colours, and their classes."""
    random = np.random.default_rng(1)
    images = random.standard_normal((size.batch, size.extent, size.extent, 3)).astype(np.float32)
    return images, random.integers(0, CLASSES, size.batch).astype(np.int32)
