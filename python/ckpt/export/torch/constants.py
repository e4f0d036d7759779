"""Constant tensors of a trace, whose numbers PyTorch follows."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode


@contextlib.contextmanager
def not_of_symbols() -> Iterator[None]:
    """What an operation makes of a constant and a symbol is no constant. PyTorch takes a symbol for NaN there."""
    own = FakeTensorMode.dispatch

    @functools.wraps(own)
    def dispatch(self: FakeTensorMode, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        leaves = pytree.tree_leaves((arguments, options))
        if any(isinstance(leaf, torch.SymFloat | torch.SymBool) for leaf in leaves):
            for leaf in leaves:
                if isinstance(leaf, FakeTensor) and leaf.constant is not None:
                    self.fake_tensor_converter.invalidate_constant_aliases(leaf.constant)
        return own(self, function, types, arguments, options)

    with mock.patch.object(FakeTensorMode, "dispatch", dispatch):
        yield
