"""ATen operations that torch-mlir has no linalg form for, in others that have one."""

import math
from collections.abc import Callable
from typing import Any

import torch

from ...errors import UnsupportedStep
from . import comparisons, pooling, special
from .ordering import (
    cumulative,
    extreme,
    extremes,
    largest,
    log_of_summed_exponentials,
    middle,
    middle_of_all,
    place_of_extreme,
    ranked,
    sorted_along,
    stably_sorted,
)

aten = torch.ops.aten


def squeezed(x: torch.Tensor, dimensions: list[int]) -> torch.Tensor:
    """aten.squeeze.dims: torch-mlir knows only the form with one dimension."""
    single = {dimension % x.ndim for dimension in dimensions if x.shape[dimension] == 1}
    return x.view([size for i, size in enumerate(x.shape) if i not in single])


def viewed(x: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """aten.view of a tensor that has other strides than in the step: decompositions, PyTorch's own as well, keep shapes alone."""
    return NotImplemented if x.is_contiguous() else x.contiguous().view(sizes)


def looked_up(x: torch.Tensor, indices: list[torch.Tensor | None]) -> torch.Tensor:
    """aten.index, with indices of 64 bits."""
    if all(index is None or index.dtype != torch.int32 for index in indices):
        return NotImplemented
    return aten.index(x, [index.to(torch.int64) if index is not None and index.dtype == torch.int32 else index for index in indices])


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


def scattered_sums(x: torch.Tensor, dimension: int, index: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """aten.scatter_add along a dimension that is counted from the last one, where torch-mlir ends the process."""
    return torch.scatter_add(x, dimension % x.ndim, index, value) if dimension < 0 else NotImplemented


def scatter_reduced(
    x: torch.Tensor, dimension: int, index: torch.Tensor, value: torch.Tensor, reduction: str, *, include_self: bool = True
) -> torch.Tensor:
    """aten.scatter_reduce, likewise."""
    if dimension >= 0:
        return NotImplemented
    return torch.scatter_reduce(x, dimension % x.ndim, index, value, reduction, include_self=include_self)


def put(x: torch.Tensor, indices: list[torch.Tensor | None], values: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """aten.index_put with indices of 64 bits from the first element on, of dimensions that follow each other:
    torch-mlir drops what is written at an index that is counted from the end."""
    indexed = [i for i, index in enumerate(indices) if index is not None]
    if any(indices[i].dtype in (torch.bool, torch.uint8) for i in indexed):
        return NotImplemented
    if indexed != list(range(indexed[0], indexed[-1] + 1)):
        # Dimensions of the indices come first in the values then.
        order = indexed + [i for i in range(x.ndim) if i not in indexed]
        whole = aten.index_put(x.permute(order), [indices[i] for i in indexed], values, accumulate)
        return whole.permute([order.index(i) for i in range(x.ndim)])
    first = lambda index, size: torch.where(index < 0, index + size, index)
    places = [None if index is None else first(index.to(torch.int64), size) for index, size in zip(indices, x.shape)]
    return aten._index_put_impl(x, places, values, accumulate)


def padded(x: torch.Tensor, padding: list[int], value: float = 0) -> Any:
    """aten.constant_pad_nd where it also takes elements away, which torch-mlir lowers to something else."""
    if min(padding, default=0) >= 0:
        return NotImplemented
    for i, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        size = x.shape[-1 - i]
        x = x.narrow(-1 - i, max(-low, 0), size + min(low, 0) + min(high, 0))
    return torch.constant_pad_nd(x, [max(side, 0) for side in padding], value)


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
    if transposed:
        return transposed_convolution_gradients(
            gradient, x, weight, bias_sizes, stride, padding, dilation, output_padding, groups, wanted
        )
    if groups == 1:
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


def transposed_convolution_gradients(
    gradient, x, weight, bias_sizes, stride, padding, dilation, output_padding, groups, wanted
) -> Any:
    """A transposed convolution takes its inputs to where a convolution with the same weight takes them from."""
    spatial = x.ndim - 2
    of_x = of_weight = of_bias = None
    if wanted[0]:
        of_x = aten.convolution(gradient, weight, None, stride, padding, dilation, False, [0] * spatial, groups)
    if wanted[1]:
        _, of_weight, _ = aten.convolution_backward(
            x, gradient, weight, None, stride, padding, dilation, False, [0] * spatial, groups, [False, True, False]
        )
    if wanted[2]:
        of_bias = gradient.sum([0, *range(2, 2 + spatial)])
    return of_x, of_weight, of_bias


def replicated_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    """The gradient of padding by the nearest element: what is outside belongs to the first and the last one."""

    def gradient_of(gradient: torch.Tensor, x: torch.Tensor, padding: list[int]) -> torch.Tensor:
        if min(padding) < 0:
            raise UnsupportedStep("padding that takes elements away is not supported with the nearest element")
        for i, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
            dimension, size = x.ndim - 1 - i, x.shape[-1 - i]
            before, inside, after = gradient.split([low, size, high], dimension)
            edge = lambda part: part.sum(dimension, keepdim=True)
            inner = [0, 0] * i
            if low:
                inside = inside + torch.constant_pad_nd(edge(before), [*inner, 0, size - 1])
            if high:
                inside = inside + torch.constant_pad_nd(edge(after), [*inner, size - 1, 0])
            gradient = inside
        return gradient

    return gradient_of


def rolled(x: torch.Tensor, shifts: list[int], dimensions: list[int] = ()) -> torch.Tensor:
    """aten.roll, as two parts that change places."""
    if not dimensions:
        return rolled(x.flatten(), shifts, [0]).reshape(x.shape)
    for shift, dimension in zip(shifts, dimensions):
        count = shift % max(1, x.shape[dimension])
        if count:
            first, last = x.split([x.shape[dimension] - count, count], dimension)
            x = torch.cat([last, first], dimension)
    # Dense, as PyTorch's is: views of it follow in the trace.
    return x.contiguous()


def diagonal_gradient(gradient: torch.Tensor, sizes: list[int], offset: int, first: int, second: int) -> torch.Tensor:
    """aten.diagonal_backward: elementwise, as each row has at most one element of the diagonal."""
    first, second = first % len(sizes), second % len(sizes)
    along = lambda size, i: torch.arange(size, device=gradient.device).reshape([-1 if i == j else 1 for j in range(len(sizes))])
    row, column = along(sizes[first], first), along(sizes[second], second)
    # The diagonal, from its row onwards and in the place of the columns.
    low = max(0, -offset)
    rows = torch.constant_pad_nd(gradient, [low, sizes[first] - low - gradient.shape[-1]]).unsqueeze(-1)
    rows = rows.movedim([-2, -1], [first, second])
    return torch.where(column - row == offset, rows, torch.zeros_like(rows))


def zeros_of_tangent(x: torch.Tensor, other: torch.Tensor, *, self_num_batch_dims: int = 0) -> torch.Tensor:
    """aten._new_zeros_with_same_feature_meta: of forward differentiation."""
    return torch.zeros([*x.shape[:self_num_batch_dims], *other.shape], dtype=other.dtype, device=other.device)


def copied_sign(x: torch.Tensor, sign: torch.Tensor) -> torch.Tensor:
    return torch.where(is_negative(sign), -x.abs(), x.abs())


def hypotenuse(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """aten.hypot, without squares that overflow."""
    long, short = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    ratio = torch.where((long == 0) | torch.isinf(long), torch.zeros_like(long), short / long)
    return long * torch.sqrt(1 + ratio * ratio)


def remainder_of(x: torch.Tensor, divisor: float) -> torch.Tensor:
    """aten.fmod.Scalar, by a tensor."""
    return torch.fmod(x, torch.full_like(x, divisor))


def product_added(x: torch.Tensor, matrix: torch.Tensor, vector: torch.Tensor, beta: float = 1, alpha: float = 1) -> torch.Tensor:
    return beta * x + alpha * torch.mv(matrix, vector)


def histogram(x: torch.Tensor, bins: int = 100, least: float = 0, most: float = 0) -> torch.Tensor:
    """aten.histc: of bins of one size, between the extremes of the data where both bounds are the same."""
    x = x.flatten()
    low, high = (x.amin(), x.amax()) if least == most else (torch.full((), each, dtype=x.dtype) for each in (least, most))
    # Equal data lie in the middle of a range of two.
    low, high = torch.where(low == high, low - 1, low), torch.where(low == high, high + 1, high)
    place = torch.clamp(((x - low) * bins / (high - low)).to(torch.int64), max=bins - 1)
    place = torch.where((x >= low) & (x <= high), place, torch.full_like(place, -1))
    return (place == torch.arange(bins, device=x.device)[:, None]).sum(-1).to(x.dtype)


def products_of_groups(
    x: torch.Tensor, y: torch.Tensor, ends: torch.Tensor | None = None, bias: torch.Tensor | None = None, out_dtype: torch.dtype | None = None
) -> torch.Tensor:
    """aten._grouped_mm: rows, columns or terms of a product belong to groups that end at `ends`. A product for each
    group, of all of them with zeros outside of the group: the sizes of the groups are data."""
    if bias is not None:
        raise UnsupportedStep("a product of groups with a bias is not supported")
    if ends is None:
        return torch.bmm(x, y).to(out_dtype or x.dtype)
    count = ends.shape[0]
    grouped = x.shape[-1] if x.ndim == y.ndim else x.shape[0] if x.ndim == 2 else y.shape[1]
    group = (ends[None, :] <= torch.arange(grouped, device=x.device)[:, None]).sum(-1)
    of = lambda i, part, shape: torch.where((group == i).reshape(shape), part, torch.zeros_like(part))
    if x.ndim == y.ndim:
        result = torch.stack([of(i, x, [1, -1]) @ y for i in range(count)])
    elif x.ndim == 2:
        result = sum(of(i, x, [-1, 1]) @ y[i] for i in range(count))
    else:
        result = sum(x[i] @ of(i, y, [1, -1]) for i in range(count))
    return result.to(out_dtype or x.dtype)


def weight_norm_gradients(
    gradient: torch.Tensor, direction: torch.Tensor, length: torch.Tensor, norms: torch.Tensor, dimension: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of weights that are a direction of a length: the gradients of both."""
    others = [i for i in range(direction.ndim) if i != dimension % direction.ndim]
    along = (gradient * direction).sum(others, keepdim=True) / norms
    return length / norms * (gradient - direction * along / norms), along


def reversed_difference(x: torch.Tensor, number: float, factor: float = 1) -> torch.Tensor:
    """aten.rsub.Scalar, by a tensor: torch-mlir gives a number in front 32 bits."""
    first = torch.full((), number, dtype=torch.result_type(x, number), device=x.device)
    return first - (x if factor == 1 else factor * x)


def of_bits(operation: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """An operation on bits with a number, by a tensor."""

    def of(x: torch.Tensor, number: int) -> torch.Tensor:
        dtype = torch.result_type(x, number)
        return operation(x.to(dtype), torch.full((), number, dtype=dtype, device=x.device))

    return of


def shifted(x: torch.Tensor, count: int) -> torch.Tensor:
    """aten.__rshift__.Scalar, by a tensor."""
    return torch.bitwise_right_shift(x, torch.full_like(x, count))


def is_negative(x: torch.Tensor) -> torch.Tensor:
    """aten.signbit."""
    return (x < 0) | ((x == 0) & (x.reciprocal() < 0)) if x.is_floating_point() else x < 0


def half_turn(x: torch.Tensor) -> torch.Tensor:
    """aten.angle of real numbers."""
    if x.is_complex():
        return NotImplemented
    wide = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    turned = torch.where(wide < 0, torch.full_like(wide, math.pi), torch.zeros_like(wide))
    return torch.where(wide != wide, wide, turned)


def diagonal_replaced(x: torch.Tensor, part: torch.Tensor, offset: int = 0, first: int = 0, second: int = 1) -> torch.Tensor:
    """aten.diagonal_scatter."""
    spread = lambda part: diagonal_gradient(part, list(x.shape), offset, first, second)
    return torch.where(spread(torch.ones_like(part)) != 0, spread(part), x)


def put_flat(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """aten.put: at places of the flattened tensor."""
    places = index.flatten()
    places = torch.where(places < 0, places + x.numel(), places)
    return aten.index_put(x.flatten(), [places], source.flatten(), accumulate).reshape(x.shape)


def masked_filled_in_order(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """aten.masked_scatter: where the mask holds, the next element of the source."""
    mask = mask.expand(x.shape)
    places = torch.clamp(mask.flatten().to(torch.int64).cumsum(0) - 1, min=0)
    return torch.where(mask, source.flatten().index_select(0, places).reshape(x.shape), x)


def gathered_in_order(gradient: torch.Tensor, mask: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """aten.masked_scatter_backward: of the source, whose elements were taken in order."""
    mask = mask.expand(gradient.shape).flatten()
    places = torch.clamp(mask.to(torch.int64).cumsum(0) - 1, min=0)
    given = torch.where(mask, gradient.flatten(), torch.zeros_like(gradient.flatten()))
    return aten.index_put(gradient.new_zeros(math.prod(sizes)), [places], given, accumulate=True).reshape(sizes)


def index_reduced(
    x: torch.Tensor, dimension: int, index: torch.Tensor, source: torch.Tensor, reduction: str, *, include_self: bool = True
) -> torch.Tensor:
    """aten.index_reduce, as a scatter."""
    places = index.reshape([-1 if i == dimension % x.ndim else 1 for i in range(x.ndim)]).expand(source.shape)
    return torch.scatter_reduce(x, dimension % x.ndim, places, source, reduction, include_self=include_self)


ROOTS = {0.5: torch.sqrt, -0.5: torch.rsqrt, -1: torch.reciprocal, -2: lambda x: torch.reciprocal(x * x)}


def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    """aten.pow.Tensor_Scalar, as PyTorch takes apart some exponents."""
    if x.is_complex() or isinstance(exponent, complex):
        return NotImplemented
    x = x.to(torch.result_type(x, exponent))
    if exponent in (1, 2, 3, 4):
        result = x
        for _ in range(int(exponent) - 1):
            result = result * x
        return result
    if x.is_floating_point() and exponent in ROOTS:
        return ROOTS[exponent](x)
    return torch.pow(x, torch.full_like(x, exponent))


OWN = {
    **comparisons.OWN,
    aten.__rshift__.Scalar: shifted,
    aten._adaptive_avg_pool2d.default: pooling.adaptive_average_pooling,
    aten._adaptive_avg_pool2d_backward.default: pooling.adaptive_average_pooling_gradient(2),
    aten._adaptive_avg_pool3d.default: pooling.adaptive_average_pooling,
    aten._adaptive_avg_pool3d_backward.default: pooling.adaptive_average_pooling_gradient(3),
    aten._grouped_mm.default: products_of_groups,
    aten._new_zeros_with_same_feature_meta.default: zeros_of_tangent,
    aten._weight_norm_interface_backward.default: weight_norm_gradients,
    aten.adaptive_max_pool2d.default: pooling.with_batch(aten.adaptive_max_pool2d, 2),
    aten.adaptive_max_pool2d_backward.default: pooling.adaptive_max_pooling_gradient,
    aten.addmv.default: product_added,
    aten.angle.default: half_turn,
    aten.argmax.default: place_of_extreme(True),
    aten.argmin.default: place_of_extreme(False),
    aten.as_strided.default: strided,
    aten.as_strided_scatter.default: strided_scatter,
    aten.avg_pool1d.default: pooling.with_batch(aten.avg_pool1d, 1),
    aten.avg_pool2d.default: pooling.with_batch(aten.avg_pool2d, 2),
    aten.avg_pool2d_backward.default: pooling.average_pooling_gradient(2),
    aten.avg_pool3d.default: pooling.with_batch(aten.avg_pool3d, 3),
    aten.avg_pool3d_backward.default: pooling.average_pooling_gradient(3),
    aten.bitwise_or.Scalar: of_bits(torch.bitwise_or),
    aten.bitwise_xor.Scalar: of_bits(torch.bitwise_xor),
    aten.constant_pad_nd.default: padded,
    aten.convolution_backward.default: convolution_gradients,
    aten.copysign.Tensor: copied_sign,
    aten.cummax.default: extremes(True),
    aten.cummin.default: extremes(False),
    aten.cumprod.default: cumulative(lambda x: x.prod(-1), 1),
    aten.cumsum.default: cumulative(lambda x: x.sum(-1), 0),
    aten.diagonal_backward.default: diagonal_gradient,
    aten.diagonal_scatter.default: diagonal_replaced,
    aten.digamma.default: special.digamma,
    aten.embedding_dense_backward.default: embedding_gradient,
    aten.empty_permuted.default: lambda size, order, **options: torch.empty(size, **options),
    aten.erfc.default: special.complementary_error,
    aten.erfinv.default: special.inverse_error,
    aten.fmod.Scalar: remainder_of,
    aten.histc.default: histogram,
    aten.hypot.default: hypotenuse,
    aten.index.Tensor: looked_up,
    aten.index_put.default: put,
    aten.index_reduce.default: index_reduced,
    aten.kthvalue.default: ranked,
    aten.lgamma.default: special.log_gamma,
    aten.logcumsumexp.default: log_of_summed_exponentials,
    aten.masked_scatter.default: masked_filled_in_order,
    aten.masked_scatter_backward.default: gathered_in_order,
    aten.max.dim: extreme(True),
    aten.max_pool2d_with_indices.default: pooling.with_batch(aten.max_pool2d_with_indices, 2),
    aten.max_pool2d_with_indices_backward.default: pooling.max_pooling_gradient(2),
    aten.max_pool3d_with_indices.default: pooling.with_batch(aten.max_pool3d_with_indices, 3),
    aten.max_pool3d_with_indices_backward.default: pooling.max_pooling_gradient(3),
    aten.median.default: middle_of_all(False),
    aten.median.dim: middle(False),
    aten.min.dim: extreme(False),
    aten.nanmedian.default: middle_of_all(True),
    aten.nanmedian.dim: middle(True),
    aten.new_empty_strided.default: lambda x, sizes, strides, **options: x.new_empty(sizes, **options),
    aten.polygamma.default: special.polygamma,
    aten.pow.Tensor_Scalar: power,
    aten.put.default: put_flat,
    aten.replication_pad1d_backward.default: replicated_gradient(1),
    aten.replication_pad2d_backward.default: replicated_gradient(2),
    aten.replication_pad3d_backward.default: replicated_gradient(3),
    aten.roll.default: rolled,
    aten.rsub.Scalar: reversed_difference,
    aten.scatter.src: scattered,
    aten.scatter.value: scattered,
    aten.scatter_add.default: scattered_sums,
    aten.scatter_reduce.two: scatter_reduced,
    aten.signbit.default: is_negative,
    aten.sort.default: sorted_along,
    aten.sort.stable: stably_sorted,
    aten.squeeze.dims: squeezed,
    aten.topk.default: largest,
    aten.view.default: viewed,
}
