"""A program of `ckpt.torch.program` as a planning problem."""

from __future__ import annotations

import dataclasses

from ..planner import Problem, ProblemBuilder, Read
from .kernels import Description, KernelModel, describe, flops_of, home_of, layer_of, transposed_by
from .program import Op, Program, Value, base_of, scratch_of


class JointProblem:
    """The planning problem of a joint graph.

    The forward pass comes first. The op `tangents` reads all outputs and makes
    their gradients, so that no op of the backward pass runs before it. The op
    `return` reads the gradients of parameters and the outputs that the caller
    holds, so that they stand in memory at the end.

    Attributes:
        problem: for the planner.
        ops: by op number; `None` is `tangents`, `return` or a view that only the problem has.
        values: by value number.
        tangents: the number of the op `tangents`.
        engine: that runs the step.
    """

    def __init__(
        self,
        program: Program,
        engine: str,
        model: KernelModel,
        *,
        gradients_count: bool = True,
        repeats_products: bool = True,
    ) -> None:
        """
        Args:
            repeats_products: a plan may repeat ops that PyTorch's counter of FLOPs counts.
        """
        self._builder = ProblemBuilder(model.bandwidth, model.launch_ns)
        self.engine, self._model, self._repeats_products = engine, model, repeats_products
        self.ops: list[Op | None] = []
        self.values: dict[int, Value] = {}
        self._results = set() if gradients_count else self._gradients(program)
        self._kept = set(map(base_of, program.kept))
        for value in program.inputs:
            self._value(value, home="argument")
        pending = list(program.ops)
        while pending and not pending[0].backward:
            self._op(pending.pop(0))
        self.tangents = len(self.ops)
        self._tangents(program)
        for op in pending:
            self._op(op)
        self._return(program)
        self.problem = Problem(self._builder.text())

    @staticmethod
    def _gradients(program: Program) -> set[Value]:
        nodes = [node for node in program.backward_outputs if node is not None]
        values = {base_of(value) for node in nodes if (value := program.value(node)) is not None}
        return {value for value in values if value.op is not None}

    def _value(self, value: Value, home: str = "arena", shape: tuple[int, ...] | None = None) -> int:
        if value in self._results:
            home = "result"
        # PyTorch never copies a view: its readers see the memory of its operand. What the caller holds stays as it is.
        keep = "free" if value.op is None else "inline" if value.op.is_view else "save" if value in self._kept else "free"
        name = home_of(value)
        value.number = self._builder.value(shape or value.shape, value.nbytes, home=home, keep=keep, name=name)
        self.values[value.number] = value
        return value.number

    def _renamed(self, number: int, access: str, shape: tuple[int, ...], nbytes: int) -> int:
        """Adds a view of value `number`."""
        view = self._builder.value(shape, nbytes, keep="inline")
        self._builder.op("view", [Read(number, access)], [view], name="rename")
        self.ops.append(None)
        return view

    def _transposed(self, op: Op, source: Value) -> None:
        """Adds a transposed copy of `source`.

        All outputs of one kernel have one shape, and inductor writes a value and its transposed copy
        in one kernel: the copy has the shape of `source`, and its readers see it through a view.
        """
        (copy,) = op.outputs
        read = self._renamed(source.number, "permute", source.shape, source.nbytes)
        made = self._value(copy, shape=source.shape)
        self._add(op, dataclasses.replace(describe(op, self.engine, self._model), reads=[Read(read, "pointwise")]), [made])
        copy.number = self._renamed(made, "reshape", copy.shape, copy.nbytes)

    def _op(self, op: Op) -> None:
        if (source := transposed_by(op, self.engine)) is not None:
            return self._transposed(op, source)
        description = describe(op, self.engine, self._model)
        self._add(op, description, [self._value(value) for value in op.outputs])

    def _add(self, op: Op, description: Description, outputs: list[int]) -> None:
        once = op.ordered or not (self._repeats_products or flops_of(op.node) == 0)
        once |= op.reads_tangents and description.kind not in ("view", "fusible")
        if not outputs:
            outputs = [self._builder.value((), 0)]
        self._builder.op(
            "opaque" if op.ordered else description.kind,
            description.reads,
            outputs,
            flops=description.flops,
            compute_ps=description.compute_ps,
            workspace=scratch_of(op.node),
            once=once,
            effects=op.ordered,
            backward=op.backward,
            layer=layer_of(op.node),
            name=op.name,
        )
        self.ops.append(op)

    def _tangents(self, program: Program) -> None:
        nodes = [node for node in program.forward_outputs if node is not None]
        values = dict.fromkeys(base_of(value) for node in nodes if (value := program.value(node)) is not None)
        reads = [Read(value.number, need="memory") for value in values]
        results = [self._value(value) for value in program.tangents] or [self._builder.value((), 0)]
        self._builder.op("opaque", reads, results, once=True, effects=True, name="tangents")
        self.ops.append(None)

    def _return(self, program: Program) -> None:
        nodes = [node for node in program.backward_outputs if node is not None]
        values = dict.fromkeys(base_of(value) for node in nodes if (value := program.value(node)) is not None)
        held = dict.fromkeys([*values, *map(base_of, program.kept)])
        reads = [Read(value.number, need="memory") for value in held]
        end = self._builder.value((), 0, home="result", name="end")
        self._builder.op("opaque", reads, [end], once=True, effects=True, backward=True, name="return")
        self.ops.append(None)
