"""A joint graph of AOTAutograd as one list of ops: forward pass, tangents, backward pass.

`ckpt.torch.problem` describes the list to the planner, and `ckpt.torch.split`
makes the forward graph and the backward graph of a plan from it.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from ..errors import UnsupportedStep
from . import _private

aten = torch.ops.aten

# Views whose schemas do not say so.
_UNSAFE_VIEWS = {aten._unsafe_view, aten.unsafe_chunk, aten.unsafe_split, aten.unsafe_split_with_sizes}

# Gradients that read the shape of their second operand, and no element.
_SHAPED = {
    aten._adaptive_avg_pool2d_backward,
    aten._adaptive_avg_pool3d_backward,
    aten.adaptive_max_pool2d_backward,
    aten.avg_pool2d_backward,
    aten.avg_pool3d_backward,
    aten.max_pool2d_with_indices_backward,
    aten.max_pool3d_with_indices_backward,
    aten.reflection_pad1d_backward,
    aten.reflection_pad2d_backward,
    aten.reflection_pad3d_backward,
    aten.replication_pad1d_backward,
    aten.replication_pad2d_backward,
    aten.replication_pad3d_backward,
}

# Metadata of a node: the `Memory` of its kernel, where measured.
MEMORY = "ckpt_memory"


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes that PyTorch's kernel of an op takes.

    Attributes:
        scratch: beside operands and results, while it runs.
        kept: behind each of its results; 0 for those that share their memory.
    """

    scratch: int = 0
    kept: tuple[int, ...] = ()


def scratch_of(node: fx.Node) -> int:
    """Bytes that an op takes beside operands and results while it runs."""
    measured = node.op == "call_function" and node.meta.get(MEMORY)
    return measured.scratch if measured else 0


def nbytes_of(node: fx.Node, index: int, tensor: Any) -> int:
    """Bytes behind result `index` of `node`: as measured, or from the first to the last element."""
    kept = node.meta.get(MEMORY, Memory()).kept
    if index < len(kept) and kept[index]:
        return kept[index]
    if not tensor.numel():
        return 0
    if tensor.layout != torch.strided:
        return int(tensor.numel()) * tensor.element_size()
    last = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride()))
    return (int(last) + 1) * tensor.element_size()


@dataclasses.dataclass(eq=False)
class Value:
    """Result `index` of `node`, or an input (`op` is None)."""

    node: fx.Node
    index: int
    tensor: Any
    op: Op | None = None
    number: int = -1

    @property
    def shown(self) -> fx.Node:
        """The node that stands for this tensor alone."""
        if isinstance(self.node.meta.get("val"), (tuple, list)):
            for user in self.node.users:
                if user.target is operator.getitem and user.args[1] == self.index:
                    return user
        return self.node

    @property
    def nbytes(self) -> int:
        return nbytes_of(self.node, self.index, self.tensor)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(extent) for extent in self.tensor.shape)


@dataclasses.dataclass(eq=False)
class Op:
    """One node, or one of the pieces that a view of several results makes."""

    node: fx.Node
    inputs: list[Value]
    outputs: list[Value] = dataclasses.field(default_factory=list)
    # It reads a gradient, or only such ops read it.
    backward: bool = False
    # It reads a gradient.
    reads_tangents: bool = False
    is_view: bool = False
    # It draws random numbers, changes an input, or communicates.
    ordered: bool = False

    @property
    def name(self) -> str:
        return str(self.node.target)


@dataclasses.dataclass
class Program:
    """A joint graph.

    Attributes:
        inputs: parameters, buffers, inputs and constants.
        tangents: the gradients of the outputs, by their placeholders.
        ops: the forward pass, then the backward pass.
        forward_outputs, backward_outputs: nodes, or `None`.
        kept: outputs that the caller may hold while the backward pass runs.
        mutations: how many of the first outputs are new values of inputs.
        values: of a node, and of the pieces of a node of several results.
    """

    module: fx.GraphModule
    inputs: list[Value]
    tangents: list[Value]
    ops: list[Op]
    forward_outputs: list[fx.Node | None]
    backward_outputs: list[fx.Node | None]
    kept: list[Value]
    mutations: int
    values: dict[tuple[fx.Node, int], Value]

    def value(self, node: fx.Node) -> Value | None:
        """The value that `node` stands for; `None` for a node without a tensor."""
        return self.values.get(_key(node))


