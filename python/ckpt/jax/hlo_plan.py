"""Plans the kernels that XLA itself made of a step, inside XLA's compilation: results keep the bits of plain `jit`.

XLA hands over its scheduled module behind fusion, layouts and copies (`ScheduledModule`). Each instruction is an op of a planning problem; the module is
written again in the order of the plan, with copies of the instructions that run twice. `ckpt.jax.jit` changes what XLA fuses, and
reaches lower budgets for it.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable
from typing import Any

from ..budget import Budget, format_bytes, parse_budget
from ..errors import BudgetError, UnsupportedStep
from ..planner import Plan, Problem, ProblemBuilder, Read
from ..progress import Progress
from . import xla
from .hlo_text import GIVEN, VIEWS, Instruction, Text, bytes_of, elements_of, module_text, serialized_module
from .kernels import MODELS
from .step import Report

_MODEL = MODELS["cpu"]
_MOST_ROUNDS = 4
# One array: an instruction, and the element of its tuple.
_Array = tuple[str, int]
_passes = itertools.count()


@dataclasses.dataclass
class CompiledHlo:
    """A compiled step: call it as the lowered function.

    Attributes:
        executable: `jax.stages.Compiled`.
        report: XLA's temporary bytes before and after, and the work that the plan repeats.
    """

    executable: Any
    report: Report

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.executable(*args, **kwargs)


class ScheduledModule:
    """A scheduled module as a planning problem."""

    def __init__(self, text: str) -> None:
        self.text = Text(text)
        if self.text.has_donations:
            raise UnsupportedStep("a step that donates arguments is not planned among XLA's own kernels: lower it without donate_argnums, or use ckpt.jax.jit")
        self.by_name = {each.name: each for each in self.text.instructions}
        self.kernels = [each for each in self.text.instructions if each.opcode not in VIEWS and each.opcode not in GIVEN]
        self.root = next(each for each in self.text.instructions if each.is_root)
        self.problem = self._problem()

    def arrays(self, name: str) -> list[_Array]:
        """The arrays that a name stands for, views looked through."""
        each = self.by_name[name]
        if each.opcode == "tuple":
            return [array for operand in each.operands for array in self.arrays(operand)]
        if each.opcode == "bitcast":
            return self.arrays(each.operands[0])
        if each.opcode != "get-tuple-element":
            return [(name, i) for i in range(len(each.parts))]
        source = self.by_name[each.operands[0]]
        if source.opcode == "tuple":
            return self.arrays(source.operands[each.index])
        inner = self.arrays(source.name)
        if len(inner) != len(source.parts):  # A tuple of tuples.
            return inner
        return [inner[each.index]]

    def _problem(self) -> Problem:
        builder = ProblemBuilder(_MODEL.bandwidth, _MODEL.launch_ns, takes_over=False)
        results = set(self.arrays(self.root.name))
        numbers: dict[_Array, int] = {}
        shapes = {each.name: each.shape for each in self.text.instructions}
        fixed, orders = self._written_over()
        backward: set[str] = set()
        for each in self.text.instructions:
            if each.opcode in VIEWS:
                continue
            is_given = each.opcode in GIVEN
            own = [(each.name, i) for i in range(len(each.parts))]
            for array, part in zip(own, each.parts):
                home = "argument" if is_given else "result" if array in results else "arena"
                numbers[array] = builder.value((elements_of(part),), bytes_of(part), home=home, name=each.name)
            if is_given:
                continue
            operands = dict.fromkeys(array for name in (*each.operands, *each.predecessors, *orders.get(each.name, ())) for array in self.arrays(name))
            flops = self.text.flops(each, shapes)
            is_late = "transpose(" in each.attributes or any(name in backward for name, _ in operands)
            if is_late:
                backward.add(each.name)
            is_pure = self.text.is_pure(each)
            builder.op(
                "opaque",
                [Read(numbers[array], need="memory") for array in operands],
                [numbers[array] for array in own],
                flops=flops,
                compute_ps=flops * 1_000_000 // _MODEL.product_rate,
                once=not is_pure or each.name in fixed or not results.isdisjoint(own),
                effects=each.opcode not in ("fusion", "scatter", "dynamic-update-slice", "sort") and not is_pure,
                backward=is_late,
                name=each.opcode,
            )
        return Problem(builder.text())

    def _written_over(self) -> tuple[set[str], dict[str, list[str]]]:
        """The instructions that run once, and those that have to run before one that may write over its operands.

        XLA laid copies for its own order: what reads such an operand before it is written over has to stay before.
        """
        fixed: set[str] = set()
        orders: dict[str, list[str]] = {}
        readers: dict[_Array, list[str]] = {}
        for each in self.kernels:
            operands = {array for name in each.operands for array in self.arrays(name)}
            if not self.text.is_pure(each):
                before = list(dict.fromkeys(name for array in operands for name in readers.get(array, ())))
                orders[each.name] = before
                fixed.update(before)
                fixed.update(name for name, _ in operands)
            for array in operands:
                readers.setdefault(array, []).append(each.name)
        return fixed, orders

    def planned(self, plan: Plan) -> str:
        """The module's text in the order of the plan."""
        lines: list[str] = []
        latest: dict[str, str] = {}
        views: dict[tuple[str, ...], str] = {}
        counts: dict[str, int] = {}

        def write(each: Instruction, operands: list[str]) -> str:
            number = counts.get(each.name, 0)
            counts[each.name] = number + 1
            name, attributes = each.name, each.attributes
            if number:
                name = f"{each.name}.again{number}"
                attributes = self.text.clone(attributes, f".again{number}.{len(self.text.clones)}")
            lines.append(each.line(name, operands, attributes))
            return name

        def place(name: str) -> str:
            each = self.by_name[name]
            if each.opcode not in VIEWS:
                return latest[name]
            operands = [place(operand) for operand in each.operands]
            key = (name, *operands)
            if key not in views:
                views[key] = write(each, operands)
            return views[key]

        for each in self.text.instructions:
            if each.opcode in GIVEN:
                latest[each.name] = write(each, [])
        for ops, _ in plan.kernels:
            for each in (self.kernels[op] for op in ops):
                latest[each.name] = write(each, [place(operand) for operand in each.operands])
        place(self.root.name)
        return self.text.written(lines)


