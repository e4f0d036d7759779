"""ATen operations that torch-mlir has no linalg form for, in others that have one."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch

from ...errors import UnsupportedStep
from .ordering import cumulative, largest, sorted_along, stably_sorted

aten = torch.ops.aten


def squeezed(x: torch.Tensor, dimensions: list[int]) -> torch.Tensor:
    """aten.squeeze.dims: torch-mlir knows only the form with one dimension."""
    single = {dimension % x.ndim for dimension in dimensions if x.shape[dimension] == 1}
    return x.view([size for i, size in enumerate(x.shape) if i not in single])


def places_of(x: torch.Tensor, sizes: list[int], strides: list[int], start: int | None) -> torch.Tensor | None:
    """The places in a dense tensor that a view of its memory shows; none where it shows all in order."""
    if not x.is_contiguous() or x.storage_offset():
        raise UnsupportedStep("a view of memory by strides is not supported for a tensor that is not dense")
    dense, step = not start and math.prod(sizes) == x.numel(), 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        dense, step = dense and (size == 1 or stride == step), step * size
    if dense:
        return None
    places = torch.full(sizes, start or 0, dtype=torch.int64, device=x.device)
    for i, (size, stride) in enumerate(zip(sizes, strides)):
        along = [-1 if j == i else 1 for j in range(len(sizes))]
        places = places + (torch.arange(size, device=x.device) * stride).reshape(along)
    return places


def strided(x: torch.Tensor, sizes: list[int], strides: list[int], start: int | None = None) -> torch.Tensor:
    """aten.as_strided, by shape or by indices."""
    places = places_of(x, sizes, strides, start)
    return x.reshape(sizes) if places is None else torch.index_select(x.reshape(-1), 0, places.reshape(-1)).reshape(sizes)


def strided_scatter(
    x: torch.Tensor, part: torch.Tensor, sizes: list[int], strides: list[int], start: int | None = None
) -> torch.Tensor:
    """aten.as_strided_scatter: `x` with a view of its memory replaced."""
    places = places_of(x, sizes, strides, start)
    if places is None:
        return part.reshape(x.shape)
    return aten.index_put(x.reshape(-1), [places.reshape(-1)], part.reshape(-1)).reshape(x.shape)


def embedding_gradient(
    gradient: torch.Tensor, indices: torch.Tensor, count: int, padding: int, by_frequency: bool
) -> torch.Tensor:
    """The gradient of a table: each place adds its row to the row that it looked up."""
    if by_frequency:
        raise UnsupportedStep("an embedding that scales its gradient by frequency is not supported")
    if padding >= 0:
        gradient = torch.where((indices == padding)[..., None], torch.zeros_like(gradient), gradient)
    table = gradient.new_zeros(count, gradient.shape[-1])
    return aten.index_put(table, [indices.reshape(-1)], gradient.reshape(-1, gradient.shape[-1]), accumulate=True)


def scattered(x: torch.Tensor, dimension: int, index: torch.Tensor, value: float | torch.Tensor) -> torch.Tensor:
    """aten.scatter: elementwise for one number along the dimension, such as the gradient of labels' logits."""
    along = lambda count, i: torch.arange(count, device=x.device).reshape([-1 if i == j else 1 for j in range(x.ndim)])
    dimension %= x.ndim
    if list(index.shape) == [1 if i == dimension else size for i, size in enumerate(x.shape)]:
        return torch.where(along(x.shape[dimension], dimension) == index, value, x)
    if isinstance(value, torch.Tensor):
        value = value[tuple(slice(size) for size in index.shape)]
    else:
        value = torch.full(index.shape, value, dtype=x.dtype, device=x.device)
    places = [index if i == dimension else along(size, i).expand(index.shape) for i, size in enumerate(index.shape)]
    return aten.index_put(x, places, value)


def padded(x: torch.Tensor, padding: list[int], value: float = 0) -> Any:
    """aten.constant_pad_nd where it also takes elements away, which torch-mlir lowers to something else."""
    if min(padding, default=0) >= 0:
        return NotImplemented
    for i, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        size = x.shape[-1 - i]
        x = x.narrow(-1 - i, max(-low, 0), size + min(low, 0) + min(high, 0))
    return torch.constant_pad_nd(x, [max(side, 0) for side in padding], value)


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
        elements = torch.ones([1] * spatial, device=x.device)
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


