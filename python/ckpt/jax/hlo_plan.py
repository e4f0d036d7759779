"""Plans the kernels that XLA itself made of a step, inside XLA's compilation: results keep the bits of plain `jit`.

XLA hands over its scheduled module behind fusion, layouts and copies (`ScheduledModule`). Each instruction is an op of a planning problem; the module is
written again in the order of the plan, with copies of the instructions that run twice. `ckpt.jax.jit` changes what XLA fuses, and
reaches lower budgets for it.
"""

from __future__ import annotations

import dataclasses
import functools
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ..budget import Budget, parse_budget
from ..errors import BudgetError, UnsupportedStep
from ..planner import Plan, Problem, ProblemBuilder, Read
from ..progress import Progress
from . import xla
from .hlo_text import GIVEN, VIEWS, Instruction, Text, bytes_of, elements_of, module_text, serialized_module
from .kernels import MODELS
from .step import Report, budget_error

_MODEL = MODELS["cpu"]
_MOST_ROUNDS = 4
# One array: an instruction, and the element of its tuple.
_Array = tuple[str, int]


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
        self.by_name = {each.name: each for each in self.text.instructions}
        self.root = next(each for each in self.text.instructions if each.is_root)
        # Copies that stand for their operands.
        self.dropped: set[str] = set()
        self.hosts = self._hosts()
        self.dropped = self._needless_copies()
        self.kernels = [each for each in self.text.instructions if each.opcode not in GIVEN and not self._is_view(each)]
        self.writing = [each for each in self.kernels if not self.text.is_pure(each)]
        self.problem = self._problem()

    def arrays(self, name: str) -> list[_Array]:
        """The arrays that a name stands for, views looked through."""
        each = self.by_name[name]
        if each.opcode == "tuple":
            return [array for operand in each.operands for array in self.arrays(operand)]
        if each.opcode == "bitcast" or name in self.dropped:
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

    def _is_view(self, each: Instruction) -> bool:
        return each.opcode in VIEWS or each.name in self.dropped

    def _results(self) -> list[str]:
        """The names of the results, in their order."""
        return self.root.operands if self.root.opcode == "tuple" else [self.root.name]

    def _hosts(self) -> dict[_Array, _Array]:
        """By result, the donated argument in whose buffer it lies."""
        parameters = {int(each.given): each.name for each in self.text.instructions if each.opcode == "parameter"}
        results = self._results()
        pairs = {self.arrays(results[result])[0]: (parameters[number], 0) for result, number in self.text.donations().items()}
        return {result: argument for result, argument in pairs.items() if self.by_name[result[0]].opcode not in GIVEN}

    def _readers(self) -> dict[_Array, list[Instruction]]:
        readers: dict[_Array, list[Instruction]] = {}
        for each in self.text.instructions:
            if not self._is_view(each) and each.opcode not in GIVEN:
                for array in dict.fromkeys(array for name in each.operands for array in self.arrays(name)):
                    readers.setdefault(array, []).append(each)
        return readers

    def _needless_copies(self) -> set[str]:
        """Copies of donated arguments that XLA made since it knew no order of their readers and the result; the plan has one."""
        readers, results = self._readers(), {array for name in self._results() for array in self.arrays(name)}
        found: set[str] = set()
        for argument in self.hosts.values():
            own = readers.get(argument, [])
            copies = [each for each in own if each.opcode == "copy" and each.shape == self.by_name[argument[0]].shape and (each.name, 0) not in results]
            if all(self.text.is_pure(each) for each in (*own, *(reader for copy in copies for reader in readers.get((copy.name, 0), ())))):
                found.update(copy.name for copy in copies)
        return found

    def _access(self, each: Instruction, array: _Array) -> str:
        """How a kernel reads an argument that its result may be written over."""
        if self.hosts.get((each.name, 0)) != array or len(each.parts) > 1:
            return "any"
        places = [i for i, name in enumerate(each.operands) if array in self.arrays(name)]
        return "pointwise" if all(self.text.is_pointwise(each, i) for i in places) else "any"

    def _problem(self) -> Problem:
        builder = ProblemBuilder(_MODEL.bandwidth, _MODEL.launch_ns, takes_over=False)
        results = set(self.arrays(self.root.name))
        numbers: dict[_Array, int] = {}
        shapes = {each.name: each.shape for each in self.text.instructions}
        fixed, orders = self._written_over()
        backward: set[str] = set()
        for each in self.text.instructions:
            if self._is_view(each):
                continue
            is_given = each.opcode in GIVEN
            own = [(each.name, i) for i in range(len(each.parts))]
            for array, part in zip(own, each.parts):
                home = "argument" if is_given else "result" if array in results else "arena"
                host = numbers[self.hosts[array]] if array in self.hosts else None
                numbers[array] = builder.value((elements_of(part),), bytes_of(part), home=home, host=host, name=each.name)
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
                [Read(numbers[array], self._access(each, array), need="memory") for array in operands],
                [numbers[array] for array in own],
                flops=flops,
                compute_ps=flops * 1_000_000 // _MODEL.product_rate,
                once=not is_pure or each.name in fixed or not results.isdisjoint(own),
                effects=each.opcode not in ("fusion", "scatter", "dynamic-update-slice", "sort") and not is_pure,
                backward=is_late,
                name=each.opcode,
            )
        return Problem(builder.text())

    def _written_before(self, argument: _Array) -> set[_Array]:
        """The values that XLA writes into the buffer of a donated argument before its result, such as those of a loop; if any, with the argument."""
        values = {argument}
        for each in self.writing:
            if any(array in values for name in each.operands for array in self.arrays(name)):
                values.update((each.name, i) for i in range(len(each.parts)))
        return values if len(values) > 1 else set()

    def _written_over(self) -> tuple[set[str], dict[str, list[str]]]:
        """The instructions that run once, and those that have to run before one that may write over its operands.

        XLA laid copies for its own order: what reads such an operand before it is written over has to stay before.
        """
        fixed: set[str] = set()
        orders: dict[str, list[str]] = {}
        readers: dict[_Array, list[str]] = {}
        for each in self.kernels:
            operands = {array for name in each.operands for array in self.arrays(name)}
            over = set() if self.text.is_pure(each) else set(operands)
            for i in range(len(each.parts)):
                if (each.name, i) in self.hosts:
                    over |= self._written_before(self.hosts[each.name, i])
            if over:
                before = list(dict.fromkeys(name for array in over for name in readers.get(array, ())))
                orders[each.name] = before
                fixed.update(before)
                fixed.update(name for name, _ in over)
            for array in operands:
                readers.setdefault(array, []).append(each.name)
        return fixed, orders

    def _late_results(self, order: Sequence[Instruction]) -> dict[int, list[int]]:
        """By place in a plan, the numbers of results that move into their donated arguments behind it.

        Something reads the argument after the result is made, or while it is.
        """
        last: dict[_Array, int] = {}
        makers: dict[str, int] = {}
        for place, each in enumerate(order):
            makers[each.name] = place
            last.update((array, place) for name in each.operands for array in self.arrays(name))
        late: dict[int, list[int]] = {}
        for number, name in enumerate(self._results()):
            result = self.arrays(name)[0]
            if result not in self.hosts or self._written_before(self.hosts[result]):
                continue
            argument, maker = self.hosts[result], makers[result[0]]
            place = last.get(argument, -1)
            if place > maker or (place == maker and self._access(order[place], argument) == "any"):
                late.setdefault(place, []).append(number)
        return late

    def planned(self, plan: Plan) -> str:
        """The module's text in the order of the plan."""
        lines: list[str] = []
        latest: dict[str, str] = {}
        views: dict[tuple[str, ...], str] = {}
        counts: dict[str, int] = {}
        # By number of a result, the name of its copy.
        moved: dict[int, str] = {}

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
            if name in self.dropped:
                return place(each.operands[0])
            if each.opcode not in VIEWS:
                return latest[name]
            operands = [place(operand) for operand in each.operands]
            if each is self.root:
                operands = [moved.get(i, operand) for i, operand in enumerate(operands)]
            key = (name, *operands)
            if key not in views:
                views[key] = write(each, operands)
            return views[key]

        def move(number: int) -> None:
            name = self._results()[number]
            moved[number] = f"{name}.moved"
            lines.append(f"  %{moved[number]} = {self.by_name[name].shape} copy(%{place(name)})")

        for each in self.text.instructions:
            if each.opcode in GIVEN:
                latest[each.name] = write(each, [])
        order = [self.kernels[op] for ops, _ in plan.kernels for op in ops]
        late = self._late_results(order)
        for i, each in enumerate(order):
            latest[each.name] = write(each, [place(operand) for operand in each.operands])
            for number in late.get(i, ()):
                move(number)
        result = place(self.root.name)
        return self.text.written(lines, moved.get(0, result) if self.root.opcode != "tuple" else result)


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

    name = f"ckpt-{uuid.uuid4()}"
    where: dict[str, Any] = {"name": name, "stage": extend.PipelineStage.POST_SCHEDULER, "platforms": "cpu"}
    extend.register_hlo_module_transformation(own, **where)
    try:
        # An option without an effect on the CPU: JAX compiles nothing twice with the same ones, and its cache on
        # disk, which ignores options of dumps, must not take this executable for one that has no plan.
        executable = lowered.compile(compiler_options={"xla_gpu_kernel_cache_file": name})
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
        lowered: `jax.jit(step).lower(*args)`, for one CPU device.
        budget: bytes, "12GiB" or a share of the temporary memory that plain `jit` takes, "50%"; none plans an order alone.
        time_limit: seconds of the search of a plan.
        effort: seconds of counted work in place of the time.
        progress: called with each new line for people.

    Raises:
        BudgetError: no plan meets the budget; names XLA's bytes for the smallest one, which are a budget that succeeds.
        UnsupportedStep: JAX is older than 0.10.2, or than 0.11 where arguments are donated, or the step is of another kind.
    """
    if not isinstance(lowered, jax.stages.Lowered):
        raise UnsupportedStep(f"expected a lowered step, jax.jit(step).lower(params, batch), but got {lowered!r}")
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
        unplanned |= dict.fromkeys(("extra_flops_share", "planning_seconds"), 0.0)
        return CompiledHlo(plain, Report(**figures, **unplanned, temp_bytes=plain_bytes, compile_seconds=plain_seconds, planned=False))
    module = lowered.compiler_ir("stablehlo").operation.attributes["sym_name"].value
    planning, failures = 0.0, []

    def made(solve: Callable[[Problem], Plan], number: int) -> tuple[CompiledHlo, int]:
        nonlocal planning
        own = _Pass(module, solve)
        executable = _compile(lowered, own)
        assert own.plan is not None and own.problem is not None
        if xla.alias_bytes(executable) < xla.alias_bytes(plain):
            raise UnsupportedStep("this XLA loses donated arguments among its own kernels: use JAX 0.11 or newer, lower the step without donate_argnums, or use ckpt.jax.jit")
        planning += own.seconds
        report = Report(
            **figures,
            temp_bytes=xla.temp_bytes(executable),
            planned_bytes=own.plan.arena_bytes,
            extra_flops_share=own.plan.extra_flops / max(1, own.problem.flops),
            kernels=len(own.plan.kernels),
            ops=own.problem.text.count("\nop "),
            planning_seconds=planning,
            compile_seconds=time.perf_counter() - start - planning,
            rounds=number,
            schedule=own.problem.report(own.plan, want, "XLA's own kernels"),
            prove_share=functools.partial(own.problem.extra_flops_bound_share, own.plan),
        )
        return CompiledHlo(executable, report), own.plan.arena_bytes

    def smallest(problem: Problem) -> Plan:
        """Knows neither the budget nor the clock: a step that asks for the bytes of the error comes to the same plan."""
        counted: dict[str, float] = {"time_limit": 0} if time_limit == 0 else {"effort": effort or time_limit or problem.search_seconds}
        try:
            return problem.solve(1, progress=progress, **counted)
        except BudgetError as error:
            assert error.smallest is not None
            failures.append(error)
            return error.smallest

    ask = want
    for number in range(1, _MOST_ROUNDS + 1):
        try:
            step, arena = made(lambda problem, ask=ask: problem.solve(ask, time_limit=time_limit, effort=effort, progress=progress), number)
        except BudgetError:
            break
        got = step.report.temp_bytes
        if want is None or ask is None or got <= want:
            return step
        ask = max(1, min(ask, arena) - (got - want) - want // 100)
    assert want is not None
    step, _ = made(smallest, number + 1)
    if step.report.temp_bytes <= want:
        return step
    raise budget_error(want, step.report.temp_bytes, failures[0] if failures else None)