class _Pass:
    """Plans one module while XLA compiles it."""

    def __init__(self, module: str, solve: Callable[[Problem], Plan]) -> None:
        self.module, self.solve = module, solve
        self.error: Exception | None = None
        self.problem: Problem | None = None
        self.plan: Plan | None = None
        self.seconds = 0.0

    def __call__(self, serialized: bytes) -> bytes | None:
        # XLA would wrap an exception in one of its own; `_compile` raises it.
        try:
            name, text = module_text(serialized)
            if name != self.module:
                return None
            start = time.perf_counter()
            module = ScheduledModule(text)
            self.problem = module.problem
            self.plan = self.solve(module.problem)
            self.seconds = time.perf_counter() - start
            return serialized_module(module.planned(self.plan))
        except Exception as error:
            self.error = error
            return None


def _compile(lowered: Any, own: _Pass) -> Any:
    from jax.extend import xla as extend

    name = f"ckpt-{next(_passes)}"
    where: dict[str, Any] = {"name": name, "stage": extend.PipelineStage.POST_SCHEDULER, "platforms": "cpu"}
    extend.register_hlo_module_transformation(own, **where)
    try:
        # An option without an effect, as JAX compiles nothing twice with the same ones.
        executable = lowered.compile(compiler_options={"xla_dump_hlo_pass_re": name})
    finally:
        extend.clear_hlo_module_transformation(**where)
    if own.error is not None:
        raise own.error
    if own.plan is None:
        raise UnsupportedStep("XLA handed no module over: the step was compiled before by a cache")
    return executable


