"""A plan as a function of JAX: the step's primitives in the order of kernels.

Each kernel reads its operands and the results of the kernel before it through
one `optimization_barrier`. XLA then neither fuses across kernels, nor merges a
rematerialization with its original, nor leaves the planned order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..planner import Plan
from . import cpu
from .kernels import KernelModel, is_anchor, is_collective, is_product
from .program import Op, Program, Value


def _feeding_products(program: Program) -> set[Value]:
    """Values that some product depends on; the others are gradients of weights and what follows them."""
    feeding: set[Value] = set()
    for op in reversed(program.ops):
        if is_product(op) or any(value in feeding for value in op.outputs):
            feeding.update(op.reads)
    return feeding


def _makers(ops: list[Op], output: Value, made: set[Value]) -> list[Op]:
    """The ops that `output` needs beside the values `made`."""
    needed, makers = {output}, []
    for op in reversed(ops):
        if any(value in needed for value in op.outputs):
            makers.append(op)
            needed.update(value for value in op.reads if value not in made)
    return makers[::-1]


class _Run:
    """One trace of the planned step."""

    def __init__(self, program: Program, arguments: Sequence[Any], model: KernelModel, is_sharded: bool) -> None:
        self.model = model
        # XLA may not be able to partition the reshaped operands of these forms.
        self.cpu_forms = model.cpu_buffers and not is_sharded
        self.env: dict[Value, Any] = dict(zip(program.inputs, arguments))
        self.env.update(program.constants)
        self.previous: list[Value] = []

    def read(self, operand: Any, local: dict[Value, Any]) -> Any:
        return local[operand] if isinstance(operand, Value) else operand.val

    def kernel(self, ops: list[Op], outputs: list[Value], chained: bool, awaited: bool) -> None:
        """Runs `ops`, behind the kernel before if `chained`; the next kernel waits for it if `awaited`."""
        waits = [self._loop(part, written, chained) for part, written in self._loops(ops, outputs)]
        if awaited and outputs:
            # A loop that reads nothing, such as that of a constant, waits for no kernel.
            self.previous = outputs if all(waits) else [*self.previous, *outputs]

    def _loops(self, ops: list[Op], outputs: list[Value]) -> list[tuple[list[Op], list[Value]]]:
        """The loops of a kernel, each with the values that it writes.

        XLA's CPU backend makes each output by a loop of its own, and writes the costly
        values that two loops share. Loops with their own ops share none.
        """
        if not self.cpu_forms or len(outputs) < 2 or any(is_anchor(op, self.model) for op in ops):
            return [(ops, outputs)]
        place = {value: i for i, op in enumerate(ops) for value in op.outputs}
        ordered = sorted(outputs, key=place.__getitem__)
        return [(_makers(ops, value, set(ordered[:i])), [value]) for i, value in enumerate(ordered)]

    def _loop(self, ops: list[Op], outputs: list[Value], chained: bool) -> bool:
        """Returns whether the loop waits for the kernel before."""
        made = {value for op in ops for value in op.outputs}
        reads = list(dict.fromkeys(value for op in ops for value in op.reads if value not in made))
        local = {value: self.env[value] for value in reads}
        if chained and self.previous:
            before = [self.env[value] for value in self.previous]
            held = jax.lax.optimization_barrier(([local[value] for value in reads], before))
            local.update(zip(reads, held[0]))
        for op in ops:
            operands = [self.read(operand, local) for operand in op.inputs]
            results = cpu.run(op, operands) if self.cpu_forms else op.run(operands)
            local.update(zip(op.outputs, results))
        self.env.update((value, local[value]) for value in outputs)
        return bool(reads)


def planned_function(program: Program, plan: Plan, model: KernelModel, is_sharded: bool) -> Callable[..., list[Any]]:
    """Returns a function of the flat inputs of `program` that follows `plan`.

    XLA combines only collectives that do not wait for each other. Collectives that
    no product depends on, such as those of gradients, therefore run behind all
    kernels. XLA inserts those of a sharded step (`is_sharded`) itself, behind the
    kernels that make gradients: no other kernel waits for these.
    """
    values: dict[int, Value] = {value.number: value for value in (*program.inputs, *program.constants)}
    for op in program.ops:
        values.update((value.number, value) for value in op.outputs)
    feeding = _feeding_products(program)

    def is_last(op: Op) -> bool:
        return is_collective(op) and not any(value in feeding for value in op.outputs)

    def run(*arguments: Any) -> list[Any]:
        state = _Run(program, arguments, model, is_sharded)
        deferred = []
        late: set[Value] = set()
        for numbers, written in plan.kernels:
            ops = [program.ops[number] for number in numbers]
            outputs = [values[number] for number in written]
            made = {value for op in ops for value in op.outputs}
            waits = any(map(is_last, ops)) or any(
                value in late for op in ops for value in op.reads if value not in made
            )
            if waits:
                deferred.append((ops, outputs))
                late.update(outputs)
                continue
            awaited = not is_sharded or any(value in feeding for value in outputs)
            state.kernel(ops, outputs, chained=True, awaited=awaited)
            if awaited:
                late.difference_update(outputs)
            else:
                late.update(outputs)
        for ops, outputs in deferred:
            state.kernel(ops, outputs, chained=False, awaited=False)
        return [state.read(operand, state.env) for operand in program.outputs]

    return run
