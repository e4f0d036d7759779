"""A plan as the forward graph and the backward graph of AOTAutograd.

Both graphs hold a node for each time that the plan runs an op, in the order of
the plan. The backward graph receives the values that stand in memory at the end
of the forward graph and are read later. Each kernel is a region of inductor's
patterns: across kernels, they would move a product to the sum that reads it, and
keep its operands until then. Values that the plan writes are marked for the same
reason: inductor would delay elementwise ops. Booleans stand in memory as numbers of
one byte: for the CPU, inductor packs and unpacks booleans element by element.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from ..planner import Plan
from . import _private
from .kernels import calls_pytorch
from .problem import JointProblem
from .program import Op, Program, Value, again, base_of, is_statistic

aten, prims = torch.ops.aten, torch.ops.prims

# Ops of each kernel, and the values that it writes.
Kernels = list[tuple[list[Op], list[Value]]]
# Booleans that stand in memory as numbers.
Masks = frozenset[Value]


class _Graph:
    """One graph under construction."""

    def __init__(self, program: Program, masks: Masks) -> None:
        self.program, self.masks = program, masks
        self.graph = fx.Graph()
        # The node that holds each value in memory now.
        self.held: dict[Value, fx.Node] = {}
        self.ran: set[fx.Node] = set()
        self.constants: dict[fx.Node, fx.Node] = {}
        self.region = 0

    def placeholder(self, value: Value) -> fx.Node:
        node = self.graph.placeholder(value.shown.name)
        # The argument has the name that the graph found free: another value may
        # have the old one.
        node.target = node.name
        node.meta = {**value.shown.meta, _private.REGION: 0}
        self.held[value] = node
        return node

    def hold(self, value: Value) -> None:
        """Adds what no op of the plan makes."""
        if value.node.op != "get_attr":
            raise AssertionError(f"the plan reads {value.node.name} before it is made")
        self.held[value] = self.graph.node_copy(value.node)

    def read(self, operand: fx.Node, local: dict[Value, fx.Node]) -> fx.Node:
        """The node that stands for `operand` of the joint graph now."""
        value = self.program.value(operand)
        if value is None:
            if operand not in self.constants:  # a graph that a higher-order op calls
                self.constants[operand] = self.graph.node_copy(operand)
            return self.constants[operand]
        return self.node_of(value, local)

    def node_of(self, value: Value, local: dict[Value, fx.Node]) -> fx.Node:
        if value in local:
            return local[value]
        if value not in self.held:
            if value.op is not None and value.op.is_view:
                self.run(value.op, local)
                return local[value]
            self.hold(value)
        return self._from_memory(value, local)

    def run(self, op: Op, local: dict[Value, fx.Node]) -> None:
        """Adds one run of `op`; `local` receives its results."""
        target, args = again(op.node) if op.node in self.ran else (op.node.target, op.node.args)
        args, kwargs = fx.node.map_arg((args, op.node.kwargs), lambda node: self.read(node, local))
        made = self.graph.create_node("call_function", target, args, kwargs, op.node.name)
        made.meta = {**op.node.meta, _private.REGION: self.region}
        self.ran.add(op.node)
        pieces = {user.args[1]: user for user in op.node.users if user.target is operator.getitem}
        for value in op.outputs:
            if not isinstance(op.node.meta["val"], (tuple, list)):
                local[value] = made
            elif value.index in pieces and not (target is not op.node.target and is_statistic(value)):
                piece = pieces[value.index]
                local[value] = self.graph.node_copy(piece, lambda _, made=made: made)
                if is_statistic(value):  # The plan may take it from a later run, which updates none.
                    self.held[value] = local[value]

    def kernel(self, ops: Sequence[Op], outputs: Sequence[Value]) -> None:
        local: dict[Value, fx.Node] = {}
        self.region += 1
        for op in ops:
            if not op.is_view:
                self.run(op, local)
        for value in outputs:
            if value in local:
                self.held[value] = self._to_memory(value, local[value])
                self._write(value, self.held[value])

    def _apply(self, target: Any, node: fx.Node, argument: Any) -> fx.Node:
        made = self.graph.call_function(target, (node, argument))
        made.meta = {**node.meta, "val": target(node.meta["val"], argument), _private.REGION: self.region}
        made.meta.pop(_private.WRITTEN, None)
        return made

    def _to_memory(self, value: Value, node: fx.Node) -> fx.Node:
        """What stands in memory for the result `node`."""
        if value not in self.masks:
            return node
        number = self._apply(prims.convert_element_type.default, node, torch.float32)
        return self._apply(prims.convert_element_type.default, number, torch.uint8)

    def _from_memory(self, value: Value, local: dict[Value, fx.Node]) -> fx.Node:
        """The value, made of what stands in memory for it."""
        if value not in self.masks:
            return self.held[value]
        number = self._apply(prims.convert_element_type.default, self.held[value], torch.float32)
        local[value] = self._apply(aten.ne.Scalar, number, 0)
        return local[value]

    @staticmethod
    def _write(value: Value, node: fx.Node) -> None:
        """Marks the result of one of inductor's own kernels; PyTorch's kernels write theirs at once."""
        if value.op is not None and not calls_pytorch(value.op, "inductor") and node.target is not operator.getitem:
            node.meta[_private.WRITTEN] = True

    def module(self, outputs: Sequence[fx.Node | None], descriptions: Sequence[object]) -> fx.GraphModule:
        node = self.graph.output(tuple(outputs))
        node.meta["desc"] = list(descriptions)
        node.meta["output_stack_traces"] = [
            output.meta.get("stack_trace") if output is not None else None for output in outputs
        ]
        self.graph.lint()
        return fx.GraphModule(self.program.module, self.graph)


class _Backward(_Graph):
    """The backward graph, which asks the forward graph for values."""

    def __init__(self, program: Program, forward: _Graph) -> None:
        super().__init__(program, forward.masks)
        # Values that the forward graph hands on, by their placeholders.
        self.saved: dict[Value, fx.Node] = {}
        self.ran = set(forward.ran)
        self.forward = forward
        for value in program.tangents:
            self.placeholder(value)

    def hold(self, value: Value) -> None:
        if value.node.op == "get_attr" or value not in self.forward.held:
            return super().hold(value)
        with self.graph.inserting_before(next(iter(self.graph.nodes))):
            self.saved[value] = self.placeholder(value)
        self.saved[value].meta["val"] = self.forward.held[value].meta["val"]


def as_written(program: Program) -> tuple[fx.GraphModule, fx.GraphModule]:
    """The split that autograd makes: each op runs once, in the order of the program."""
    runs = [([op], op.outputs) for op in program.ops]
    first = [run for run in runs if not run[0][0].backward]
    return _graphs(program, frozenset(), first, runs[len(first) :])


def _kernels(joint: JointProblem, plan: Plan, forward: bool) -> Kernels:
    """The kernels of the forward pass or of the backward pass."""
    cut = next(number for number, (ops, _) in enumerate(plan.kernels) if joint.tangents in ops)
    chosen = plan.kernels[:cut] if forward else plan.kernels[cut + 1 :]
    return [
        (
            [op for number in ops if (op := joint.ops[number]) is not None],
            [joint.values[number] for number in outputs if number in joint.values],
        )
        for ops, outputs in chosen
    ]


def _sorted_saved(graph: _Backward) -> list[Value]:
    """The saved values in the order of AOTAutograd; moves their placeholders."""
    order = sorted(graph.saved, key=lambda value: _private.is_unchecked(value.shown))
    for value in reversed(order):
        first = next(iter(graph.graph.nodes))
        if first is not graph.saved[value]:
            first.prepend(graph.saved[value])
    return order


def _masks(program: Program, engine: str) -> Masks:
    """The booleans on the CPU that inductor's own kernels make, and no others read."""
    nodes = [node for node in (*program.forward_outputs, *program.backward_outputs) if node is not None]
    others = [op for op in program.ops if calls_pytorch(op, engine)]
    shown = [value for node in nodes if (value := program.value(node)) is not None]
    shown += [value for op in others for value in (*op.inputs, *op.outputs)]
    made = {value for op in program.ops if not op.is_view for value in op.outputs}
    masks = {value for value in made if value.tensor.dtype == torch.bool and value.tensor.device.type == "cpu"}
    return frozenset(masks.difference(map(base_of, shown)))


