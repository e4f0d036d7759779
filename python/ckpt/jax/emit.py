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
from .kernels import is_collective, is_product
from .program import Op, Program, Value


def _feeding_products(program: Program) -> set[Value]:
    """Values that some product depends on; the others are gradients of weights and what follows them."""
    feeding: set[Value] = set()
    for op in reversed(program.ops):
        if is_product(op) or any(value in feeding for value in op.outputs):
            feeding.update(op.reads)
    return feeding


class _Run:
    """One trace of the planned step."""

    def __init__(self, program: Program, arguments: Sequence[Any]) -> None:
        self.env: dict[Value, Any] = dict(zip(program.inputs, arguments))
        self.env.update(program.constants)
        self.previous: list[Value] = []

    def read(self, operand: Any, local: dict[Value, Any]) -> Any:
        return local[operand] if isinstance(operand, Value) else operand.val

    def kernel(self, ops: list[Op], outputs: list[Value], chained: bool, awaited: bool) -> None:
        """Runs `ops`, behind the kernel before if `chained`; the next kernel waits for it if `awaited`."""
        made = {value for op in ops for value in op.outputs}
        reads = list(dict.fromkeys(value for op in ops for value in op.reads if value not in made))
        local = {value: self.env[value] for value in reads}
        if chained and self.previous:
            before = [self.env[value] for value in self.previous]
            held = jax.lax.optimization_barrier(([local[value] for value in reads], before))
            local.update(zip(reads, held[0]))
        for op in ops:
            local.update(zip(op.outputs, op.run([self.read(operand, local) for operand in op.inputs])))
        self.env.update((value, local[value]) for value in outputs)
        if awaited and outputs:
            self.previous = outputs


def planned_function(program: Program, plan: Plan, is_sharded: bool) -> Callable[..., list[Any]]:
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
        state = _Run(program, arguments)
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
