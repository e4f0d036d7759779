"""Planned steps: tracing, planning, compiling until XLA's bytes fit."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from .. import budget as budgets
from ..budget import Budget, exact_bytes, format_bytes
from ..errors import BudgetError, CkptError, PlanMismatch, UnsupportedStep
from ..files import write_text
from ..planner import Plan, Problem
from ..progress import Progress, shown
from ..report import PlannedReport
from . import xla
from .arguments import STATIC_OPTIONS, Statics, donation_options
from .emit import planned_function
from .kernels import MODELS, KernelModel
from .partial import Placement, observing_function
from .problem import Pins, build_problem
from .program import Program, Value, bytes_of, flatten


@dataclasses.dataclass(frozen=True)
class PlanOptions:
    """What the user asks of a plan; `ckpt.jax.jit` documents each field."""

    budget: Budget | None = None
    device: str | KernelModel | None = None
    pins: Pins | None = None
    exact: bool = False
    time_limit: float | None = None
    effort: float | None = None
    unroll_limit: int = 60_000
    progress: Progress | None = None

    def __post_init__(self) -> None:
        budgets.check_limits(self.time_limit, self.effort)

    def solve(self, problem: Problem, nbytes: int | None, share: float = 1.0) -> Plan:
        """A search with `share` of the limits."""
        effort = None if self.effort is None else self.effort * share
        limit = problem.search_seconds if self.time_limit is None else self.time_limit
        return problem.solve(nbytes, time_limit=limit * share, effort=effort, progress=self.progress)

    def counted(self, problem: Problem) -> PlanOptions:
        """The same search wherever it runs: its seconds are counted work."""
        if self.effort is not None or self.time_limit == 0:
            return self
        return dataclasses.replace(self, effort=self.time_limit or problem.search_seconds)

    def model(self) -> KernelModel:
        if isinstance(self.device, KernelModel):
            return self.device
        name = self.device or jax.default_backend()
        if name not in MODELS:
            raise CkptError(f"expected a device among {', '.join(MODELS)}, but got {name!r}")
        return MODELS[name]


class TracedStep:
    """A step as a flat program and a planning problem, for fixed shapes.

    Attributes:
        traced: the step as `jax.jit` traced it; static arguments are part of it.
        title: the name of the step in reports.
        placement: where XLA lays values of a step that it partitions; set before `problem` is read.
    """

    placement: Placement | None = None
    # Ops of unrolled loops above which loops of one op each are tried first.
    MUCH_TO_COMPILE = 10_000

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: Any, options: PlanOptions, **jit_options: Any
    ) -> None:
        try:
            self.traced = jax.jit(function, **jit_options).trace(*args, **kwargs)
        except Exception as error:
            raise UnsupportedStep(f"JAX cannot trace the step: {error}") from error
        self.title = f"@{getattr(function, '__name__', 'step')}"
        self.out_tree = jax.tree.structure(self.traced.out_info)
        self.unroll_limit = options.unroll_limit
        self.program: Program = flatten(self.traced.jaxpr, unroll_limit=self.unroll_limit)
        # Remarks on loops that stay one op each.
        self.remarks: list[str] = []
        self.model = options.model()
        self.pins = options.pins

    @functools.cached_property
    def problem(self) -> Problem:
        donated = [leaf.donated for leaf in jax.tree.leaves(self.traced.args_info)]
        return build_problem(
            self.program, self.model, pins=self.pins, donated=donated, placement=self.placement or {}
        )

    def roll_for(self, plan: Plan) -> bool:
        """Leaves the longest unrolled loops one op each, if `plan` would give XLA too much to compile; whether it did.

        A kernel may compute the iterations before it again, so that a plan has many more ops than the unrolled step.
        """
        longest, ops = self.program.longest, sum(len(ops) for ops, _ in plan.kernels)
        if ops - self.program.outside <= self.unroll_limit or not self.roll_longest():
            return False
        self._remark(longest, ops)
        return True

    def rolled(self) -> TracedStep | None:
        """The step with its longest unrolled loops one op each, if unrolled they give XLA much to compile."""
        longest, ops = self.program.longest, len(self.program.ops)
        if ops - self.program.outside <= self.MUCH_TO_COMPILE:
            return None
        other = copy.copy(self)
        other.remarks = list(self.remarks)
        other.roll_longest()
        other._remark(longest, ops)
        return other

    def _remark(self, longest: int, ops: int) -> None:
        self.remarks.append(
            f"loops of {longest:,} iterations stay one op each: unrolled, XLA would compile {ops:,} ops"
        )

    def roll_longest(self) -> bool:
        """Leaves the longest unrolled loops one op each; false if there is none."""
        longest = self.program.longest
        if longest:
            self.program = flatten(self.traced.jaxpr, unroll_limit=self.unroll_limit, most=longest - 1)
            self.placement = None
            self.__dict__.pop("problem", None)
        return longest > 0

    def function(self, plan: Plan) -> Callable[..., Any]:
        """The step of the arguments that are not static, in the order of `plan`."""
        return self._of_arguments(planned_function(self.program, plan, self.model, self.placement))

    def observed(self, found: dict[Value, Any]) -> Callable[..., Any]:
        """The step; its compilation enters where values lie."""
        return self._of_arguments(observing_function(self.program, found))

    def _of_arguments(self, run: Callable[..., list[Any]]) -> Callable[..., Any]:
        def planned(*args: Any, **kwargs: Any) -> Any:
            results = run(*jax.tree.leaves((args, kwargs)))
            return jax.tree.unflatten(self.out_tree, map(_as_weak_as, self.traced.jaxpr.out_avals, results))

        return planned


def _as_weak_as(aval: Any, result: Any) -> Any:
    """The result, weakly typed as in the step: an unrolled loop forgets that its numbers are those of Python."""
    weak = getattr(aval, "weak_type", False)
    if getattr(jax.typeof(result), "weak_type", False) == weak:
        return result
    return jax.lax.convert_element_type_p.bind(result, new_dtype=aval.dtype, weak_type=weak, sharding=None)


@dataclasses.dataclass
class Report(PlannedReport):
    """What a planned step takes; sizes are bytes per device, without arguments
    and results, unless a name says otherwise."""

    budget_bytes: int | None
    plain_temp_bytes: int
    temp_bytes: int
    planned_bytes: int
    extra_flops_share: float
    kernels: int
    ops: int
    planning_seconds: float
    compile_seconds: float
    rounds: int
    planned: bool = True
    remarks: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"ckpt: {self.ops:,} ops in {self.kernels:,} kernels", *(f"  {remark}" for remark in self.remarks)]
        lines.append(f"  plain jit, by XLA       {format_bytes(self.plain_temp_bytes):>14}")
        if self.budget_bytes is not None:
            lines.append(f"  budget                  {format_bytes(self.budget_bytes):>14}")
        if not self.planned:
            why = "no plan takes less" if self.budget_bytes is None else "plain jit meets the budget"
            lines.append(f"  {why}: the step runs as it is")
            return "\n".join(lines)
        lines.append(f"  planned step, by XLA    {format_bytes(self.temp_bytes):>14}")
        lines.append(f"  arena of the plan       {format_bytes(self.planned_bytes):>14}")
        lines.append(
            f"  extra work {100 * self.extra_flops_share:.2f} % of the step's FLOPs; "
            f"no plan does with less than {100 * self.extra_flops_bound_share:.2f} %"
        )
        lines.append(
            f"  planned in {self.planning_seconds:.1f} s, compiled in {self.compile_seconds:.1f} s, "
            f"{self.rounds} round{'s' if self.rounds != 1 else ''}"
        )
        return "\n".join(lines)


@dataclasses.dataclass
class CompiledStep:
    """One compiled signature of a step."""

    executable: Any
    traced: TracedStep
    plan: Plan | None
    report: Report


def budget_error(want: int, least: int, failure: BudgetError | None, remarks: Sequence[str] = ()) -> BudgetError:
    """XLA takes `least` bytes for the smallest plan of the searches that know no budget; the planner's `failure` has the proof."""
    proven = f"; no arena does with less than {format_bytes(failure.bound_bytes)}" if failure else ""
    return BudgetError(
        f"no plan was found within {format_bytes(want)}: XLA takes {exact_bytes(least)} "
        f"for the smallest one that searches of every budget find{proven}",
        budget_bytes=want,
        smallest_bytes=least,
        bound_bytes=failure.bound_bytes if failure else 0,
        report="\n".join([*(f"  {remark}" for remark in remarks), failure.report if failure else ""]),
    )


