"""Operations that users and libraries define with torch.library become the bodies that they were given.

`tracing` asks for it behind autograd, where the graph holds the operations of gradients as well. A body that reads the
numbers of a tensor has no form: `lowering` refuses its operation at its place.
"""

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._library.custom_ops import OPDEFS
from torch.fx.experimental.proxy_tensor import make_fx

from ...errors import UnsupportedStep
from .groups import gradients_of_rows, products_of_rows
from .places import TRACE, in_words


# Hugging Face's products of a mixture of experts; their own bodies read the sizes of the groups.
OF_LIBRARIES = {
    "transformers::grouped_mm_fallback": products_of_rows,
    "transformers::grouped_mm_fallback_backward": gradients_of_rows,
}


def body_of(node: torch.fx.Node) -> Callable | None:
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    defined = next((each._init_fn for each in list(OPDEFS.values()) if each._opoverload is node.target), None)
    return OF_LIBRARIES.get(node.target._schema.name, defined)


def traced(body: Callable, node: torch.fx.Node) -> torch.fx.GraphModule:
    """The body as a graph, with an argument for each value among the operands of the node."""
    leaves, tree = pytree.tree_flatten((node.args, node.kwargs))

    def run(*tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        operands, options = pytree.tree_unflatten([next(given) if isinstance(leaf, torch.fx.Node) else leaf for leaf in leaves], tree)
        return body(*operands, **options)

    part = make_fx(run)(*(leaf.meta["val"] for leaf in leaves if isinstance(leaf, torch.fx.Node)))
    for copy in part.graph.nodes:
        copy.meta[TRACE] = node.meta.get(TRACE)
    return part


def put_in_place(node: torch.fx.Node, part: torch.fx.GraphModule) -> None:
    """Copies the graph of a body in front of the node, which it replaces."""
    graph, module = node.graph, node.graph.owning_module
    for constant in part.graph.find_nodes(op="get_attr"):
        value, constant.target = getattr(part, constant.target), f"{node.name}_{constant.target}"
        module.register_buffer(constant.target, value)
    operands = [leaf for leaf in pytree.tree_leaves((node.args, node.kwargs)) if isinstance(leaf, torch.fx.Node)]
    with graph.inserting_before(node):
        result = graph.graph_copy(part.graph, dict(zip(part.graph.find_nodes(op="placeholder"), operands, strict=True)))
    if isinstance(result, torch.fx.Node):
        node.replace_all_uses_with(result)
    for user in list(node.users):
        assert user.target is operator.getitem
        user.replace_all_uses_with(result[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)


def inline_bodies(module: torch.fx.GraphModule) -> None:
    """Puts bodies in the place of operations, also in bodies; refuses operations that change operands by no known body."""
    for node in list(module.graph.nodes):
        body = body_of(node)
        if body is None:
            continue
        try:
            part = traced(body, node)
        except Exception as error:
            if node.target._schema.is_mutable:
                advice = "write it in operations of PyTorch"
                raise UnsupportedStep(f"{node.target}{in_words(node.meta)} changes its operands by a body that PyTorch cannot trace: {advice}") from error
            continue
        inline_bodies(part)
        put_in_place(node, part)
