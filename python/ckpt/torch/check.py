"""A planned module beside the unplanned one: bytes that PyTorch's allocator gives out, and results."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..budget import format_bytes
from .memory import measure

GRADIENT = "gradient of "
# Outputs, gradients and buffers of a step, by names for people.
Results = dict[str, torch.Tensor]


@dataclasses.dataclass
class Check:
    """What a plan does to a forward and a backward pass.

    Attributes:
        unplanned_bytes, peak_bytes: the peak without and with the plan, by PyTorch's
            allocator: gradients count, parameters and inputs do not.
        planned_bytes: the peak of the plan, with the same things counted.
        largest_difference: of a result, by the largest magnitude in that result.
        differing: the result with the largest difference, such as "output 0" or
            "gradient of head.weight"; empty where all results have the same bits.
        equal_gradients: how many gradients have the same bits.
        gradients: how many gradients there are.
    """

    unplanned_bytes: int
    peak_bytes: int
    planned_bytes: int
    largest_difference: float
    equal_gradients: int
    gradients: int
    differing: str = ""

    def __str__(self) -> str:
        text = (
            f"PyTorch's allocator gives out {format_bytes(self.unplanned_bytes)} without the plan and "
            f"{format_bytes(self.peak_bytes)} with it, of {format_bytes(self.planned_bytes)} planned; "
            f"{self.equal_gradients} of {self.gradients} gradients have the same bits, "
            f"the largest difference is {self.largest_difference:.1e}"
        )
        if self.differing:
            text += f", of {self.differing}"
        if self.peak_bytes > 1.01 * self.unplanned_bytes:
            text += "; the graph as traced takes more than the module itself: ask for the bytes of the module"
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


def _taken(module: torch.nn.Module, run: Callable[..., Any], args: Any, kwargs: Any) -> tuple[int, Results]:
    """Peak in bytes and results of `run`, which calls `module`, after a run that compiles."""
    results: Results = {}

    def step() -> None:
        leaves = pytree.tree_leaves(run(*args, **kwargs))
        outputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        losses = [output for output in outputs if output.requires_grad]
        torch.autograd.backward([loss.sum() if loss.dim() else loss for loss in losses])
        results.update((f"output {number}", output.detach()) for number, output in enumerate(outputs))

    with _kept(module):
        step()
    with _kept(module):
        results.clear()
        peak = measure(step).peak_bytes
        gradients = [(name, parameter.grad) for name, parameter in module.named_parameters()]
        results.update((GRADIENT + name, gradient) for name, gradient in gradients if gradient is not None)
        results.update((f"buffer {name}", buffer.clone()) for name, buffer in module.named_buffers())
        return peak, results


def _difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference by the largest magnitude; numbers that are none equal each other."""
    if actual.shape != expected.shape:
        return math.inf
    kind = torch.cdouble if expected.is_complex() else torch.double
    wide, other = (tensor.to_dense().to(kind) for tensor in (expected, actual))
    if torch.equal(wide.isnan(), other.isnan()) and bool(((wide == other) | wide.isnan()).all()):
        return 0.0
    largest = wide.abs().max().clamp_min(torch.finfo(torch.double).tiny)
    return float(((other - wide).abs().max() / largest).nan_to_num(math.inf))


def compare(
    module: torch.nn.Module, planned: Callable[..., Any], planned_bytes: Callable[[], int], args: Any, kwargs: Any
) -> Check:
    """Runs `module` without and with its plan; `planned_bytes` is asked once there is a plan."""
    unplanned_peak, expected = _taken(module, module, args, kwargs)
    peak, actual = _taken(module, planned, args, kwargs)
    differences = {name: _difference(actual[name], expected[name]) for name in expected if name in actual}
    largest = max(differences, key=differences.__getitem__, default="")
    gradients = [difference for name, difference in differences.items() if name.startswith(GRADIENT)]
    return Check(
        unplanned_bytes=unplanned_peak,
        peak_bytes=peak,
        planned_bytes=planned_bytes(),
        largest_difference=differences.get(largest, 0.0),
        equal_gradients=gradients.count(0.0),
        gradients=len(gradients),
        differing=largest if differences.get(largest) else "",
    )
