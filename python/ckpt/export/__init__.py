"""Steps of JAX and PyTorch as text in upstream MLIR dialects."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..errors import UnsupportedStep


class ExportedStep(Protocol):
    """A traced step with its example arguments.

    Attributes:
        kept: by result that the caller does not see, the argument that it is a new value of.
    """

    kept: dict[int, int]

    def export(self) -> str:
        """The step as text in MLIR."""

    def inputs(self) -> list[np.ndarray]:
        """The example arguments."""

    def expected(self) -> list[np.ndarray]:
        """The results that the framework itself computes."""

    def flatten(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The arrays of a call, in the order of the text's arguments."""

    def unflatten(self, results: list[Any]) -> Any:
        """The return value of a call."""


def is_of_torch(example: Any) -> bool:
    """Whether `example` holds a tensor, a module or an optimizer of PyTorch, at any depth of its containers."""
    if "torch" not in sys.modules:
        return False
    import torch
    from torch.utils import _pytree as pytree

    kinds = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer)
    return any(isinstance(leaf, kinds) for leaf in pytree.tree_leaves(example))


def trace(step: Callable[..., Any], example: tuple[Any, ...]) -> ExportedStep:
    """Traces a step of PyTorch where the example arguments hold its tensors or modules, and else one of JAX.

    Raises:
        UnsupportedStep: the framework cannot trace the step, or a package is missing.
    """
    try:
        if is_of_torch(example):
            from .torch import TorchStep

            return TorchStep(step, example)
        from .jax import JaxStep

        return JaxStep(step, example)
    except ImportError as error:
        raise UnsupportedStep(str(error)) from None
