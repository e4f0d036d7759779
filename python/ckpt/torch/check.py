"""A planned module beside the unplanned one: bytes that PyTorch's allocator gives out, and gradients."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..budget import format_bytes
from .memory import measure


@dataclasses.dataclass
class Check:
    """What a plan does to a forward and a backward pass.

    Attributes:
        unplanned_bytes, peak_bytes: the peak without and with the plan, by PyTorch's
            allocator: gradients count, parameters and inputs do not.
        planned_bytes: the peak of the plan, with the same things counted.
        largest_difference: of a gradient, by the largest magnitude in that gradient.
        equal_gradients: how many gradients have the same bits.
        gradients: how many gradients there are.
    """

    unplanned_bytes: int
    peak_bytes: int
    planned_bytes: int
    largest_difference: float
    equal_gradients: int
    gradients: int

    def __str__(self) -> str:
        text = (
            f"PyTorch's allocator gives out {format_bytes(self.unplanned_bytes)} without the plan and "
            f"{format_bytes(self.peak_bytes)} with it, of {format_bytes(self.planned_bytes)} planned; "
            f"{self.equal_gradients} of {self.gradients} gradients have the same bits, "
            f"the largest difference is {self.largest_difference:.1e}"
        )
        above = self.peak_bytes - self.planned_bytes
        if above > 0.01 * self.planned_bytes:
            text += f"; the engine's own order and fusion take {format_bytes(above)} more: lower the budget by as much"
        return text


@contextlib.contextmanager
def _kept(module: torch.nn.Module) -> Iterator[None]:
    """Runs from fixed random numbers; afterwards, buffers, gradients and random state are as before."""
    buffers = [(buffer, buffer.clone()) for buffer in module.buffers()]
    gradients = [(parameter, parameter.grad) for parameter in module.parameters()]
    for parameter, _ in gradients:
        parameter.grad = None
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            yield
    finally:
        for buffer, before in buffers:
            buffer.data.copy_(before)
        for parameter, gradient in gradients:
            parameter.grad = gradient


def _taken(module: torch.nn.Module, run: Callable[..., Any], args: Any, kwargs: Any) -> tuple[int, list[Any]]:
    """Peak in bytes and gradients of `run`, which calls `module`, after a run that compiles."""

    def step() -> None:
        leaves = pytree.tree_leaves(run(*args, **kwargs))
        outputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
        torch.autograd.backward([output.sum() if output.dim() else output for output in outputs])

    with _kept(module):
        step()
    with _kept(module):
        peak = measure(step).peak_bytes
        return peak, [parameter.grad for parameter in module.parameters()]


def _difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    if torch.equal(actual, expected):
        return 0.0
    wide = expected.double()
    return float((actual.double() - wide).abs().max() / wide.abs().max().clamp_min(torch.finfo(torch.double).tiny))


def compare(
    module: torch.nn.Module, planned: Callable[..., Any], planned_bytes: Callable[[], int], args: Any, kwargs: Any
) -> Check:
    """Runs `module` without and with its plan; `planned_bytes` is asked once there is a plan."""
    unplanned_peak, expected = _taken(module, module, args, kwargs)
    peak, actual = _taken(module, planned, args, kwargs)
    pairs = [(a, e) for a, e in zip(actual, expected, strict=True) if a is not None and e is not None]
    return Check(
        unplanned_bytes=unplanned_peak,
        peak_bytes=peak,
        planned_bytes=planned_bytes(),
        largest_difference=max((_difference(a, e) for a, e in pairs), default=0.0),
        equal_gradients=sum(torch.equal(a, e) for a, e in pairs),
        gradients=len(pairs),
    )
