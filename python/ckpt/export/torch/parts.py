"""Functions that PyTorch has kernels for, forward and backward, as parts that autograd differentiates itself.

`tracing.Origins` calls them in the place of PyTorch's while a step is traced. Parts for single operations of the
traced graph, behind autograd, are in `decompositions`.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from ...errors import UnsupportedStep


def with_no_gradient(result: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """`result`, whose gradient with respect to `x` is zero: autograd refuses to differentiate by what it does not depend on."""
    nothing = torch.where(torch.ones_like(x, dtype=torch.bool), torch.zeros_like(x), x)
    return result + nothing.sum().to(result.dtype)


def length_of(difference: torch.Tensor, power: float) -> torch.Tensor:
    """The norm of the last dimension. As in PyTorch, the gradient at no distance is zero."""
    size = difference.abs()
    if power == 0:
        return with_no_gradient((size != 0).to(size.dtype).sum(-1), size)
    if power == 1:
        return size.sum(-1)
    if math.isinf(power):
        return size.amax(-1)
    total = (size * size if power == 2 else size**power).sum(-1)
    is_none = total == 0
    root = torch.where(is_none, torch.ones_like(total), total) ** (1 / power)
    return torch.where(is_none, torch.zeros_like(total), root)


def distances(x1: torch.Tensor, x2: torch.Tensor, p: float = 2.0, compute_mode: Any = None) -> torch.Tensor:
    """torch.cdist: of each row of `x1` [..., m, k] from each row of `x2` [..., n, k]."""
    return length_of(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def distances_of_pairs(x: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """torch.pdist: of each row of `x` [n, k] from each later one."""
    first, second = torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)
    return length_of(x.index_select(0, first) - x.index_select(0, second), p)


def distance(x: torch.Tensor, other: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """torch.dist."""
    return length_of((x - other).flatten(), p)


def gaussian_loss(
    input: torch.Tensor, target: torch.Tensor, var: torch.Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> torch.Tensor:
    """torch.nn.functional.gaussian_nll_loss, without the check that no variance is negative."""
    if isinstance(var, float):
        var = var * torch.ones_like(input)
    if var.shape != input.shape and input.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    bounded = var + (var.detach().clamp(min=eps) - var.detach())
    loss = 0.5 * (torch.log(bounded) + (input - target) ** 2 / bounded)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return {"mean": loss.mean, "sum": loss.sum}.get(reduction, lambda: loss)()


def bags(
    input: torch.Tensor, weight: torch.Tensor, offsets: torch.Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: torch.Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """torch.nn.functional.embedding_bag, of bags of one size or of those that start at `offsets`."""
    if max_norm is not None or scale_grad_by_freq:
        raise UnsupportedStep("a bag of embeddings with a largest norm or a scale by frequency is not supported")
    rows = weight.index_select(0, input.flatten())
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.flatten()[:, None]
    counted = torch.ones_like(input.flatten(), dtype=torch.bool)
    if padding_idx is not None:
        counted = input.flatten() != padding_idx % weight.shape[0]
        rows = torch.where(counted[:, None], rows, torch.zeros_like(rows))
    place = torch.arange(input.numel(), device=input.device)
    if input.ndim == 2:
        count = input.shape[0]
        bag = place // max(1, input.shape[1])
    else:
        count = offsets.numel() - include_last_offset
        bag = (offsets[None, :count] <= place[:, None]).sum(-1) - 1
    if mode == "max":
        least = torch.where(counted[:, None], rows, torch.full_like(rows, -math.inf))
        largest = rows.new_full((count, weight.shape[1]), -math.inf).index_reduce(0, bag, least, "amax")
        return torch.where(torch.isinf(largest), torch.zeros_like(largest), largest)
    sums = rows.new_zeros(count, weight.shape[1]).index_add(0, bag, rows)
    if mode == "sum":
        return sums
    sizes = rows.new_zeros(count).index_add(0, bag, counted.to(rows.dtype))
    return sums / sizes.clamp(min=1)[:, None]


def sampled(
    input: torch.Tensor, grid: torch.Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> torch.Tensor:
    """torch.nn.functional.grid_sample of images [n, c, height, width] at places [n, rows, columns, 2] from -1 to 1; of volumes likewise."""
    if mode not in ("bilinear", "nearest"):
        return F.grid_sample(input, grid, mode, padding_mode, align_corners)
    sizes = input.shape[2:]

    def placed(coordinate: torch.Tensor, size: int) -> torch.Tensor:
        place = (coordinate + 1) / 2 * (size - 1) if align_corners else ((coordinate + 1) * size - 1) / 2
        if padding_mode == "reflection":
            low, span = (0, size - 1) if align_corners else (-0.5, size)
            if span == 0:
                return torch.zeros_like(place)
            away = (place - low).abs()
            turns = torch.floor(away / span).detach()
            away = away - turns * span
            place = torch.where(turns % 2 == 0, away, span - away) + low
        return place if padding_mode == "zeros" else place.clamp(0, size - 1)

    def looked_up(places: list[torch.Tensor]) -> torch.Tensor:
        inside, place = torch.ones_like(places[0], dtype=torch.bool), torch.zeros_like(places[0])
        for each, size in zip(places, sizes):
            inside, place = inside & (each >= 0) & (each < size), place * size + each
        place = torch.where(inside, place, torch.zeros_like(place)).to(torch.int64)
        flat = place.flatten(1)[:, None].expand(-1, input.shape[1], -1)
        found = input.flatten(2).gather(2, flat).reshape(*input.shape[:2], *place.shape[1:])
        return torch.where(inside[:, None], found, torch.zeros_like(found))

    # The last dimension comes first in a place.
    places = [placed(coordinate, size) for coordinate, size in zip(reversed(grid.unbind(-1)), sizes)]
    if mode == "nearest":
        return with_no_gradient(looked_up([torch.round(place).detach() for place in places]), grid)
    first = [torch.floor(place).detach() for place in places]
    shares = [place - low for place, low in zip(places, first)]
    corner_of = lambda corner: looked_up([low + step for low, step in zip(first, corner)])
    share_of = lambda corner: math.prod(share if step else 1 - share for share, step in zip(shares, corner))
    return sum(corner_of(corner) * share_of(corner)[:, None] for corner in itertools.product((0, 1), repeat=len(sizes)))


def covariance(
    input: torch.Tensor, *, correction: int = 1, fweights: torch.Tensor | None = None, aweights: torch.Tensor | None = None
) -> torch.Tensor:
    """torch.cov of variables in rows, without the checks of weights, which stop the trace."""
    x = input if input.is_floating_point() or input.is_complex() else input.to(torch.get_default_dtype())
    x = x.reshape(1, -1) if x.ndim < 2 else x
    given = [each.to(x.dtype) for each in (fweights, aweights) if each is not None]
    weights = math.prod(given[1:], start=given[0]) if given else torch.ones(x.shape[1], dtype=x.dtype, device=x.device)
    total = weights.sum()
    centered = x - (x * weights).sum(1, keepdim=True) / total
    # Each observation counts as often as its frequency says; importance lowers the correction.
    lost = total if aweights is None else (weights * given[-1]).sum()
    degrees = total - correction * lost / total
    degrees = torch.where(degrees.real > 0, degrees, torch.zeros_like(degrees)) if x.is_complex() else degrees.clamp(min=0)
    return ((centered * weights) @ centered.T.conj() / degrees).squeeze()


def correlation(input: torch.Tensor) -> torch.Tensor:
    """torch.corrcoef of variables in rows."""
    products = covariance(input)
    if products.ndim == 0:
        return products / products
    deviations = torch.sqrt(torch.diagonal(products))
    return (products / deviations[:, None] / deviations[None, :]).clamp(-1, 1)


def combinations(input: torch.Tensor, r: int = 2, with_replacement: bool = False) -> torch.Tensor:
    """torch.combinations: rows of `r` elements of a vector, in order."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.shape[0]), r))
    return input[torch.tensor(rows, dtype=torch.int64, device=input.device).reshape(len(rows), r)]


