"""Steps of JAX and PyTorch as text in upstream MLIR dialects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..errors import UnsupportedStep
from ..modules import hold_modules


class ExportedStep(Protocol):
    """A traced step with its example arguments.

    Attributes:
        kept: by result that the caller does not see, the argument that it is a new value of.
        own: how many results before those are of gradients and states that the step makes, which the caller does not see either.
        is_of_torch: or else of JAX.
    """

    kept: dict[int, int]
    own: int
    is_of_torch: bool

    def export(self) -> str:
        """The step as text in MLIR."""

    def release(self) -> None:
        """Lets go of the example arguments: only `bind` works from now on."""

    def inputs(self) -> list[np.ndarray]:
        """The example arguments."""

    def expected(self) -> list[np.ndarray]:
        """The results that the framework itself computes."""

    def bind(self, arguments: tuple[Any, ...]) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        """The arrays of a call, in the order of the text's arguments, and the return value as a function of results."""


def is_of_torch(step: Callable[..., Any], example: tuple[Any, ...]) -> bool:
    """Whether the arguments of a step, at any depth of their containers, or the values that it closes over are of PyTorch."""
    if "torch" not in sys.modules:
        return False
    import torch
    from torch.utils import _pytree as pytree

    kinds = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer)
    is_any = lambda values: any(isinstance(leaf, kinds) for leaf in pytree.tree_leaves(values))
    is_of_jax = "jax" in sys.modules and any(isinstance(leaf, sys.modules["jax"].Array) for leaf in pytree.tree_leaves(example))
    if is_any(example) or is_of_jax:
        return not is_of_jax
    from .torch.closures import Closure

    return is_any(list(Closure(step).values.values()))


def trace(step: Callable[..., Any], example: tuple[Any, ...], earlier: Sequence[ExportedStep] = ()) -> ExportedStep:
    """Traces a step of PyTorch or of JAX.

    Args:
        earlier: the step with other examples.

    Raises:
        UnsupportedStep: the framework cannot trace the step, or a package is missing.
    """
    try:
        if earlier[0].is_of_torch if earlier else is_of_torch(step, example):
            from .torch import TorchStep

            return TorchStep(step, example, earlier)
        from .jax import JaxStep
        from .jax.modules import ModulesStep

        return ModulesStep(step, example) if hold_modules(example) else JaxStep(step, example)
    except ImportError as error:
        raise UnsupportedStep(str(error)) from None