def _key(node: fx.Node) -> tuple[fx.Node, int]:
    if node.target is operator.getitem:
        return node.args[0], node.args[1]
    return node, 0


def tensors_of(node: fx.Node) -> list[tuple[int, Any]]:
    """The tensors that `node` makes, with their numbers among its results."""
    value = node.meta.get("val")
    several = value if isinstance(value, (tuple, list)) else [value]
    return [(i, tensor) for i, tensor in enumerate(several) if isinstance(tensor, torch.Tensor)]


def is_view(node: fx.Node) -> bool:
    """True where the results of `node` lie in the memory of its operand."""
    if getattr(node.target, "overloadpacket", None) in _UNSAFE_VIEWS:
        return True
    schema = getattr(node.target, "_schema", None)
    aliases = [result.alias_info for result in schema.returns] if schema else []
    return bool(aliases) and all(alias is not None and not alias.is_write for alias in aliases)


def _argument(node: fx.Node, name: str) -> Any:
    """The argument of an op that its schema calls `name`; `None` where it has no such argument."""
    for place, each in enumerate(node.target._schema.arguments):
        if each.name == name:
            return node.args[place] if place < len(node.args) else node.kwargs.get(name, each.default_value)
    return None


def is_random(node: fx.Node) -> bool:
    """True where an op draws random numbers: attention draws none unless it drops weights."""
    tagged = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    return tagged and _argument(node, "dropout_p") != 0