def split(program: Program, joint: JointProblem, plan: Plan) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Returns the forward graph and the backward graph of `plan`."""
    first, second = (_kernels(joint, plan, forward) for forward in (True, False))
    return _graphs(program, _masks(program, joint.engine), first, second)


def _graphs(
    program: Program, masks: Masks, first: Kernels, second: Kernels
) -> tuple[fx.GraphModule, fx.GraphModule]:
    forward = _Graph(program, masks)
    for value in program.inputs:
        if value.node.op == "placeholder":
            forward.placeholder(value)
    for ops, outputs in first:
        forward.kernel(ops, outputs)
    backward = _Backward(program, forward)
    for ops, outputs in second:
        backward.kernel(ops, outputs)
    local: dict[Value, fx.Node] = {}
    gradients = [None if node is None else backward.read(node, local) for node in program.backward_outputs]
    count = len(program.forward_outputs)
    descriptions = list(program.module.graph.output_node().meta.get("desc", ()))
    descriptions += [None] * (count + len(gradients) - len(descriptions))
    saved = _sorted_saved(backward)
    backward_module = backward.module(gradients, descriptions[count:])
    for node in backward.graph.nodes:
        if node.op in ("call_function", "get_attr"):
            node.meta["autograd_backward"] = True

    local = {}
    outputs = [None if node is None else forward.read(node, local) for node in program.forward_outputs]
    outputs += [forward.held[value] for value in saved]
    handed = _private.saved_descriptions([value.shown for value in saved])
    return forward.module(outputs, [*descriptions[:count], *handed]), backward_module
