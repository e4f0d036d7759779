"""Narrow and unsigned integers as wider signed ones, reduced to their bits after each operation: torch-mlir
gives many operations on them no form, or the one of signed integers, or ends the process.

`lowering` calls it on a graph that holds such values, before torch-mlir reads it.
"""

from typing import Any

import torch
import torch.utils._pytree as pytree

from ...errors import UnsupportedStep
from .places import Interpreter

aten = torch.ops.aten
WIDER = {torch.int8: torch.int32, torch.uint8: torch.int32, torch.uint16: torch.int32, torch.uint32: torch.int64}


def tensors_of(node: torch.fx.Node) -> list[torch.Tensor]:
    return [value for value in pytree.tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]


def holds_narrow(graph: torch.fx.GraphModule) -> bool:
    return any(value.dtype in (*WIDER, torch.uint64) for node in graph.graph.nodes for value in tensors_of(node))


def widened(value: Any) -> Any:
    """A tensor in the wider type of its own, if that is narrow; a type likewise."""
    if isinstance(value, torch.Tensor) and value.dtype in WIDER:
        return value.to(WIDER[value.dtype])
    return WIDER.get(value, value) if isinstance(value, torch.dtype) else value


def wrapped(value: Any, like: Any) -> Any:
    """A result of an operation on wider values with the numbers that an operation on values like `like` gives."""
    if not isinstance(like, torch.Tensor) or value.dtype == like.dtype:
        return value
    if like.dtype not in WIDER:
        return value.to(like.dtype)
    count = 1 << 8 * like.dtype.itemsize
    lowest = -count // 2 if like.dtype.is_signed else 0
    return ((value.to(WIDER[like.dtype]) - lowest) & (count - 1)) + lowest


class Widened(Interpreter):
    """Runs a graph of ATen operations; arguments and results alone are narrow."""

    def run_node(self, node: torch.fx.Node) -> Any:
        made = super().run_node(node)
        if node.op == "output":
            return [value.to(result.meta["val"].dtype) for value, result in zip(made, node.args[0], strict=True)]
        if node.op != "call_function":
            return widened(made)
        if any(value.dtype == torch.uint64 for value in tensors_of(node)):
            raise UnsupportedStep("values of torch.uint64 are not supported: use torch.int64")
        return pytree.tree_map(wrapped, made, node.meta.get("val", made))

    def call_function(self, target: Any, arguments: tuple, options: dict) -> Any:
        if target == aten.view.dtype:
            raise UnsupportedStep("the bits of a tensor as another type are not supported in a step with narrow integers")
        return super().call_function(target, *pytree.tree_map(widened, (arguments, options)))