def _has_effects(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return bool(schema and schema.is_mutable) or getattr(node.target, "namespace", "").endswith("c10d_functional")


def is_training_norm(node: fx.Node) -> bool:
    """A batch norm whose outputs do not depend on the running statistics."""
    return node.target is aten._native_batch_norm_legit_functional.default and node.args[5] is True


def again(node: fx.Node) -> tuple[Any, tuple[Any, ...]]:
    """Target and arguments of a second run: batch norms update no statistics."""
    if not is_training_norm(node):
        return node.target, node.args
    tensor, weight, bias, _, _, training, momentum, epsilon = node.args
    return aten._native_batch_norm_legit.no_stats, (tensor, weight, bias, training, momentum, epsilon)


def _refuse_dynamic_shapes(graph: fx.Graph) -> None:
    for node in graph.nodes:
        for leaf in pytree.tree_leaves(node.meta.get("val")):
            extents: Iterable[Any] = leaf.shape if isinstance(leaf, torch.Tensor) else [leaf]
            if any(isinstance(extent, (torch.SymInt, torch.SymFloat, torch.SymBool)) for extent in extents):
                raise UnsupportedStep(
                    f"expected static shapes, but {node.name!r} has {tuple(extents)}: "
                    "call torch.compile with dynamic=False"
                )


def _drop_reads_of_statistics(graph: fx.Graph) -> None:
    # In training, the gradient does not depend on the running statistics.
    for node in graph.nodes:
        if node.target is aten.native_batch_norm_backward.default and node.args[7] is True:
            node.args = (*node.args[:3], None, None, *node.args[5:])


def _reads_shape(node: fx.Node) -> bool:
    """The gradient reads the shape of its second operand, and no element."""
    packet = getattr(node.target, "overloadpacket", None)
    return packet in _SHAPED or (packet is aten.convolution_backward and not any(node.args[-1][1:]))


def _drop_reads_of_shapes(graph: fx.Graph) -> None:
    """Hands such gradients a tensor without memory; kernels know one layout of memory from another."""
    for node in graph.nodes:
        if not _reads_shape(node) or not node.args[1].meta["val"].is_contiguous():
            continue
        tensor = node.args[1].meta["val"]
        with graph.inserting_before(node):
            blank = graph.call_function(aten.empty.memory_format, ([],), {"dtype": tensor.dtype, "device": tensor.device})
            shaped = graph.call_function(aten.expand.default, (blank, list(tensor.shape)))
        blank.meta = {**node.meta, "val": tensor.new_empty(())}
        shaped.meta = {**node.meta, "val": blank.meta["val"].expand(tensor.shape)}
        node.args = (node.args[0], shaped, *node.args[2:])


def is_statistic(value: Value) -> bool:
    """True for the new running statistics of a training norm."""
    return is_training_norm(value.node) and value.index > 2


def _mask_of(graph: fx.Graph, node: fx.Node) -> fx.Node:
    """Adds the op that draws the mask of a dropout, in the order of `native_dropout`.

    `bernoulli` returns a contiguous tensor. For an operand of another layout, `native_dropout`
    itself draws the mask: the CPU draws along memory.
    """
    tensor, probability, _ = node.args
    if tensor.meta["val"].is_contiguous():
        blank = graph.call_function(aten.empty_like.default, (tensor,), {"dtype": torch.bool})
        mask = graph.call_function(aten.bernoulli.p, (blank, 1.0 - probability))
        blank.meta = {**node.meta, "val": node.meta["val"][1]}
    else:
        drawn = graph.call_function(aten.native_dropout.default, node.args)
        drawn.meta = dict(node.meta)
        mask = graph.call_function(operator.getitem, (drawn, 1))
    mask.meta = {**node.meta, "val": node.meta["val"][1]}
    return mask


def _rounded(number: float, dtype: torch.dtype) -> float:
    """The nearest number of a type: `native_dropout` scales its mask in the type of its operand."""
    with _private.without_modes():
        return float(torch.tensor(number, dtype=dtype))


def _mask_dropouts(graph: fx.Graph) -> None:
    """Splits dropouts on the CPU into the random mask and its use.

    The results and the random numbers are those of `native_dropout`, whose CPU
    kernel does the same. The plan then keeps the mask and makes the rest again.
    """
    for node in graph.find_nodes(op="call_function", target=aten.native_dropout.default):
        tensor, probability, training = node.args
        value = tensor.meta["val"]
        if training is not True or value.device.type != "cpu" or not value.numel():
            continue
        keep = 1.0 - probability
        with graph.inserting_before(node):
            mask = _mask_of(graph, node)
            scale = _rounded(0.0 if keep == 0 else 1.0 / keep, value.dtype)
            kept = graph.call_function(aten.native_dropout_backward.default, (tensor, mask, scale))
        kept.meta = {**node.meta, "val": node.meta["val"][0]}
        for user in list(node.users):
            user.replace_all_uses_with((kept, mask)[user.args[1]])
            graph.erase_node(user)
        graph.erase_node(node)


def _adds_products(node: fx.Node, before: fx.Node, product: fx.Node) -> bool:
    """`node` is the only reader of `product` and of the sum or product `before`."""
    same = len({(each.meta["val"].shape, each.meta["val"].dtype) for each in (node, before, product)}) == 1
    alone = before is not product and len(before.users) == len(product.users) == 1
    return same and alone and product.target is aten.mm.default and before.target in (aten.mm.default, aten.addmm.default)


def _add_products(graph: fx.Graph) -> None:
    """Adds each product of the backward pass to the sum of the products before it, as inductor's patterns do.

    Weights that a loop reads have such gradients. Apart, a product and its sum take memory for both.
    """
    place = {node: number for number, node in enumerate(graph.nodes)}
    from_tangents = _from_tangents(graph)
    for node in list(graph.find_nodes(op="call_function", target=aten.add.Tensor)):
        if node not in from_tangents or node.kwargs or not all(isinstance(operand, fx.Node) for operand in node.args):
            continue
        before, product = sorted(node.args, key=place.__getitem__)
        if not _adds_products(node, before, product):
            continue
        with graph.inserting_before(product):
            total = graph.call_function(aten.addmm.default, (before, *product.args))
        total.meta, place[total] = {**product.meta, "val": node.meta["val"]}, place[product]
        node.replace_all_uses_with(total)
        graph.erase_node(node)
        graph.erase_node(product)


def _from_tangents(graph: fx.Graph) -> set[fx.Node]:
    """The gradients that the backward graph receives, and all nodes that read them."""
    found: set[fx.Node] = set()
    for node in graph.nodes:
        if _private.is_tangent(node) or any(operand in found for operand in node.all_input_nodes):
            found.add(node)
    return found


def _closure(nodes: Iterable[fx.Node | None]) -> set[fx.Node]:
    """The nodes, and all nodes that they are made of."""
    found: set[fx.Node] = set()
    stack = [node for node in nodes if isinstance(node, fx.Node)]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(node.all_input_nodes)
    return found


class _Reader:
    def __init__(self, module: fx.GraphModule, num_fwd_outputs: int) -> None:
        self.module = module
        output = module.graph.output_node()
        leaves = pytree.tree_leaves(output.args, is_leaf=lambda leaf: leaf is None)
        self.forward_outputs, self.backward_outputs = leaves[:num_fwd_outputs], leaves[num_fwd_outputs:]
        self.descriptions = pytree.tree_leaves(output.meta.get("desc", ()), is_leaf=lambda leaf: leaf is None)
        self.values: dict[tuple[fx.Node, int], Value] = {}
        self.inputs: list[Value] = []
        self.tangents: list[Value] = []
        self.ops: list[Op] = []
        self.from_tangents = _from_tangents(module.graph)

    def _placeholders(self) -> None:
        for node in self.module.graph.nodes:
            if node.op == "get_attr" and not isinstance(node.meta.get("val"), torch.Tensor):
                continue  # a graph that a higher-order op calls
            if node.op not in ("placeholder", "get_attr"):
                continue
            if any(word in str(node.target) for word in ("seed", "base_offset")) or not tensors_of(node):
                if node.users:
                    raise UnsupportedStep(f"expected inputs that are tensors, but {node.name!r} is none")
                continue
            value = self.values[node, 0] = Value(node, 0, node.meta["val"])
            if _private.is_tangent(node):
                self.tangents.append(value)
            else:
                self.inputs.append(value)

    def _mutated(self) -> set[Value]:
        inputs = {str(value.node.meta.get("desc")): value for value in self.inputs}
        changed = set()
        for description in self.descriptions:
            if _private.is_mutation(description):
                value = inputs.get(str(description.mutated_input))
                changed.update([value] if value else [])
        for node in self.module.graph.nodes:
            if node.target is aten.copy_.default and _key(node.args[0]) in self.values:
                changed.add(self.values[_key(node.args[0])])
        return changed

    def _add(self, node: fx.Node, backward: bool, mutated: set[Value]) -> None:
        reads = (self.values.get(_key(operand)) for operand in node.all_input_nodes)
        inputs = [value for value in dict.fromkeys(reads) if value is not None]
        pieces = tensors_of(node)
        view = is_view(node) and len(inputs) == 1
        groups = [[piece] for piece in pieces] if view else [pieces]
        for group in groups:
            op = Op(node, inputs, backward=backward, reads_tangents=node in self.from_tangents, is_view=view)
            op.ordered = not view and (is_random(node) or _has_effects(node))
            if not is_training_norm(node) and not view:
                op.ordered |= any(base_of(value) in mutated for value in inputs)
            op.outputs = [Value(node, index, tensor, op) for index, tensor in group]
            self.values.update(((node, value.index), value) for value in op.outputs)
            self.ops.append(op)

    def read(self) -> Program:
        self._placeholders()
        mutated = self._mutated()
        nodes = [n for n in self.module.graph.nodes if n.op == "call_function" and n.target is not operator.getitem]
        effects = [n for n in nodes if n not in self.from_tangents and (is_random(n) or _has_effects(n))]
        forward = _closure([*self.forward_outputs, *effects])
        for node in [*(n for n in nodes if n in forward), *(n for n in nodes if n not in forward)]:
            self._add(node, node not in forward, mutated)
        kept = []
        for number, node in enumerate(self.forward_outputs):
            description = self.descriptions[number] if number < len(self.descriptions) else None
            if isinstance(node, fx.Node) and _key(node) in self.values and not _private.is_mutation(description):
                kept.append(self.values[_key(node)])
        return Program(
            self.module,
            self.inputs,
            self.tangents,
            self.ops,
            self.forward_outputs,
            self.backward_outputs,
            kept,
            sum(map(_private.is_mutation, self.descriptions)),
            self.values,
        )


def base_of(value: Value) -> Value:
    """The value in whose memory `value` lies."""
    while value.op is not None and value.op.is_view:
        value = value.op.inputs[0]
    return value


def read_joint(module: fx.GraphModule, num_fwd_outputs: int, engine: str) -> Program:
    """Returns the ops of a joint graph; common subexpressions are merged in it.

    Args:
        engine: inductor sums products as it makes them, and has no form of the use of a mask of `native_dropout`.

    Raises:
        UnsupportedStep: shapes are symbolic, or an input is no tensor.
    """
    _refuse_dynamic_shapes(module.graph)
    module.graph.eliminate_dead_code()
    module.graph = _private.require("fx_graph_cse")(module.graph)
    _drop_reads_of_statistics(module.graph)
    _drop_reads_of_shapes(module.graph)
    if engine == "inductor":
        _add_products(module.graph)
    else:
        _mask_dropouts(module.graph)
    module.graph.eliminate_dead_code()
    return _Reader(module, num_fwd_outputs).read()
