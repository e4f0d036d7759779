"""Comparisons, and operations made of them, as PyTorch defines them: torch-mlir folds comparisons of
constants with numbers to arbitrary results, loses numbers that are none (NaN) in others, and clamps booleans by a sign.

`decompositions` holds the list with the other ones. All of these leave integers to torch-mlir.
"""

from collections.abc import Callable

import torch

aten = torch.ops.aten
Operation = Callable[..., torch.Tensor]


def of_floats(operation: Operation, *types: torch.dtype) -> Operation:
    """A form for floats and for others of `types`."""
    return lambda x, *others, **options: operation(x, *others, **options) if x.is_floating_point() or x.dtype in types else NotImplemented


def as_tensor(number: float | torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return number if isinstance(number, torch.Tensor) else torch.full((), number, dtype=torch.result_type(x, number), device=x.device)


def with_number(operation: Operation) -> Operation:
    return lambda x, number: operation(x, as_tensor(number, x))


def equal(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Not a constant where a tensor meets itself."""
    return ~torch.isnan(x) if x is y else NotImplemented


def sign(x: torch.Tensor) -> torch.Tensor:
    zero = as_tensor(0, x)
    return (x > zero).to(x.dtype) - (x < zero).to(x.dtype)


def truncated(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x < as_tensor(0, x), torch.ceil(x), torch.floor(x))


def maximum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.where((x > y) | torch.isnan(x), x, y)


def minimum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.where((x < y) | torch.isnan(x), x, y)


def other_of_none(operation: Operation) -> Operation:
    """aten.fmax and aten.fmin, which pass over numbers that are none."""

    def of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, operation(x, y)))

    return of


def clamped(x: torch.Tensor, low: float | torch.Tensor | None = None, high: float | torch.Tensor | None = None) -> torch.Tensor:
    if low is not None:
        x = maximum(x, as_tensor(low, x))
    return x if high is None else minimum(x, as_tensor(high, x))


OWN = {
    aten.clamp.default: of_floats(clamped, torch.bool),
    aten.clamp.Tensor: of_floats(clamped, torch.bool),
    aten.clamp_max.default: of_floats(lambda x, high: clamped(x, high=high), torch.bool),
    aten.clamp_min.default: of_floats(clamped, torch.bool),
    aten.eq.Tensor: of_floats(equal),
    aten.fmax.default: other_of_none(maximum),
    aten.fmin.default: other_of_none(minimum),
    aten.hardtanh.default: of_floats(lambda x, low=-1, high=1: clamped(x, low, high)),
    aten.maximum.default: of_floats(maximum),
    aten.minimum.default: of_floats(minimum),
    aten.sgn.default: of_floats(sign),
    aten.sign.default: of_floats(sign),
    aten.trunc.default: of_floats(truncated),
    **{
        getattr(aten, name).Scalar: of_floats(with_number(getattr(torch, name)))
        for name in ("eq", "ge", "gt", "le", "lt", "ne")
    },
}