def widened(x: torch.Tensor, strides: list[int]) -> torch.Tensor:
    """Zeros between the elements of the last dimensions, strides - 1 of them."""
    first = x.ndim - len(strides)
    for i, stride in enumerate(strides, first):
        shape = list(x.shape)
        x = torch.constant_pad_nd(x.unsqueeze(i + 1), [0, 0] * (x.ndim - 1 - i) + [0, stride - 1])
        x = x.reshape(*shape[:i], shape[i] * stride, *shape[i + 1 :]).narrow(i, 0, (shape[i] - 1) * stride + 1)
    return x


def convolution_gradients(
    gradient, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, wanted
) -> Any:
    """The gradients of a convolution in groups, as convolutions: torch-mlir has those of one group alone."""
    if groups == 1 or transposed:
        return NotImplemented
    spatial = x.ndim - 2
    outputs, inputs = weight.shape[0] // groups, weight.shape[1]
    kernel, placed = weight.shape[2:], list(range(2, 2 + spatial))
    of_x = of_weight = of_bias = None
    if wanted[0]:
        # From each output to the inputs that it was made of: the kernel reversed, inputs and outputs exchanged.
        flipped = weight.reshape(groups, outputs, inputs, *kernel).transpose(1, 2)
        flipped = flipped.reshape(groups * inputs, outputs, *kernel).flip(placed)
        spread = widened(gradient, stride)
        low = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding)]
        high = [n + d * (k - 1) - a - m for n, d, k, a, m in zip(x.shape[2:], dilation, kernel, low, spread.shape[2:])]
        spread = torch.constant_pad_nd(spread, [side for pair in zip(reversed(low), reversed(high)) for side in pair])
        of_x = aten.convolution(spread, flipped, None, [1] * spatial, [0] * spatial, dilation, False, [0] * spatial, groups)
    if wanted[1]:
        # Inputs and batch exchanged: the sum over the batch and all places.
        batch = x.shape[0]
        images = x.reshape(batch, groups, inputs, *x.shape[2:]).permute(2, 1, 0, *range(3, 3 + spatial))
        given = gradient.reshape(batch, groups, outputs, *gradient.shape[2:]).permute(1, 2, 0, *range(3, 3 + spatial))
        images = images.reshape(inputs, groups * batch, *x.shape[2:])
        given = given.reshape(groups * outputs, batch, *gradient.shape[2:])
        of_weight = aten.convolution(images, given, None, dilation, padding, stride, False, [0] * spatial, groups)
        for i, k in zip(placed, kernel):
            of_weight = of_weight.narrow(i, 0, k)
        of_weight = of_weight.transpose(0, 1)
    if wanted[2]:
        of_bias = gradient.sum([0] + placed)
    return of_x, of_weight, of_bias


def shifted(x: torch.Tensor, count: int) -> torch.Tensor:
    """aten.__rshift__.Scalar, by a tensor."""
    return torch.bitwise_right_shift(x, torch.full_like(x, count))


def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    """aten.pow.Tensor_Scalar, by multiplication where the exponent is a small whole number."""
    if exponent in (1, 2, 3, 4):
        result = x
        for _ in range(int(exponent) - 1):
            result = result * x
        return result
    return torch.pow(x, torch.full_like(x, exponent))


OWN = {
    aten.__rshift__.Scalar: shifted,
    aten.as_strided.default: strided,
    aten.as_strided_scatter.default: strided_scatter,
    aten.avg_pool2d_backward.default: average_pooling_gradient(2),
    aten.avg_pool3d_backward.default: average_pooling_gradient(3),
    aten.constant_pad_nd.default: padded,
    aten.cumprod.default: cumulative(lambda x: x.prod(-1), 1),
    aten.cumsum.default: cumulative(lambda x: x.sum(-1), 0),
    aten.convolution_backward.default: convolution_gradients,
    aten.embedding_dense_backward.default: embedding_gradient,
    aten.max_pool2d_with_indices_backward.default: max_pooling_gradient(2),
    aten.max_pool3d_with_indices_backward.default: max_pooling_gradient(3),
    aten.pow.Tensor_Scalar: power,
    aten.scatter.src: scattered,
    aten.scatter.value: scattered,
    aten.sort.default: sorted_along,
    aten.sort.stable: stably_sorted,
    aten.squeeze.dims: squeezed,
    aten.topk.default: largest,
}