class _Rolled(Exception):
    """The traced step is another one: `TracedStep.roll_for`."""


class _Compilation:
    """Compiles, reads XLA's bytes, and plans again with less until they fit, or with more while they do."""

    MOST_ROUNDS = 5
    # Shares of the budget and of the step's FLOPs: another round plans with the bytes that XLA leaves, where they
    # are more, and the plan repeats more.
    LEAST_SPARE = 0.02
    LEAST_EXTRA = 0.01
    # Share of the bytes: a plan near the smallest one is tried if XLA can take so much less for it.
    LEAST_GAIN = 0.01
    # Share of the step's FLOPs: a plan that repeats no more is taken although its loops are one op each.
    MOST_EXTRA_OF_LOOPS = 0.02

    def __init__(
        self, traced: TracedStep, args: Sequence[Any], kwargs: dict[str, Any], options: PlanOptions, jit_options: Any
    ) -> None:
        """`args` and `kwargs` are those of `traced` that are not static."""
        self.traced, self.args, self.kwargs = traced, args, kwargs
        self.options, self.jit_options = options, jit_options
        self.planning = self.compiling = 0.0
        self._begin()

    def _begin(self) -> None:
        self.rounds = 0
        self.share = 1.0
        # XLA's bytes by the kernels of the plans that it compiled.
        self.taken: dict[str, int] = {}

    def _compile(self, compiled: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        executable = compiled()
        self.compiling += time.perf_counter() - start
        return executable

    def _observed(self) -> Placement:
        """Where XLA lays values of a step on several devices."""
        found: dict[Value, Any] = {}
        given = {name: value for name, value in self.jit_options.items() if name in ("in_shardings", "out_shardings")}
        self._compile(lambda: xla.compiled(self.traced.observed(found), self.args, self.kwargs, **given))
        return found

    def _planned(self, plan: Plan, extra_options: xla.Options) -> Any:
        keeping = xla.compile_options(jax.default_backend(), self.options.exact)
        options = {**keeping, **(self.jit_options.get("compiler_options") or {}), **extra_options}
        given = {name: value for name, value in self.jit_options.items() if name not in STATIC_OPTIONS}
        given |= {**donation_options(self.traced.traced.args_info), "compiler_options": options or None}
        function = self.traced.function(plan)
        with shown(self.options.progress, 0) as watch:
            if watch:
                watch(f"XLA compiles {len(plan.kernels):,} kernels")
            return self._compile(lambda: xla.compiled(function, self.args, self.kwargs, **given))

    def _tried(self, plan: Plan, want: int = 0, *, is_likely: bool = True) -> tuple[Any, int]:
        """An executable of `plan` and its bytes. Unless it is likely to be within `want` bytes, it runs only if it is."""
        self.rounds += 1
        sizing = {} if is_likely or self.options.exact else xla.sizing_options(jax.default_backend())
        executable = self._planned(plan, sizing)
        if sizing and xla.temp_bytes(executable) <= want:
            executable = self._planned(plan, {})
        got = self.taken[str(plan.kernels)] = xla.temp_bytes(executable)
        return executable, got

    def _solve(self, nbytes: int | None) -> Plan:
        start = time.perf_counter()
        try:
            plan = self.options.solve(self.traced.problem, nbytes, self.share)
            if self.traced.roll_for(plan):
                raise _Rolled
            return plan
        except BudgetError as error:
            if error.smallest is not None and self.traced.roll_for(error.smallest):
                raise _Rolled from None
            raise
        finally:
            if nbytes is not None:
                # All searches together take twice the time of the first, at most.
                self.share /= 2
            self.planning += time.perf_counter() - start

    def run(self, saved: SavedPlan | None = None) -> CompiledStep:
        try:
            self.lowered = self._compile(self.traced.traced.lower)
        except ValueError as error:
            raise UnsupportedStep(f"JAX cannot lower the step: {error}") from error
        sizing = xla.sizing_options(jax.default_backend())
        self.plain = self._compile(lambda: self.lowered.compile(compiler_options=sizing))
        self.plain_bytes = xla.temp_bytes(self.plain)
        budget = None if saved else self.options.budget
        want = None if budget is None else budgets.parse_budget(budget, self.plain_bytes)
        if want is not None and want >= self.plain_bytes:
            return self._unplanned(want)
        rolled = None if saved else self.traced.rolled()
        return self._rolled_first(rolled, want) if rolled else self._attempt(want, saved)

    def _rolled_first(self, rolled: TracedStep, want: int | None) -> CompiledStep:
        """The step with its longest loops one op each, unless unrolled loops take less or repeat much less work."""
        unrolled, self.traced, made = self.traced, rolled, None
        try:
            made = self._attempt(want, None)
        except BudgetError:
            pass
        if made and made.plan and made.report.extra_flops_share <= self.MOST_EXTRA_OF_LOOPS:
            return made
        self.traced = unrolled
        try:
            other = self._attempt(want, None)
        except BudgetError:
            if made is None:
                raise
            return made
        if made and made.plan and other.report.extra_flops_share >= made.report.extra_flops_share:
            return made
        return other

    def _attempt(self, want: int | None, saved: SavedPlan | None) -> CompiledStep:
        self._begin()
        while True:
            try:
                return self._fit_or_fail(want, saved)
            except _Rolled:
                if self.options.progress is not None:
                    self.options.progress(self.traced.remarks[-1])
                self._begin()

    def _fit_or_fail(self, want: int | None, saved: SavedPlan | None) -> CompiledStep:
        if xla.devices(self.plain) > 1:
            self.traced.placement = self._observed()
        if want is not None:
            return self._fit(want) or self._smallest(want)
        plan = saved.replayed(self.traced) if saved else self._solve(None)
        made = self._finish(self._tried(plan)[0], plan, None)
        if saved or made.report.temp_bytes <= self.plain_bytes:
            return made
        # The fastest plan keeps more than plain jit, which no user expects: the bytes of plain jit are the budget.
        smaller = self._fit(self.plain_bytes)
        if smaller or self.options.exact or self.options.pins:
            return smaller or made
        return self._unplanned(None)

    def _unplanned(self, want: int | None) -> CompiledStep:
        return self._finish(self._compile(self.lowered.compile), None, want)

    def _fit(self, want: int) -> CompiledStep | None:
        scale = self.scale = self._scale()
        first = int(want * scale)
        ask: int | None = first
        best: tuple[Any, Plan] | None = None
        has_failed = False
        self.least_excess = self.plain_bytes
        for number in range(self.MOST_ROUNDS):
            plan, fits = self._plan_within(ask, first)
            # `_smallest` tries a smallest plan as well.
            if plan is None or (has_failed and not fits):
                break
            executable, got = self._tried(plan, want, is_likely=fits and ask is not None)
            # XLA lays temporaries into buffers of results that plans count apart.
            like_this = plan.arena_bytes + int((want - got) * scale)
            if got <= want:
                is_better = best is None or plan.extra_flops < best[1].extra_flops
                best = (executable, plan) if is_better else best
                saves = plan.extra_flops >= self.LEAST_EXTRA * self.traced.problem.flops
                if not is_better or not saves or want - got < want * self.LEAST_SPARE:
                    break
                ask = like_this
            elif best is not None:
                break
            elif not fits and not has_failed:
                # The plan that recomputes nothing shows the bytes that XLA lays elsewhere.
                has_failed, ask = True, None
            elif ask is None and like_this > first:
                ask = like_this
            elif ask is None:
                break
            else:
                ask = self._smaller(plan, ask, got - int(plan.arena_bytes / scale), want, scale, number)
        return self._finish(*best, want) if best else None

    def _smaller(self, plan: Plan, ask: int, excess: int, want: int, scale: float, number: int) -> int:
        """The bytes to ask for after a plan to which XLA added `excess`.

        XLA adds little to most plans and much to some: the smallest excess so far is the one to plan for.
        Where that lowers the budget by little, the steps of the rounds grow: 1 %, 2 %, 4 %, 8 %.
        """
        self.least_excess = min(self.least_excess, excess)
        over = plan.arena_bytes + int((self.least_excess - want) * scale)
        return min(plan.arena_bytes, ask) - max(over, ask * 2**number // 100)

    def _scale(self) -> float:
        """A step on several devices takes less on each than the plan counts."""
        if self.traced.placement is None:
            return 1.0
        return max(1.0, self._solve(None).arena_bytes / max(1, self.plain_bytes))

    def _plan_within(self, ask: int | None, first: int) -> tuple[Plan | None, bool]:
        """A plan and whether it is within `ask` bytes; else the smallest one that was found, where it is not far away."""
        try:
            return self._solve(ask if ask is None else max(ask, 1)), True
        except BudgetError as error:
            results = sum(bytes_of(value.aval) for value in self.traced.program.outputs)
            is_near = error.smallest is not None and error.smallest_bytes <= 2 * first + results
            return error.smallest if is_near else None, False

    def _smallest(self, want: int) -> CompiledStep:
        """The first plan within `want` of those near the smallest arena; the error names the least that XLA took.

        Neither the plans nor their order depend on `want` or on the clock: a step that asks for the bytes of
        the error comes to the same plans.
        """
        self.options, self.share = self.options.counted(self.traced.problem), 1.0
        failure: BudgetError | None = None
        ask, least = 1, self.plain_bytes
        for _ in range(self.MOST_ROUNDS):
            try:
                plan = self._solve(ask)
            except BudgetError as error:
                assert error.smallest is not None
                plan, failure = error.smallest, failure or error
            if str(plan.kernels) not in self.taken:
                executable, got = self._tried(plan, want, is_likely=False)
                if got <= want:
                    return self._finish(executable, plan, want)
            least = min(least, self.taken[str(plan.kernels)])
            # XLA adds little to most plans and much to some.
            ask = plan.arena_bytes if ask == 1 else ask + ask // 20
            if ask * (1 + self.LEAST_GAIN) >= least * self.scale:
                break
        raise budget_error(want, least, failure, self.traced.remarks)

    def _finish(self, executable: Any, plan: Plan | None, want: int | None) -> CompiledStep:
        problem = self.traced.problem if plan else None
        report = Report(
            budget_bytes=want,
            plain_temp_bytes=self.plain_bytes,
            temp_bytes=xla.temp_bytes(executable),
            planned_bytes=plan.arena_bytes if plan else 0,
            extra_flops_share=plan.extra_flops / max(1, problem.flops) if plan else 0.0,
            kernels=len(plan.kernels) if plan else 0,
            ops=len(self.traced.program.ops),
            planning_seconds=self.planning,
            compile_seconds=self.compiling,
            rounds=self.rounds,
            planned=plan is not None,
            remarks=self.traced.remarks,
            schedule=problem.report(plan, want, self.traced.title) if plan else None,
            prove_share=functools.partial(problem.extra_flops_bound_share, plan) if plan else None,
        )
        return CompiledStep(executable, self.traced, plan, report)


def compile_step(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    options: PlanOptions,
    jit_options: dict[str, Any],
    saved: SavedPlan | None = None,
) -> CompiledStep:
    """Plans and compiles `function` for the shapes of its arguments."""
    if xla.keeping_options(jax.default_backend()) is None:
        raise UnsupportedStep(
            f"expected a JAX whose CPU backend takes per-call compile options (0.6.2 or newer), "
            f"but got {jax.__version__}"
        )
    traced = TracedStep(function, args, kwargs, options, **jit_options)
    _, *left = Statics.of(function, jit_options).split(args, kwargs)
    return _Compilation(traced, *left, options, jit_options).run(saved)


@dataclasses.dataclass
class SavedPlan:
    """A plan in a file, with the problem that it belongs to."""

    problem: str
    plan: str

    def save(self, path: str) -> None:
        digest = hashlib.sha256(self.problem.encode()).hexdigest()
        write_text(path, json.dumps({"ckpt": 1, "sha256": digest, "problem": self.problem, "plan": self.plan}))

    @staticmethod
    def load(path: str) -> SavedPlan:
        """Raises `CkptError` if the file holds no plan."""
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            return SavedPlan(data["problem"], data["plan"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CkptError(f"{path!r} holds no plan: {error}") from None

    def replayed(self, traced: TracedStep) -> Plan:
        """The plan, for the step that it was made for; raises `PlanMismatch` at the first line that differs."""
        text = traced.problem.text
        while traced.problem.text != self.problem and traced.roll_longest():
            pass
        if traced.problem.text == self.problem:
            return traced.problem.read_plan(self.plan)
        for number, (old, new) in enumerate(
            zip(self.problem.splitlines() + ["the end"], text.splitlines() + ["the end"])
        ):
            if old != new:
                raise PlanMismatch(
                    f"the plan belongs to another step; they first differ in line {number + 1} "
                    f"of their problems: {old!r} was planned, and this step has {new!r}"
                )
        raise PlanMismatch("the plan belongs to another step")
