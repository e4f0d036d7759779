"""Elements at indices, strides, masks and diagonals, read and written, in forms that torch-mlir has.

`decompositions` lists them by the ATen operations that they replace.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

from ...errors import UnsupportedStep

aten = torch.ops.aten


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


def with_dimension(operation: Callable[..., torch.Tensor], form: Callable[..., Any] = lambda *_, **__: NotImplemented) -> Callable[..., torch.Tensor]:
    """An operation along a dimension whose operands may have none: then each of them has one element."""

    def of(x: torch.Tensor, dimension: int, index: torch.Tensor, *others: Any, **options: Any) -> Any:
        if x.ndim:
            return form(x, dimension, index, *others, **options)
        others = [each.reshape(1) if isinstance(each, torch.Tensor) and not each.ndim else each for each in others]
        made = operation(x.reshape(1), 0, index.reshape(-1), *others, **options)
        return made.reshape(index.shape if operation == aten.gather else [])

    return of


def of_booleans(operation: Callable[..., torch.Tensor], form: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """An operation that adds up booleans as numbers, of which zero alone is false."""

    def of(x: torch.Tensor, *others: Any, **options: Any) -> Any:
        if x.dtype != torch.bool:
            return form(x, *others, **options)
        numbers = [each.to(torch.int32) if isinstance(each, torch.Tensor) and each.dtype == torch.bool else each for each in others]
        return operation(x.to(torch.int32), *numbers, **options) != 0

    return of


def looked_up(x: torch.Tensor, indices: list[torch.Tensor | None]) -> torch.Tensor:
    """aten.index, with indices of 64 bits."""
    if all(index is None or index.dtype != torch.int32 for index in indices):
        return NotImplemented
    return aten.index(x, [index.to(torch.int64) if index is not None and index.dtype == torch.int32 else index for index in indices])


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


def reduced_by_scatter(x: torch.Tensor, dimension: int, index: torch.Tensor, value: float | torch.Tensor, *, reduce: str) -> torch.Tensor:
    """aten.scatter.reduce, under its other name."""
    value = value if isinstance(value, torch.Tensor) else torch.full(index.shape, value, dtype=x.dtype, device=x.device)
    return torch.scatter_reduce(x, dimension, index, value, {"add": "sum", "multiply": "prod"}[reduce])


def scattered_sums(x: torch.Tensor, dimension: int, index: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """aten.scatter_add along a dimension that is counted from the last one, where torch-mlir ends the process."""
    return torch.scatter_add(x, dimension % x.ndim, index, value) if dimension < 0 else NotImplemented


def scatter_reduced(
    x: torch.Tensor, dimension: int, index: torch.Tensor, value: torch.Tensor, reduction: str, *, include_self: bool = True
) -> torch.Tensor:
    """aten.scatter_reduce, likewise; means of integers are rounded down."""
    if reduction == "mean" and not x.is_floating_point():
        totals = lambda start, part: torch.scatter_reduce(start, dimension, index, part, "sum", include_self=include_self)
        return torch.div(totals(x, value), totals(torch.ones_like(x), torch.ones_like(value)), rounding_mode="floor")
    if dimension >= 0:
        return NotImplemented
    return torch.scatter_reduce(x, dimension % x.ndim, index, value, reduction, include_self=include_self)


def put(x: torch.Tensor, indices: list[torch.Tensor | None], values: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """aten.index_put with indices of 64 bits from the first element on, of dimensions that follow each other:
    torch-mlir drops what is written at an index that is counted from the end."""
    indexed = [i for i, index in enumerate(indices) if index is not None]
    if any(indices[i].dtype in (torch.bool, torch.uint8) for i in indexed):
        return put_in_order(x, indices[0], values, accumulate) if indexed == [0] else NotImplemented
    if indexed != list(range(indexed[0], indexed[-1] + 1)):
        # Dimensions of the indices come first in the values then.
        order = indexed + [i for i in range(x.ndim) if i not in indexed]
        whole = aten.index_put(x.permute(order), [indices[i] for i in indexed], values, accumulate)
        return whole.permute([order.index(i) for i in range(x.ndim)])
    first = lambda index, size: torch.where(index < 0, index + size, index)
    places = [None if index is None else first(index.to(torch.int64), size) for index, size in zip(indices, x.shape)]
    return aten._index_put_impl(x, places, values, accumulate)


def put_in_order(x: torch.Tensor, mask: torch.Tensor, values: torch.Tensor, accumulate: bool) -> torch.Tensor:
    """aten.index_put with a mask of the first dimensions: the rows of the values in the order of the mask's."""
    mask, rest = mask.to(torch.bool), x.shape[mask.ndim :]
    values = values.expand(values.shape[0] if values.ndim > len(rest) else 1, *rest)
    places = torch.clamp(mask.flatten().to(torch.int64).cumsum(0) - 1, min=0, max=values.shape[0] - 1)
    rows = values.index_select(0, places).reshape(x.shape)
    return torch.where(mask.reshape(*mask.shape, *[1] * len(rest)), x + rows if accumulate else rows, x)


def put_flat(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """aten.put: at places of the flattened tensor."""
    places = index.flatten()
    places = torch.where(places < 0, places + x.numel(), places)
    return aten.index_put(x.flatten(), [places], source.flatten(), accumulate).reshape(x.shape)


def index_reduced(
    x: torch.Tensor, dimension: int, index: torch.Tensor, source: torch.Tensor, reduction: str, *, include_self: bool = True
) -> torch.Tensor:
    """aten.index_reduce, as a scatter."""
    places = index.reshape([-1 if i == dimension % x.ndim else 1 for i in range(x.ndim)]).expand(source.shape)
    return torch.scatter_reduce(x, dimension % x.ndim, places, source, reduction, include_self=include_self)


def masked_filled_in_order(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """aten.masked_scatter: where the mask holds, the next element of the source."""
    x, mask = torch.broadcast_tensors(x, mask)
    places = torch.clamp(mask.flatten().to(torch.int64).cumsum(0) - 1, min=0)
    return torch.where(mask, source.flatten().index_select(0, places).reshape(x.shape), x)


def gathered_in_order(gradient: torch.Tensor, mask: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """aten.masked_scatter_backward: of the source, whose elements were taken in order."""
    mask = mask.expand(gradient.shape).flatten()
    places = torch.clamp(mask.to(torch.int64).cumsum(0) - 1, min=0)
    given = torch.where(mask, gradient.flatten(), torch.zeros_like(gradient.flatten()))
    return aten.index_put(gradient.new_zeros(math.prod(sizes)), [places], given, accumulate=True).reshape(sizes)


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


def diagonal_replaced(x: torch.Tensor, part: torch.Tensor, offset: int = 0, first: int = 0, second: int = 1) -> torch.Tensor:
    """aten.diagonal_scatter."""
    spread = lambda part: diagonal_gradient(part, list(x.shape), offset, first, second)
    return torch.where(spread(torch.ones_like(part)) != 0, spread(part), x)
