"""ATen's Fourier transforms of real and imaginary parts; `complex` calls it while it rewrites a graph."""

import math

import numpy as np
import torch

from ..fourier import Parts, Transforms, each


def table_like(table: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """A constant of the graph; its rounding is no operation of the graph."""
    return torch.from_numpy(table.astype(str(like.dtype).removeprefix("torch.")))


TRANSFORMS = Transforms(
    constant=table_like,
    # A product of a vector changes its result in place.
    product=lambda x, table: torch.matmul(x, table) if x.ndim > 1 else torch.mm(x[None], table)[0],
    pad=lambda x, count: torch.constant_pad_nd(x, [0, count]),
    concatenate=lambda tensors: torch.cat(tensors, -1),
    flip=lambda x: x.flip(-1),
)


def normalized(x: Parts, normalization: int, count: int) -> Parts:
    """A transform of `count` numbers as it is (0), by the root of their count (1), or by their count (2)."""
    divisor = (1, math.sqrt(count), count)[normalization]
    return x if divisor == 1 else each(lambda part: part / divisor, x)


def count_of(x: Parts, dimensions: list[int]) -> int:
    return math.prod(x[0].shape[dimension] for dimension in dimensions)


def transformed(x: Parts, dimensions: list[int], forward: bool) -> Parts:
    for dimension in dimensions:
        x = TRANSFORMS.along(x, dimension, -1 if forward else 1)
    return x


def complex_to_complex(x: Parts, dimensions: list[int], normalization: int, forward: bool) -> Parts:
    """aten._fft_c2c."""
    return normalized(transformed(x, dimensions, forward), normalization, count_of(x, dimensions))


def real_to_complex(x: Parts, dimensions: list[int], normalization: int, onesided: bool) -> Parts:
    """aten._fft_r2c: `onesided` keeps the first half along the last one of the dimensions."""
    *outer, last = dimensions
    spectrum = transformed(x, [last], True)
    if onesided:
        spectrum = each(lambda part: part.narrow(last, 0, x[0].shape[last] // 2 + 1), spectrum)
    return normalized(transformed(spectrum, outer, True), normalization, count_of(x, dimensions))


def complex_to_real(x: Parts, dimensions: list[int], normalization: int, length: int) -> Parts:
    """aten._fft_c2r: the first half of a spectrum along the last one of the dimensions to `length` real numbers."""
    *outer, last = dimensions
    exchange = lambda part: part.swapaxes(last, -1)
    whole = TRANSFORMS.completed(each(exchange, transformed(x, outer, False)), length)
    real, _ = each(exchange, TRANSFORMS.along_last(whole, 1))
    return normalized((real, None), normalization, count_of(x, outer) * length)