def connectionist_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> torch.Tensor:
    """torch.nn.functional.ctc_loss of `log_probs` [times, rows, classes] and `targets` [rows, labels]: the forward pass of
    Graves et al., "Connectionist Temporal Classification", 2006, a step of the graph for each time."""
    inputs, labels = (torch.as_tensor(lengths, device=log_probs.device).reshape(-1) for lengths in (input_lengths, target_lengths))
    is_single = log_probs.ndim == 2
    if is_single:
        log_probs, targets = log_probs.unsqueeze(1), targets.unsqueeze(0)
    times, rows, classes = log_probs.shape
    if targets.ndim != 2 or targets.shape[0] != rows:
        raise UnsupportedStep("a ctc_loss of labels in one row is not supported: pad them to a tensor [rows, labels]")
    never = -1e30  # Infinity has no gradient.
    blanks = torch.full_like(targets, blank)
    path = torch.stack([blanks, torch.clamp(targets, 0, classes - 1)], -1).flatten(1)
    path = torch.cat([path, torch.full((rows, 1), blank, dtype=path.dtype, device=path.device)], 1)
    scores = log_probs.gather(2, path.to(torch.int64).expand(times, *path.shape))
    shifted = lambda x, count: F.pad(x, (count, 0), value=never)[:, : path.shape[1]]
    skips = (path != blank) & (path != F.pad(path, (2, 0), value=blank)[:, : path.shape[1]])
    states = torch.arange(path.shape[1], device=path.device)
    nothing = torch.full_like(scores[0], never)
    now = torch.where(states < 2, scores[0], nothing)
    for time in range(1, times):
        before = torch.stack([now, shifted(now, 1), torch.where(skips, shifted(now, 2), nothing)])
        now = torch.where((time < inputs)[:, None], torch.logsumexp(before, 0) + scores[time], now)
    last = 2 * labels[:, None]
    is_end = (states == last) | (states == last - 1)
    loss = -torch.logsumexp(torch.where(is_end, now, nothing), 1)
    beyond = torch.full_like(loss, 0.0 if zero_infinity else math.inf)
    loss = torch.where(loss > -never / 2, beyond, loss)
    if reduction == "mean":
        return (loss / torch.clamp(labels, min=1)).mean()
    return loss.sum() if reduction == "sum" else loss[0] if is_single else loss


