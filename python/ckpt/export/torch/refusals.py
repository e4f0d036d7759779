"""Names the operations of a graph that torch-mlir has no linalg form for, with their places in the user's files.

`lowering` calls it after torch-mlir refused the whole graph: its messages name an operand, or nothing.
"""

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._guards import detect_fake_mode

from .places import in_words

NUMBER = ": item() and float() take a number out of a tensor; compute with the tensor"
ADVICE = {"aten._local_scalar_dense.default": NUMBER, "aten.Float.Tensor": NUMBER, "aten.Int.Tensor": NUMBER}


def value_of(node: torch.fx.Node) -> Any:
    """A tensor without memory like the result, or like the constant of the graph."""
    if node.op != "get_attr":
        return node.meta.get("val")
    others = [other.meta["val"] for other in node.graph.nodes if "val" in other.meta]
    return detect_fake_mode(others).from_tensor(getattr(node.graph.owning_module, node.target))


def alone(node: torch.fx.Node) -> torch.fx.GraphModule:
    """A graph of one operation, whose operands are arguments."""
    graph, made = torch.fx.Graph(), {}

    def argument(operand: torch.fx.Node) -> torch.fx.Node:
        if operand not in made:
            made[operand] = graph.placeholder(f"x{len(made)}")
            made[operand].meta["val"] = value_of(operand)
        return made[operand]

    copy = graph.node_copy(node, argument)
    results = []
    for i, value in enumerate(pytree.tree_leaves(node.meta["val"])):
        result = copy if isinstance(node.meta["val"], torch.Tensor) else graph.call_function(operator.getitem, (copy, i))
        result.meta["val"] = value
        if isinstance(value, torch.Tensor):
            results.append(result)
    graph.output(results)
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def kind_of(node: torch.fx.Node) -> str:
    """The operation with the types and shapes of its operands, and its other arguments."""

    def of(value: object) -> str:
        value = value_of(value) if isinstance(value, torch.fx.Node) else value
        return f"{value.dtype}{list(value.shape)}" if isinstance(value, torch.Tensor) else repr(value)

    return " ".join([str(node.target), *map(of, pytree.tree_leaves((node.args, node.kwargs)))])


def refused_operations(graph: torch.fx.GraphModule, lowers: Callable[[torch.fx.GraphModule], bool]) -> list[str]:
    """The operations for which `lowers` is false, each with its first place."""
    known: dict[str, bool] = {}
    refused: dict[str, str] = {}
    for node in graph.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload) or "val" not in node.meta or str(node.target) in refused:
            continue
        kind = kind_of(node)
        if kind not in known:
            known[kind] = lowers(alone(node))
        if not known[kind]:
            refused[str(node.target)] = in_words(node.meta)
    return [name + place + ADVICE.get(name, "") for name, place in refused.items()]