def hlo(
    lowered: Any,
    *,
    budget: Budget | None = None,
    time_limit: float | None = None,
    effort: float | None = None,
    progress: Progress | None = None,
) -> CompiledHlo:
    """Compiles a lowered step within a budget, of the kernels that XLA makes of it anyway.

    Every result has the bits of `lowered.compile()`.

    Args:
        lowered: `jax.jit(step).lower(*args)`, for one CPU device and without donated arguments.
        budget: bytes, "12GiB" or a share of the temporary memory that plain `jit` takes, "50%"; none plans an order alone.
        time_limit: seconds of the search of a plan.
        effort: seconds of counted work in place of the time.
        progress: called with each new line for people.

    Raises:
        BudgetError: no plan was found, or XLA takes more than the budget of every plan.
        UnsupportedStep: JAX is older than 0.10.2, or the step is of another kind.
    """
    try:
        from jax.extend.xla import register_hlo_module_transformation  # noqa: F401
    except ImportError:
        raise UnsupportedStep("XLA's own kernels are planned by JAX 0.10.2 or newer: use ckpt.jax.jit") from None
    start = time.perf_counter()
    plain = lowered.compile()
    plain_seconds = time.perf_counter() - start
    devices = {device for sharding in xla.shardings(plain) for device in sharding.device_set}
    if len(devices) > 1 or any(device.platform != "cpu" for device in devices):
        raise UnsupportedStep("XLA's own kernels are planned for one CPU device: use ckpt.jax.jit for others")
    plain_bytes = xla.temp_bytes(plain)
    want = None if budget is None else parse_budget(budget, plain_bytes)
    figures: dict[str, Any] = {"budget_bytes": want, "plain_temp_bytes": plain_bytes}
    if want is not None and want >= plain_bytes:
        unplanned = dict.fromkeys(("planned_bytes", "kernels", "ops", "rounds"), 0)
        unplanned |= dict.fromkeys(("extra_flops_share", "extra_flops_bound_share", "planning_seconds"), 0.0)
        return CompiledHlo(plain, Report(**figures, **unplanned, temp_bytes=plain_bytes, compile_seconds=plain_seconds, planned=False))
    module = lowered.compiler_ir("stablehlo").operation.attributes["sym_name"].value
    ask, planning, least = want, 0.0, plain_bytes
    for number in range(1, _MOST_ROUNDS + 1):
        solve = lambda problem, ask=ask: problem.solve(ask, time_limit=time_limit, effort=effort, progress=progress)
        own = _Pass(module, solve)
        executable = _compile(lowered, own)
        assert own.plan is not None and own.problem is not None
        got = xla.temp_bytes(executable)
        planning += own.seconds
        least = min(least, got)
        if want is None or ask is None or got <= want:
            flops = max(1, own.problem.flops)
            report = Report(
                **figures,
                temp_bytes=got,
                planned_bytes=own.plan.arena_bytes,
                extra_flops_share=own.plan.extra_flops / flops,
                extra_flops_bound_share=own.problem.extra_flops_bound(own.plan) / flops,
                kernels=len(own.plan.kernels),
                ops=own.problem.text.count("\nop "),
                planning_seconds=planning,
                compile_seconds=time.perf_counter() - start - planning,
                rounds=number,
                schedule=own.problem.report(own.plan, want, "XLA's own kernels"),
            )
            return CompiledHlo(executable, report)
        ask = max(1, min(ask, own.plan.arena_bytes) - (got - want) - want // 100)
    raise BudgetError(
        f"XLA takes {format_bytes(least)} at least of the plans that were tried, more than the budget of {format_bytes(want or 0)}",
        budget_bytes=want or 0,
        smallest_bytes=least,
        bound_bytes=0,
        report="",
    )
