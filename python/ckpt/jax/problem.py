"""A program of `ckpt.jax.program` as a planning problem."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..equations import scan_counts
from ..errors import CkptError
from ..planner import Problem, ProblemBuilder
from .kernels import KernelModel, describe, is_collective
from .partial import Placement, exchanging, share
from .program import Op, Operand, Program, Value, bytes_of, flatten, is_backward, place_of

Pins = Mapping[str, str]


def _pin_of(layer: str, pins: Pins) -> str:
    for pattern, pin in pins.items():
        if fnmatch.fnmatchcase(layer, pattern):
            return pin
    return "free"


def _check_pins(pins: Pins, layers: set[str]) -> None:
    for pattern, pin in pins.items():
        if pin not in ("save", "recompute"):
            raise CkptError(f"expected pin {pattern!r} to be 'save' or 'recompute', but got {pin!r}")
        if not any(fnmatch.fnmatchcase(layer, pattern) for layer in layers):
            some = ", ".join(sorted(layers)[:8]) or "none: name them with jax.named_scope"
            raise CkptError(f"pin {pattern!r} matches no layer; the step has {some}")


def _donations(program: Program, donated: Sequence[bool]) -> dict[Value, Value]:
    """By result, the argument in whose buffer it lies: JAX gives each result the first one left of its type."""
    free: dict[Any, deque[Value]] = defaultdict(deque)

    def kind(operand: Operand) -> Any:
        return operand.aval.shape, operand.aval.dtype

    for value, is_donated in zip(program.inputs, donated):
        if is_donated:
            free[kind(value)].append(value)
    takers = [(operand, free[kind(operand)].popleft()) for operand in program.outputs if free[kind(operand)]]
    return {result: argument for result, argument in reversed(takers) if isinstance(result, Value) and result.op}


@dataclasses.dataclass
class _Inside:
    """What a loop or a conditional takes beside its operands and results."""

    workspace: int = 0
    flops: int = 0
    time_ps: int = 0


def _bodies(op: Op) -> list[tuple[Any, list[bool]]]:
    """The jaxprs that `op` runs, each with whether its inputs are carried: a new value lies where the old one did."""
    params = op.eqn.params
    if op.name == "cond":
        return [(branch, []) for branch in params["branches"]]
    if op.name == "scan":
        constants, carries = scan_counts(params)
        return [(params["jaxpr"], [False] * constants + [True] * carries)]
    if op.name == "while":
        carried = [False] * params["body_nconsts"]
        carried += [True] * (len(params["body_jaxpr"].jaxpr.invars) - len(carried))
        return [(params["cond_jaxpr"], []), (params["body_jaxpr"], carried)]
    return []


def _has_wide_products(program: Program) -> bool:
    """Whether XLA reshapes operands of products to matrices: it writes no value over one that it reshapes."""
    for op in program.ops:
        if op.name == "dot_general":
            contracted, batch = op.eqn.params["dimension_numbers"]
            for operand, summed, batches in zip(op.inputs, contracted, batch):
                if len(summed) > 1 or len(operand.aval.shape) - len(batches) > 2:
                    return True
    return False


def _inside(op: Op, model: KernelModel) -> _Inside:
    """The fastest plan of each jaxpr that `op` runs; nobody knows how often a `while` runs, which counts once."""
    inside = _Inside()
    times = op.eqn.params["length"] if op.name == "scan" else 1
    for closed, carried in _bodies(op):
        body = flatten(closed, unroll_limit=0)
        # No barriers keep XLA from writing a value over an operand of its kernel.
        problem = build_problem(body, model, donated=carried, takes_over=not _has_wide_products(body))
        plan = problem.solve(None, effort=problem.search_seconds)
        inside.workspace = max(inside.workspace, plan.arena_bytes)
        inside.flops = max(inside.flops, times * problem.flops)
        inside.time_ps = max(inside.time_ps, times * plan.time_ns * 1000)
    return inside


def build_problem(
    program: Program,
    model: KernelModel,
    *,
    pins: Pins | None = None,
    donated: Sequence[bool] = (),
    placement: Placement = MappingProxyType({}),
    takes_over: bool = False,
) -> Problem:
    """Numbers the values of `program` and returns its planning problem.

    Args:
        program: its values receive their numbers.
        model: the kernels of the backend.
        pins: "save" or "recompute" by patterns on layer names.
        donated: by input, whether a result may lie in its buffer.
        placement: where XLA lays values of a step that it partitions. Bytes and work are then those of one device.
        takes_over: XLA may write a value over an operand of its kernel; it may on accelerators.
    """
    pins = pins or {}
    builder = ProblemBuilder(model.bandwidth, model.launch_ns, takes_over=takes_over or not model.cpu_buffers)
    exchanged = exchanging(program, placement)
    shares = {value: share(value, placement) for value in placement}
    nbytes = lambda value: round(bytes_of(value.aval) * shares.get(value, 1.0))
    for value in (*program.inputs, *program.constants):
        value.number = builder.value(_shape(value), nbytes(value), home="argument")
    hosts = _donations(program, donated)
    results = {operand for operand in program.outputs if isinstance(operand, Value)}
    backward: set[Value] = set()
    layers = {layer for op in program.ops if (layer := op.layer)}
    _check_pins(pins, layers)
    for op in program.ops:
        late = is_backward(op) or any(value in backward for value in op.reads)
        layer = op.layer
        is_alone = bool(op.eqn.effects) or is_collective(op)
        is_once = is_alone or op in exchanged
        description = describe(op, model)
        for value in op.outputs:
            keep = "free" if late or is_once or description.kind == "view" else _pin_of(layer, pins)
            value.number = builder.value(
                _shape(value),
                nbytes(value),
                home="result" if value in results else "arena",
                host=hosts[value].number if value in hosts else None,
                keep=keep,
                name=_name_of(op),
            )
            if late:
                backward.add(value)
        rate = model.product_rate if description.is_product else model.element_rate
        # A device does the part of an op that its most divided value has.
        part = min((shares.get(value, 1.0) for value in (*op.outputs, *op.reads)), default=1.0)
        inside = _inside(op, model)
        flops = round(max(description.flops, inside.flops) * part)
        builder.op(
            "opaque" if is_alone else description.kind,
            description.reads,
            [value.number for value in op.outputs],
            flops=flops,
            compute_ps=max(flops * 1_000_000 // rate, round(inside.time_ps * part)),
            workspace=round((description.workspace + inside.workspace) * part),
            once=is_once,
            effects=bool(op.eqn.effects),
            backward=late,
            layer=layer,
            name=op.name,
        )
    return Problem(builder.text(), hosts_results=True)


def _name_of(op: Op) -> str:
    """Layer, primitive and the user's line: "h_0/attn · exp (model.py:12)"."""
    place = place_of(op)
    name = f"{op.layer} · {op.name}" if op.layer else op.name
    return f"{name} ({place})" if place else name


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(getattr(value.aval, "shape", ()))
