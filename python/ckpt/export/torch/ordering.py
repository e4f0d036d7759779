"""Cumulations, sorting and elements of a rank in a tensor, as plain reductions.

A cumulation reduces over the elements before it, in blocks of BLOCK; the totals of the blocks are cumulated likewise.
A sort counts for each element those that come before it, which is exact and stable: n * n operations for n elements,
none of which stands in memory. Results are dense, as PyTorch's are: views of them follow in the trace.
"""

from collections.abc import Callable

import torch

BLOCK = 32


def cumulated(x: torch.Tensor, reduced: Callable, identity: float) -> torch.Tensor:
    """Cumulates along the last dimension: `reduced` reduces it, and `identity` changes nothing."""
    count = x.shape[-1]
    blocks = -(-count // BLOCK) if count > BLOCK else 1
    size = BLOCK if blocks > 1 else count
    if blocks * size != count:
        x = torch.constant_pad_nd(x, [0, blocks * size - count], identity)
    x = x.reshape(*x.shape[:-1], blocks, size)
    places = torch.arange(size, device=x.device)
    before = places[None, :] <= places[:, None]
    neutral = torch.full((), identity, dtype=x.dtype, device=x.device)
    result = reduced(torch.where(before, x[..., None, :], neutral))
    if blocks > 1:
        totals = cumulated(result[..., -1], reduced, identity)
        # Before the first block there is nothing.
        totals = torch.constant_pad_nd(totals[..., :-1], [1, 0], identity)
        result = reduced(torch.stack([totals[..., None].expand_as(result), result], -1))
    return result.reshape(*x.shape[:-2], blocks * size).narrow(-1, 0, count)


def along(cumulate: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, dimension: int) -> torch.Tensor:
    """A function of the last dimension, along any other."""
    return cumulate(x.transpose(dimension, -1)).transpose(dimension, -1).contiguous() if x.ndim else x


def cumulative(reduced: Callable, identity: float) -> Callable[..., torch.Tensor]:
    """aten.cumsum and aten.cumprod."""

    def of(x: torch.Tensor, dimension: int, *, dtype: torch.dtype | None = None) -> torch.Tensor:
        whole = not (x.is_floating_point() or x.is_complex())
        x = x.to(dtype or (torch.int64 if whole else x.dtype))
        # Sums of integers have 64 bits.
        return along(lambda x: cumulated(x, reduced, identity), x, dimension).to(x.dtype)

    return of


def order_of(x: torch.Tensor, descending: bool) -> torch.Tensor:
    """The places of the last dimension's elements in their order, as int64: equal ones stay as they are,
    and numbers that are none are the largest, as in PyTorch."""
    count = x.shape[-1]
    places = torch.arange(count, device=x.device)
    mine, other = x[..., :, None], x[..., None, :]
    less = other > mine if descending else other < mine
    equal = other == mine
    if x.is_floating_point():
        mine_is_none, other_is_none = mine != mine, other != other
        first, last = (other_is_none, mine_is_none) if descending else (mine_is_none, other_is_none)
        less = less | (first & ~last)
        equal = equal | (mine_is_none & other_is_none)
    before = less | equal & (places[None, :] < places[:, None])
    ranks = before.to(torch.int64).sum(-1)
    return torch.where(ranks[..., None, :] == places[:, None], places, torch.zeros_like(places)).sum(-1)


def taken(x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return torch.gather(x, -1, order)


def sorted_along(x: torch.Tensor, dimension: int = -1, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """aten.sort: values and their places."""
    if x.ndim == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    last = x.transpose(dimension, -1)
    order = order_of(last, descending)
    return taken(last, order).transpose(dimension, -1).contiguous(), order.transpose(dimension, -1).contiguous()


def stably_sorted(
    x: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    return sorted_along(x, dim, descending)


def largest(
    x: torch.Tensor, count: int, dimension: int = -1, largest: bool = True, in_order: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """aten.topk."""
    values, order = sorted_along(x, dimension, largest)
    if x.ndim == 0:
        return values, order
    return values.narrow(dimension, 0, count).contiguous(), order.narrow(dimension, 0, count).contiguous()


def ranked(x: torch.Tensor, rank: int, dimension: int = -1, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """aten.kthvalue: the smallest element for rank 1, and its place."""
    pair = sorted_along(x, dimension)
    if x.ndim == 0:
        return pair
    pair = tuple(each.narrow(dimension, rank - 1, 1) for each in pair)
    return pair if keepdim else tuple(each.squeeze(dimension) for each in pair)


def places_among(
    sequence: torch.Tensor, values: torch.Tensor | float, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """aten.searchsorted: how many elements of a sorted last dimension come before each value."""
    values = values if isinstance(values, torch.Tensor) else torch.full((), values, dtype=sequence.dtype, device=sequence.device)
    sequence = sequence if sorter is None else taken(sequence, sorter)
    mine = values[..., None]
    if sequence.ndim > 1:
        sequence = sequence[..., None, :]
    # Numbers that are none come last.
    before = ~(sequence > mine if right or side == "right" else sequence >= mine)
    return before.to(torch.int64).sum(-1).to(torch.int32 if out_int32 else torch.int64)


def repeated_places(counts: torch.Tensor, *, output_size: int) -> torch.Tensor:
    """aten.repeat_interleave.Tensor: the place of each element as often as its count says."""
    return places_among(counts.cumsum(0), torch.arange(output_size, device=counts.device), right=True).to(counts.dtype)


def middle(ignores_none: bool) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """aten.median and aten.nanmedian along a dimension: the lower one of two middles. Numbers that are none come
    last; where there are any, they are the median, or do not count."""

    def of(x: torch.Tensor, dimension: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        if x.ndim == 0:
            return sorted_along(x)
        values, order = sorted_along(x, dimension)
        count, none = x.shape[dimension], (x != x).to(torch.int64).sum(dimension, keepdim=True)
        if ignores_none:
            place = torch.clamp((count - none - 1) // 2, min=0)
        else:
            place = torch.where(none > 0, count - none, torch.full_like(none, (count - 1) // 2))
        pair = torch.gather(values, dimension, place), torch.gather(order, dimension, place)
        return pair if keepdim else tuple(each.squeeze(dimension) for each in pair)

    return of


def middle_of_all(ignores_none: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: middle(ignores_none)(x.flatten(), 0)[0]


def extreme(is_largest: bool) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """aten.max and aten.min along a dimension: torch-mlir passes over numbers that are none, which come first."""
    reduced = torch.amax if is_largest else torch.amin

    def of(x: torch.Tensor, dimension: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        if x.ndim == 0:
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        if not x.is_floating_point():
            return NotImplemented
        values = reduced(x, dimension, keepdim=True)
        count = x.shape[dimension]
        places = torch.arange(count, device=x.device).reshape([-1 if i == dimension % x.ndim else 1 for i in range(x.ndim)])
        stands = (x == values) | ((x != x) & (values != values))
        order = torch.where(stands, places, torch.full_like(places, count)).amin(dimension, keepdim=True)
        return (values, order) if keepdim else (values.squeeze(dimension), order.squeeze(dimension))

    return of


def extreme_of_one(x: torch.Tensor, dimensions: list[int] = (), keepdim: bool = False) -> torch.Tensor:
    """aten.amax and aten.amin of a tensor without dimensions, which torch-mlir does not know."""
    return NotImplemented if x.ndim else x.clone()


def is_true_of_one(x: torch.Tensor, dimension: int, keepdim: bool = False) -> torch.Tensor:
    """aten.all.dim and aten.any.dim, likewise."""
    return NotImplemented if x.ndim else x.to(torch.bool)


def place_of_extreme(is_largest: bool) -> Callable[..., torch.Tensor]:
    """aten.argmax and aten.argmin, likewise."""

    def of(x: torch.Tensor, dimension: int | None = None, keepdim: bool = False) -> torch.Tensor:
        if dimension is None and x.ndim:
            place = of(x.flatten(), 0)
            return NotImplemented if place is NotImplemented else place.reshape([1] * x.ndim if keepdim else [])
        pair = extreme(is_largest)(x, dimension, keepdim)
        return pair if pair is NotImplemented else pair[1]

    return of


def extremes(is_largest: bool) -> Callable[[torch.Tensor, int], tuple[torch.Tensor, torch.Tensor]]:
    """aten.cummax and aten.cummin: the extreme of the elements up to each one, and the last place where it stands."""
    reduced = (lambda x: x.amax(-1)) if is_largest else (lambda x: x.amin(-1))

    def of(x: torch.Tensor, dimension: int) -> tuple[torch.Tensor, torch.Tensor]:
        if x.ndim == 0:
            return x.clone(), torch.zeros_like(x, dtype=torch.int64)
        if x.dtype == torch.bool:
            values, order = of(x.to(torch.int32), dimension)
            return values.to(torch.bool), order
        last = x.transpose(dimension, -1)
        bounds = (-torch.inf, torch.inf) if x.is_floating_point() else (torch.iinfo(x.dtype).min, torch.iinfo(x.dtype).max)
        values = cumulated(last, reduced, bounds[0 if is_largest else 1])
        places = torch.arange(last.shape[-1], device=x.device)
        mine, other = values[..., :, None], last[..., None, :]
        stands = (other == mine) | ((other != other) & (mine != mine))
        stands = stands & (places[None, :] <= places[:, None])
        order = torch.where(stands, places, torch.zeros_like(places)).amax(-1)
        return values.transpose(dimension, -1).contiguous(), order.transpose(dimension, -1).contiguous()

    return of


def log_of_summed_exponentials(x: torch.Tensor, dimension: int) -> torch.Tensor:
    """aten.logcumsumexp: each sum relative to its own largest term."""

    def of(last: torch.Tensor) -> torch.Tensor:
        places = torch.arange(last.shape[-1], device=x.device)
        least = torch.full((), -torch.inf, dtype=x.dtype, device=x.device)
        terms = torch.where(places[None, :] <= places[:, None], last[..., None, :], least)
        largest = terms.amax(-1, keepdim=True)
        largest = torch.where(torch.isinf(largest), torch.zeros_like(largest), largest)
        return torch.log(torch.exp(terms - largest).sum(-1)) + largest.squeeze(-1)

    return along(of, x, dimension)
