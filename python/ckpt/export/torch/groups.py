"""Products whose rows, columns or terms belong to groups, as mixtures of experts take them.

`decompositions` lists the product by the ATen operation that it replaces, and `customs` for Hugging Face's. The sizes of
the groups are data, but each shape of a step is fixed. Rows go to blocks of one group each, about as many as there are
in a group, so that about twice the rows are multiplied (Gale et al., MegaBlocks, 2022).
"""

import torch

from ...errors import UnsupportedStep

Tensor = torch.Tensor
# Fewer groups take a product of all rows each, with zeros outside of the group: no blocks, and no copies of the matrices.
FEW_GROUPS = 4


class Blocks:
    """The blocks [blocks, rows of a block] of `count` rows in groups that end at `ends` [groups]; block and rows of no group are masked."""

    def __init__(self, count: int, ends: Tensor):
        groups = ends.shape[0]
        self.rows = max(-(-count // groups), 1)
        ends = ends.to(torch.int64)
        begins = torch.cat([torch.zeros_like(ends[:1]), ends[:-1]])
        last = torch.cumsum((ends - begins + self.rows - 1) // self.rows, 0)
        first = torch.cat([torch.zeros_like(last[:1]), last[:-1]])
        number = torch.arange(-(-count // self.rows) + groups, device=ends.device)
        group = (last[None, :] <= number[:, None]).sum(-1)
        self.group = torch.clamp(group, max=groups - 1)
        row = (begins[self.group] + (number - first[self.group]) * self.rows)[:, None] + torch.arange(self.rows, device=ends.device)
        self.is_filled = (row < ends[self.group][:, None]) & (group < groups)[:, None]
        self.row = torch.where(self.is_filled, row, torch.zeros_like(row))
        place = torch.arange(count, device=ends.device)
        group = (ends[None, :] <= place[:, None]).sum(-1)
        self.is_grouped = group < groups
        group = torch.clamp(group, max=groups - 1)
        inside = place - begins[group]
        self.place = torch.where(self.is_grouped, first[group] * self.rows + inside, torch.zeros_like(place))

    def split(self, x: Tensor) -> Tensor:
        """Rows [count, n] as [blocks, rows, n], with zeros where a block is not filled."""
        return torch.where(self.is_filled[..., None], x[self.row], torch.zeros((), dtype=x.dtype))

    def joined(self, x: Tensor) -> Tensor:
        """The inverse; rows behind the last group are zeros."""
        return torch.where(self.is_grouped[:, None], x.flatten(0, 1)[self.place], torch.zeros((), dtype=x.dtype))


def products_of_rows(x: Tensor, y: Tensor, ends: Tensor) -> Tensor:
    """Rows [rows, k] times the matrix of their group, of [groups, k, n]."""
    if len(y) <= FEW_GROUPS:
        group = (ends[None, :] <= torch.arange(len(x), device=x.device)[:, None]).sum(-1)
        return sum(torch.where((group == i)[:, None], x, torch.zeros_like(x)) @ y[i] for i in range(len(y)))
    blocks = Blocks(len(x), ends)
    return blocks.joined(torch.bmm(blocks.split(x), y[blocks.group]))


def products_of_terms(x: Tensor, y: Tensor, ends: Tensor) -> Tensor:
    """[m, terms] times [terms, n], summed by groups: [groups, m, n]."""
    groups = ends.shape[0]
    if groups <= FEW_GROUPS:
        group = (ends[None, :] <= torch.arange(len(y), device=x.device)[:, None]).sum(-1)
        return torch.stack([torch.where(group == i, x, torch.zeros_like(x)) @ y for i in range(groups)])
    blocks = Blocks(len(y), ends)
    products = torch.bmm(blocks.split(x.T).mT, blocks.split(y))
    return products.new_zeros(groups, *products.shape[1:]).index_add(0, blocks.group, products)


def products_of_groups(x: Tensor, y: Tensor, ends: Tensor | None = None, bias: Tensor | None = None, out_dtype: torch.dtype | None = None) -> Tensor:
    """aten._grouped_mm."""
    if bias is not None:
        raise UnsupportedStep("a product of groups with a bias is not supported")
    if ends is None:
        result = torch.bmm(x, y)
    elif x.ndim == 2:
        result = products_of_terms(x, y, ends) if y.ndim == 2 else products_of_rows(x, y, ends)
    else:
        result = products_of_rows(y.T, x.mT, ends).T
    return result.to(out_dtype or x.dtype)


def gradients_of_rows(x: Tensor, y: Tensor, ends: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Of a product of rows in groups, for both operands."""
    return products_of_rows(gradient, y.mT, ends), products_of_terms(x.T, gradient, ends)
