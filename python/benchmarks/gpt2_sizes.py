"""Sizes of GPT-2 that compiled_rows.py runs, in every framework alike."""

from __future__ import annotations

import dataclasses

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