def is_place(entry: Any) -> bool:
    """Whether an entry of an index is a number in a tensor, which PyTorch would take out."""
    return isinstance(entry, torch.Tensor) and entry.ndim == 0 and entry.dtype in (torch.int32, torch.int64)


def row_of_place(x: torch.Tensor, index: Any) -> tuple[torch.Tensor, int, torch.Tensor] | None:
    """For x[..., i, ...] where one number is in a tensor: the view of all elements along its dimension, the dimension, and the number as a vector."""
    entries = index if isinstance(index, tuple) else (index,)
    places = [i for i, entry in enumerate(entries) if is_place(entry)]
    others = [entry for i, entry in enumerate(entries) if i not in places]
    if len(places) != 1 or not all(entry is None or entry is Ellipsis or isinstance(entry, slice) or type(entry) is int for entry in others):
        return None
    (place,) = places
    view = x[tuple(slice(None) if i == place else entry for i, entry in enumerate(entries))]
    kept = lambda part: sum(type(entry) is not int for entry in part)
    is_late = any(entry is Ellipsis for entry in entries[:place])
    dimension = view.ndim - kept(entries[place:]) if is_late else kept(entries[:place])
    number = entries[place].to(torch.int64).reshape(1)
    return view, dimension, torch.where(number < 0, number + view.shape[dimension], number)


def selected(x: torch.Tensor, index: Any) -> torch.Tensor:
    """x[..., i, ...]"""
    found = row_of_place(x, index)
    return x[index] if found is None else torch.index_select(*found).squeeze(found[1])


def assigned(x: torch.Tensor, index: Any, values: Any) -> None:
    """x[..., mask, ...] = values, where these are the same wherever the mask holds: PyTorch's gradient of them has as many as that.
    x[..., i, ...] = values as well."""
    if (found := row_of_place(x, index)) is not None:
        view, dimension, place = found
        row = torch.as_tensor(values, dtype=x.dtype, device=x.device)
        row = row.expand([size for i, size in enumerate(view.shape) if i != dimension]).unsqueeze(dimension)
        view.index_copy_(dimension, place, row)
        return
    entries = index if isinstance(index, tuple) else (index,)
    masks = [i for i, entry in enumerate(entries) if isinstance(entry, torch.Tensor) and entry.dtype == torch.bool]
    whole = all(i in masks or (isinstance(entry, slice) and entry == slice(None)) for i, entry in enumerate(entries))
    if len(masks) != 1 or not whole or not isinstance(values, torch.Tensor):
        return torch.Tensor.__setitem__(x, index, values)
    mask = entries[masks[0]]
    last = x.ndim - masks[0] - mask.ndim
    split = values.ndim - last
    if split > 0:
        if values.shape[split - 1] != 1:
            return torch.Tensor.__setitem__(x, index, values)
        values = values.reshape(*values.shape[: split - 1], *[1] * mask.ndim, *values.shape[split:])
    x.copy_(torch.where(mask.reshape(*mask.shape, *[1] * last), values.to(x.dtype), x))


