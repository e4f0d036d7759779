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


def apart(nodes: list[torch.fx.Node]) -> torch.fx.GraphModule:
    """A graph of operations that do not read each other: their operands are arguments."""
    graph, results = torch.fx.Graph(), []
    operands = []
    for n, node in enumerate(nodes):
        operands.append({operand: graph.placeholder(f"x{n}_{i}") for i, operand in enumerate(node.all_input_nodes)})
        for operand, placeholder in operands[-1].items():
            placeholder.meta["val"] = value_of(operand)
    for node, made in zip(nodes, operands):
        copy = graph.node_copy(node, made.__getitem__)
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


def refused_among(nodes: list[torch.fx.Node], lowers: Callable[[torch.fx.GraphModule], bool]) -> list[torch.fx.Node]:
    """The operations for which `lowers` is false, by halves: a lowering costs as much as many operations."""
    if not nodes or lowers(apart(nodes)):
        return []
    if len(nodes) == 1:
        return nodes
    middle = len(nodes) // 2
    return refused_among(nodes[:middle], lowers) + refused_among(nodes[middle:], lowers)


def refused_operations(graph: torch.fx.GraphModule, lowers: Callable[[torch.fx.GraphModule], bool]) -> list[str]:
    """The operations for which `lowers` is false, each with its first place."""
    kinds: dict[str, torch.fx.Node] = {}
    for node in graph.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and "val" in node.meta:
            kinds.setdefault(kind_of(node), node)
    refused: dict[str, str] = {}
    for node in refused_among(list(kinds.values()), lowers):
        refused.setdefault(str(node.target), in_words(node.meta))
    return [name + place + ADVICE.get(name, "") for name, place in refused.items()]
