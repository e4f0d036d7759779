"""A plan as a function of JAX: the step's primitives in the order of kernels.

Each kernel reads its operands and the results of the kernel before it through
one `optimization_barrier`. XLA then neither fuses across kernels, nor merges a
rematerialization with its original, nor leaves the planned order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from ..planner import Plan
from . import cpu, partial
from .barrier import barrier
from .kernels import KernelModel, is_anchor, is_collective, is_product
from .program import Op, Program, Value


def _feeding_products(program: Program) -> set[Value]:
    """Values that some product depends on; the others are gradients of weights and what follows them."""
    feeding: set[Value] = set()
    for op in reversed(program.ops):
        if is_product(op) or any(value in feeding for value in op.outputs):
            feeding.update(op.reads)
    return feeding


def _makers(ops: list[Op], outputs: Iterable[Value], made: set[Value]) -> list[Op]:
    """The ops that `outputs` need beside the values `made`."""
    needed, makers = set(outputs), []
    for op in reversed(ops):
        if any(value in needed for value in op.outputs):
            makers.append(op)
            needed.update(value for value in op.reads if value not in made)
    return makers[::-1]


@dataclasses.dataclass
class _Sums:
    """The sums of a step that XLA partitions.

    Attributes:
        parts: by op that sums over several devices, the parts that these make.
        late: sums over several devices on which no product depends, such as gradients, and the values that follow them.
        delayed: all sums over several devices, and values that follow them alone, such as those of statistics.
    """

    parts: dict[Op, partial.Parts]
    late: set[Value]
    delayed: set[Value]

    @staticmethod
    def of(program: Program, placement: partial.Placement) -> _Sums:
        parts = {op: own for op in program.ops if (own := partial.parts_of(op, placement))}
        feeding, exchanging = _feeding_products(program), partial.exchanging(program, placement)
        known, late, delayed = {*program.inputs, *program.constants}, set(), set()
        for op in program.ops:
            if op in exchanging or not late.isdisjoint(op.reads):
                late.update(value for value in op.outputs if value not in feeding)
            follows = not delayed.isdisjoint(op.reads) and delayed.issuperset(set(op.reads) - known)
            if op in parts or (follows and not is_product(op)):
                delayed.update(op.outputs)
            elif known.issuperset(op.reads) and not is_product(op):
                known.update(op.outputs)
        return _Sums(parts, late, delayed)


class _Run:
    """One trace of the planned step."""

    def __init__(self, program: Program, arguments: Sequence[Any], model: KernelModel, sums: _Sums | None) -> None:
        self.model = model
        self.sums = sums
        # XLA may not be able to partition the reshaped operands of these forms.
        self.cpu_forms = model.cpu_buffers and sums is None
        # Arrays by value, and the parts that devices made of a sum that none has read yet.
        self.env: dict[Value, Any] = dict(zip(program.inputs, arguments))
        self.env.update(program.constants)
        self.parts: dict[Value, Any] = {}
        # The values that the next kernel waits for.
        self.previous: list[Value] = []

    def read(self, operand: Any, local: dict[Value, Any]) -> Any:
        if not isinstance(operand, Value):
            return operand.val
        if operand in self.parts:
            local[operand] = self.env[operand] = partial.total(self.parts.pop(operand))
        return local[operand]

    def kernel(self, ops: list[Op], outputs: list[Value], chained: bool) -> None:
        """Runs `ops`, if `chained` behind the kernel before and ahead of the next one."""
        waits = [self._loop(part, written, chained) for part, written in self._loops(ops, outputs)]
        if chained and outputs:
            # A loop that reads nothing, such as that of a constant, waits for no kernel.
            self.previous = outputs if all(waits) else [*self.previous, *outputs]

    def sharded_kernel(self, ops: list[Op], outputs: list[Value]) -> None:
        """Runs `ops` of a step that XLA partitions behind the kernel before.

        The next kernel waits for the parts of sums, and for no sum, so that XLA can combine these.
        """
        self._loop(ops, outputs, chained=True)
        self.previous = list(filter(self._is_made_here, outputs)) or self.previous

    def _loops(self, ops: list[Op], outputs: list[Value]) -> list[tuple[list[Op], list[Value]]]:
        """The loops of a kernel, each with the values that it writes.

        XLA's CPU backend makes each output by a loop of its own, and writes the costly
        values that two loops share. Loops with their own ops share none.
        """
        if not self.cpu_forms or len(outputs) < 2 or any(is_anchor(op, self.model) for op in ops):
            return [(ops, outputs)]
        place = {value: i for i, op in enumerate(ops) for value in op.outputs}
        ordered = sorted(outputs, key=place.__getitem__)
        return [(_makers(ops, [value], set(ordered[:i])), [value]) for i, value in enumerate(ordered)]

    def _loop(self, ops: list[Op], outputs: list[Value], chained: bool) -> bool:
        """Returns whether the loop waits for the kernel before."""
        made = {value for op in ops for value in op.outputs}
        reads = list(dict.fromkeys(value for op in ops for value in op.reads if value not in made))
        local: dict[Value, Any] = {}
        for waiting in self._barriers(reads) if chained and self.previous else ():
            delayed = self.sums is not None and waiting[0] in self.sums.delayed
            local.update(zip(waiting, self._behind_previous([self.read(v, self.env) for v in waiting], delayed)))
        local.update((value, self.read(value, self.env)) for value in reads if value not in local)
        waits = bool(reads)
        for op in ops:
            if not reads and not op.reads and chained and self.previous and op.name == "broadcast_in_dim":
                # XLA merges equal constants, and copies them for each op that writes over them.
                local[op.outputs[0]], waits = self._constant(op), True
                continue
            operands = [self.read(operand, local) for operand in op.inputs]
            local.update(zip(op.outputs, self._results(op, operands)))
        self.env.update((value, local[value]) for value in outputs)
        return waits

    def _constant(self, op: Op) -> Any:
        (literal,) = op.inputs
        (number,) = self._behind_previous([jax.numpy.asarray(literal.val, literal.aval.dtype)], delayed=False)
        return op.eqn.primitive.bind(number, **op.eqn.params)

    def _behind_previous(self, waiting: list[Any], delayed: bool) -> list[Any]:
        """The arrays `waiting` behind a barrier that waits for the kernel before.

        Later readers of that kernel's values read them behind the barrier, too: XLA drops operands of a barrier
        whose results nothing reads. None of them waits for arrays that are `delayed`.
        """
        previous = [value for value in self.previous if self._is_made_here(value)]
        held, later = barrier((waiting, [self.parts.get(value, self.env[value]) for value in previous]))
        if not delayed:
            for value, array in zip(previous, later):
                (self.parts if value in self.parts else self.env)[value] = array
        return held

    def _is_made_here(self, value: Value) -> bool:
        """Whether a device makes `value`, or the part of it that stands in its place, without others."""
        sums = self.sums
        return value in self.parts or sums is None or not (value in sums.late or value in sums.delayed)

    def _barriers(self, reads: list[Value]) -> list[list[Value]]:
        """The operands that pass each barrier: no operand waits for sums over several devices beside it."""
        if self.sums is None:
            return [reads] if reads else []
        delayed = self.sums.delayed
        waiting = [value for value in reads if value not in self.sums.late]
        groups = [[value for value in waiting if (value in delayed) == is_delayed] for is_delayed in (False, True)]
        return [group for group in groups if group]

    def _results(self, op: Op, operands: list[Any]) -> list[Any]:
        if self.cpu_forms:
            return cpu.run(op, operands)
        parts = self.sums.parts.get(op) if self.sums else None
        if parts is None:
            return op.run(operands)
        self.parts[op.outputs[0]] = parts.run(op, operands)
        return [None]


def planned_function(
    program: Program, plan: Plan, model: KernelModel, placement: partial.Placement | None
) -> Callable[..., list[Any]]:
    """Returns a function of the flat inputs of `program` that follows `plan`.

    XLA combines only collectives that do not wait for each other. Collectives that
    no product depends on, such as those of gradients, therefore run behind all
    kernels. XLA inserts those of a sharded step (with a `placement`) itself, behind
    the kernels that make gradients: other kernels wait for the parts of each device.
    """
    values: dict[int, Value] = {value.number: value for value in (*program.inputs, *program.constants)}
    for op in program.ops:
        values.update((value.number, value) for value in op.outputs)
    feeding = _feeding_products(program)
    sums = None if placement is None else _Sums.of(program, placement)

    def is_last(op: Op) -> bool:
        return is_collective(op) and not any(value in feeding for value in op.outputs)

    def following(ops: list[Op], late: set[Value]) -> set[Op]:
        """The ops of a kernel that are the last collectives or read them or the values `late`."""
        found: set[Op] = set()
        made: dict[Value, Op] = {}
        for op in ops:
            if is_last(op) or any(made[v] in found if v in made else v in late for v in op.reads):
                found.add(op)
            made.update(dict.fromkeys(op.outputs, op))
        return found

    def run(*arguments: Any) -> list[Any]:
        state = _Run(program, arguments, model, sums)
        deferred = []
        late: set[Value] = set()
        for numbers, written in plan.kernels:
            ops = [program.ops[number] for number in numbers]
            outputs = [values[number] for number in written]
            found = following(ops, late)
            last = [value for value in outputs if value.op in found]
            if found and (last or not outputs):
                deferred.append((_makers(ops, last, set()) if outputs else ops, last))
                outputs = [value for value in outputs if value.op not in found]
                ops = _makers(ops, outputs, set())
                late.update(last)
            late.difference_update(outputs)
            if sums is None:
                state.kernel(ops, outputs, chained=True)
            else:
                state.sharded_kernel(ops, outputs)
                late.update(value for value in outputs if value in sums.late)
        for ops, outputs in deferred:
            state.kernel(ops, outputs, chained=False)
        return [state.read(operand, state.env) for operand in program.outputs]

    return run