def replaced(x: torch.Tensor, values: torch.Tensor) -> None:
    """x.data = values: a trace knows the tensor, and would keep its old numbers."""
    if (x.shape, x.dtype) != (values.shape, values.dtype):
        raise UnsupportedStep(f"data of {values.dtype}{list(values.shape)} in the place of {x.dtype}{list(x.shape)} is not supported")
    x.data.copy_(values)


def randomly_leaky(x: torch.Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> torch.Tensor:
    """torch.nn.functional.rrelu, which draws numbers in training alone."""
    if not training:
        return F.leaky_relu(x, (lower + upper) / 2, inplace)
    made = F.rrelu(x, lower, upper, True)
    return x.copy_(made) if inplace else made


def scaled_and_added(operation: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """torch.addcmul and torch.addcdiv, whose factor may be one number of a tensor."""
    return lambda x, first, second, value=1: x + value * operation(first, second)


def number_or_tensor(of_tensor: Callable[..., torch.Tensor], of_number: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda x, other: (of_tensor if isinstance(other, torch.Tensor) else of_number)(x, other)


# Of PyTorch 2.15.
FOREACH = getattr(torch, "foreach", None)
# Operations on lists of tensors that are not called as those on one tensor.
OF_EACH = {
    "addcdiv": scaled_and_added(torch.div),
    "addcmul": scaled_and_added(torch.mul),
    "copy": lambda x, source, non_blocking=False: source,
    "maximum": number_or_tensor(torch.maximum, torch.clamp_min),
    "minimum": number_or_tensor(torch.minimum, torch.clamp_max),
    "norm": torch.linalg.vector_norm,
    "zero": torch.zeros_like,
}


def of_each(name: str) -> Callable[..., Any]:
    """A function torch._foreach_..., or of torch.foreach, as an operation on one tensor after the other."""
    base = name.removeprefix("_foreach_").rstrip("_")
    operation = OF_EACH.get(base) or getattr(torch, base, None)
    if operation is None:
        return getattr(torch, name)

    def of(*arguments: Any, **options: Any) -> tuple[torch.Tensor, ...] | list[torch.Tensor]:
        if "value" in options:
            arguments = *arguments, options.pop("value")
        count = next(len(each) for each in arguments if isinstance(each, (list, tuple)))
        lists = [each if isinstance(each, (list, tuple)) or getattr(each, "ndim", 0) else [each] * count for each in arguments]
        made = tuple(operation(*each, **options) for each in zip(*lists, strict=True))
        if not name.endswith("_"):
            return made
        for x, value in zip(arguments[0], made):
            x.copy_(value)
        return arguments[0]

    return of


COMPOSED: dict[Any, Callable[..., Any]] = {
    F.ctc_loss: connectionist_loss,
    F.embedding_bag: bags,
    F.gaussian_nll_loss: gaussian_loss,
    F.grid_sample: sampled,
    F.pdist: distances_of_pairs,
    F.rrelu: randomly_leaky,
    torch.Tensor.__getitem__: selected,
    torch.Tensor.__setitem__: assigned,
    torch.Tensor.data.__set__: replaced,
    torch.Tensor.corrcoef: correlation,
    torch.Tensor.cov: covariance,
    torch.Tensor.dist: distance,
    torch.cdist: distances,
    torch.combinations: combinations,
    torch.corrcoef: correlation,
    torch.cov: covariance,
    torch.dist: distance,
    torch.pdist: distances_of_pairs,
    **{getattr(FOREACH, name): of_each(f"_foreach_{name}") for name in getattr(FOREACH, "__all__", [])},
    **{getattr(torch, name): of_each(name) for name in dir(torch) if name.startswith("_foreach_")},
}
