"""Pooling and its gradients, in operations that torch-mlir has a linalg form for.

`decompositions` lists them by the ATen operations that they replace.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch


def upsampled(x: torch.Tensor, dimension: int, stride: int, skipped: int, start: int, size: int) -> torch.Tensor:
    """Along a dimension, at each place i the element of `x` at floor((start + i) / stride) - skipped; -1 where there is none."""
    last = (start + size - 1) // stride
    padding = [0, 0] * (x.ndim - 1 - dimension) + [skipped, last + 1 - skipped - x.shape[dimension]]
    x = torch.constant_pad_nd(x, padding, -1)
    shape = list(x.shape)
    x = x.unsqueeze(dimension + 1).expand(*shape[: dimension + 1], stride, *shape[dimension + 1 :])
    x = x.reshape(*shape[:dimension], shape[dimension] * stride, *shape[dimension + 1 :])
    return x.narrow(dimension, start, size)


def of_dimensions(values: list[int], spatial: int, otherwise: list[int]) -> list[int]:
    """One number for each dimension, as PyTorch reads a list that may be shorter or empty."""
    return (list(values) * spatial)[:spatial] if values else list(otherwise)


def sum_of_windows(
    tensors: list[torch.Tensor], sizes: list[int], window: list[int], strides: list[int], padding: list[int],
    dilation: list[int], given: Callable[..., torch.Tensor],
) -> torch.Tensor:  # fmt: skip
    """To each element of an image, without a scatter: the sum over all windows that may hold it of what
    `given` makes of the window's elements of `tensors`. Windows that do not exist have -1."""
    first, result = tensors[0].ndim - len(sizes), None
    for skipped in itertools.product(*(range(d * (k - 1) // s + 1) for k, s, d in zip(window, strides, dilation))):
        parts = tensors
        for i, size in enumerate(sizes):
            parts = [upsampled(part, first + i, strides[i], skipped[i], padding[i], size) for part in parts]
        part = given(skipped, *parts)
        result = part if result is None else result + part
    return result


def max_pooling_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    """The gradient of max pooling: an element gets what the windows give that chose it."""

    def gradient_of(gradient, x, window, strides, padding, dilation, ceiling, chosen):
        window = of_dimensions(window, spatial, [])
        strides, padding, dilation = (of_dimensions(values, spatial, window) for values in (strides, padding, dilation))
        sizes = x.shape[-spatial:]
        place = torch.arange(math.prod(sizes), device=x.device).reshape(sizes)
        given = lambda skipped, gradient, chosen: torch.where(chosen == place, gradient, torch.zeros_like(gradient))
        return sum_of_windows([gradient, chosen], sizes, window, strides, padding, dilation, given)

    return gradient_of


def average_pooling_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    """The gradient of average pooling: an element gets its share of each window that holds it."""

    def gradient_of(gradient, x, window, strides, padding, ceiling, with_padding, divisor):
        window = of_dimensions(window, spatial, [])
        strides, padding = (of_dimensions(values, spatial, window) for values in (strides, padding))
        sizes, counts = x.shape[-spatial:], gradient.shape[-spatial:]
        along = lambda i, x: x.reshape([-1 if j == i else 1 for j in range(spatial)])
        elements = torch.ones([1] * spatial, dtype=gradient.dtype, device=x.device)
        for i in range(spatial):
            start = torch.arange(counts[i], device=x.device) * strides[i] - padding[i]
            end = torch.clamp(start + window[i], max=sizes[i] + (padding[i] if with_padding else 0))
            elements = elements * along(i, end - (start if with_padding else torch.clamp(start, min=0)))
        share = gradient / (divisor or elements)

        def given(skipped, result):
            for i in range(spatial):
                places = torch.arange(sizes[i], device=x.device) + padding[i]
                number = places // strides[i] - skipped[i]
                inside = (number >= 0) & (number < counts[i]) & (places < number * strides[i] + window[i])
                result = torch.where(along(i, inside), result, torch.zeros_like(result))
            return result

        return sum_of_windows([share], sizes, window, strides, padding, [1] * spatial, given)

    return gradient_of


def shares(size: int, count: int, like: torch.Tensor) -> torch.Tensor:
    """The matrix [count, size] that averages `size` elements in `count` windows, as adaptive pooling chooses them."""
    window, element = torch.arange(count, device=like.device)[:, None], torch.arange(size, device=like.device)
    first, last = window * size // count, ((window + 1) * size + count - 1) // count
    inside = (element >= first) & (element < last)
    return inside.to(like.dtype) / (last - first).to(like.dtype)


def multiplied(x: torch.Tensor, matrices: list[torch.Tensor]) -> torch.Tensor:
    """`x`, each of whose last dimensions is multiplied by a matrix."""
    for i, matrix in enumerate(matrices, x.ndim - len(matrices)):
        x = (x.transpose(i, -1) @ matrix.T).transpose(i, -1)
    return x.contiguous()


def adaptive_average_pooling(x: torch.Tensor, counts: list[int]) -> torch.Tensor:
    """Windows of equal sizes are torch-mlir's; others differ in size, so that each dimension is a product of matrices."""
    sizes = x.shape[-len(counts) :]
    if all(size % count == 0 for size, count in zip(sizes, counts)):
        return NotImplemented
    return multiplied(x, [shares(size, count, x) for size, count in zip(sizes, counts)])


def adaptive_average_pooling_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    def gradient_of(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        sizes = zip(x.shape[-spatial:], gradient.shape[-spatial:])
        return multiplied(gradient, [shares(size, count, x).T for size, count in sizes])

    return gradient_of


def adaptive_max_pooling(x: torch.Tensor, counts: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest elements of windows as adaptive pooling chooses them, and their places: shorter windows count their last element again."""
    spatial = len(counts)
    sizes, first = x.shape[-spatial:], x.ndim - spatial
    places = torch.arange(math.prod(sizes), device=x.device).reshape(sizes)
    for i, (size, count) in enumerate(zip(sizes, counts)):
        window = torch.arange(count, device=x.device)[:, None]
        start, end = window * size // count, ((window + 1) * size + count - 1) // count
        longest = max(-(-(n + 1) * size // count) - n * size // count for n in range(count))
        chosen = torch.minimum(start + torch.arange(longest, device=x.device), end - 1)
        expanded = lambda each, at: each.index_select(at, chosen.flatten()).unflatten(at, (count, longest))
        x, places = expanded(x, first + 2 * i), expanded(places, 2 * i)
    # Windows first, then the elements of each.
    order = [*range(0, 2 * spatial, 2), *range(1, 2 * spatial, 2)]
    places = places.permute(order).flatten(spatial)
    values, order = x.permute(*range(first), *(first + i for i in order)).flatten(first + spatial).max(-1)
    return values, places.expand(*order.shape, -1).gather(-1, order.unsqueeze(-1)).squeeze(-1)


def adaptive_max_pooling_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    """Windows may overlap, so that an element gets the sum of those that chose it."""

    def gradient_of(gradient: torch.Tensor, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        images = torch.zeros_like(x).flatten(-spatial)
        return torch.scatter_add(images, -1, chosen.flatten(-spatial), gradient.flatten(-spatial)).reshape(x.shape)

    return gradient_of


def with_batch(operation: Callable[..., Any], spatial: int) -> Callable[..., Any]:
    """A pooling of one image without a batch, which torch-mlir has no form for, as a batch of one; one of integers,
    which ends the process there, in a type that holds them up to 2^53."""

    def of(x: torch.Tensor, *options: Any) -> Any:
        if not x.is_floating_point():
            made = operation(x.to(torch.float64), *options)
            return made.to(x.dtype) if isinstance(made, torch.Tensor) else (made[0].to(x.dtype), made[1])
        if x.ndim != spatial + 1:
            return NotImplemented
        made = operation(x.unsqueeze(0), *options)
        return made.squeeze(0) if isinstance(made, torch.Tensor) else tuple(each.squeeze(0) for each in made)

    return of
