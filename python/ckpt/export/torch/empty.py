"""Tensors without elements as constants: torch-mlir divides by their sizes in views, which ends the process.

`lowering` calls it before torch-mlir reads a graph.
"""

import torch

from .narrow import tensors_of

aten = torch.ops.aten


def fill_empty(graph: torch.fx.GraphModule) -> None:
    """Makes each result without elements a constant of its shape; nothing that it was made from matters."""
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if node.op != "call_function" or not isinstance(value, torch.Tensor) or value.numel() > 0:
            continue
        with graph.graph.inserting_before(node):
            constant = graph.graph.call_function(aten.full.default, (list(value.shape), 0), {"dtype": value.dtype})
        constant.meta.update(node.meta)
        node.replace_all_uses_with(constant)
    join_rest(graph)


def join_rest(graph: torch.fx.GraphModule) -> None:
    """Takes operands without elements out of concatenations."""
    for node in graph.graph.find_nodes(op="call_function", target=aten.cat.default):
        tensors, *dimension = node.args
        full = [tensor for tensor in tensors if tensor.meta["val"].numel() > 0]
        node.args = (full or tensors, *dimension)
