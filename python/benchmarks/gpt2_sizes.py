"""Sizes, weights and tokens of GPT-2, in every framework alike: for compiled_rows.py and gpu_rows.py."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

# Of gradient descent.
RATE = 0.1


@dataclasses.dataclass(frozen=True)
class Size:
    layers: int
    width: int
    heads: int
    vocabulary: int
    batch: int
    length: int


SIZES = {
    "gpt2-tiny": Size(2, 64, 4, 256, 2, 32),
    "gpt2-mid": Size(6, 384, 6, 8192, 2, 256),
    "gpt2": Size(12, 768, 12, 50257, 2, 256),
}


def make_weights(size: Size) -> Any:
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    def dense(inner: int, outer: int) -> dict[str, np.ndarray]:
        return {"kernel": normal(inner, outer), "bias": np.zeros(outer, np.float32)}

    def norm() -> dict[str, np.ndarray]:
        return {"scale": np.ones(size.width, np.float32), "bias": np.zeros(size.width, np.float32)}

    def layer() -> dict[str, Any]:
        shapes = {"qkv": (1, 3), "out": (1, 1), "up": (1, 4), "down": (4, 1)}
        products = {name: dense(inner * size.width, outer * size.width) for name, (inner, outer) in shapes.items()}
        return {"norm_1": norm(), "norm_2": norm(), **products}

    return {
        "tokens": normal(size.vocabulary, size.width),
        "places": normal(size.length, size.width),
        "blocks": [layer() for _ in range(size.layers)],
        "norm": norm(),
    }


def make_tokens(size: Size) -> np.ndarray:
    return np.random.default_rng(1).integers(0, size.vocabulary, (size.batch, size.length)).astype(np.int32)
