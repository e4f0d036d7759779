"""Cumulative sums and products, sorting and the largest elements of a tensor, as plain reductions.

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
        return along(lambda x: cumulated(x, reduced, identity), x, dimension)

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
    return values.narrow(dimension, 0, count).contiguous(), order.narrow(dimension, 0, count).contiguous()
