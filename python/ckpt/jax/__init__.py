"""Steps of JAX planned into a memory budget, run by the user's own JAX.

step = ckpt.jax.jit(step, budget="50%", donate_argnums=0)
params, loss = step(params, batch)
print(step.report)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax as _jax

from ..budget import Budget, parse_budget
from ..errors import CkptError, UnsupportedStep
from ..modules import StepOnModules, hold_modules
from ..planner import Plan
from ..progress import Progress
from . import xla
from .arguments import STATIC_OPTIONS, Statics, require_function, signature
from .check import Check, compare
from .hlo_plan import CompiledHlo, hlo
from .inner import Planned
from .kernels import MODELS, KernelModel
from .policies import Policy, policy
from .step import CompiledStep, PlanOptions, Report, SavedPlan, compile_step

__all__ = [
    "Check",
    "CompiledHlo",
    "KernelModel",
    "MODELS",
    "Planned",
    "Policy",
    "Report",
    "Step",
    "hlo",
    "jit",
    "load",
    "plan",
    "planned",
    "policy",
]


class Step:
    """A function that plans itself at the first call per shapes.

    Attributes:
        report: of the signature that was compiled last; a `Report`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: PlanOptions,
        jit_options: dict[str, Any],
        saved: SavedPlan | None = None,
    ) -> None:
        require_function(function)
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options
        self._jit_options = jit_options
        self._statics = Statics.of(function, jit_options)
        self._saved = saved
        self._compiled: dict[Any, CompiledStep] = {}
        self._last: CompiledStep | None = None
        self._on_modules = StepOnModules(function, lambda pure: Step(pure, options, jit_options, saved), signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._takes_modules(args, kwargs):
            result = self._on_modules(*args, **kwargs)
            self._last = self._on_modules.latest._last
            return result
        if any(isinstance(leaf, _jax.core.Tracer) for leaf in _jax.tree.leaves((args, kwargs))):
            raise UnsupportedStep(
                "a step of ckpt.jax.jit sets compile options and cannot run inside another "
                "transformation of JAX; use ckpt.jax.plan or ckpt.jax.planned there"
            )
        made = self.compile(*args, **kwargs)
        _, *left = self._statics.split(args, kwargs)
        try:
            return made.executable(*left[0], **left[1])
        except Exception as error:
            # Of `jax_debug_nans` and `jax_debug_infs`: JAX's jit catches this error, and a compiled function raises it.
            if type(error).__name__ != "InternalFloatingPointError":
                raise
        self._plain(*args, **kwargs)
        raise FloatingPointError("the planned step has a result that is not finite, and plain jit has none")

    @property
    def _plain(self) -> Callable[..., Any]:
        static = {name: value for name, value in self._jit_options.items() if name in STATIC_OPTIONS}
        return _jax.jit(self._function, **static)

    def _takes_modules(self, args: Any, kwargs: Any) -> bool:
        if not hold_modules((args, kwargs)):
            return False
        if self._jit_options:
            raise UnsupportedStep(f"a step on modules of Flax NNX takes no {next(iter(self._jit_options))}: each variable is an argument of its own")
        return True

    def compile(self, *args: Any, **kwargs: Any) -> CompiledStep:
        """Plans and compiles for the shapes of the arguments, without a run."""
        if self._takes_modules(args, kwargs):
            _, arrays = self._on_modules.prepare(args, kwargs)
            self._last = self._on_modules.latest.compile(*arrays)
            return self._last
        static, *left = self._statics.split(args, kwargs)
        key = (static, signature(*left))
        if key not in self._compiled:
            self._compiled[key] = compile_step(
                self._function, args, kwargs, self._options, self._jit_options, self._saved
            )
        self._last = self._compiled[key]
        return self._last

    def _latest(self) -> CompiledStep:
        if self._last is None:
            raise CkptError("the step was not called yet: it is planned at the first call")
        return self._last

    @property
    def report(self) -> Report:
        return self._latest().report

    def frontier(self, points: int = 20) -> list[Plan]:
        """Returns plans from the smallest arena to that of no recomputation."""
        problem = self._latest().traced.problem
        return problem.frontier(points, time_limit=self._options.time_limit)

    def check(self, *args: Any, **kwargs: Any) -> Check:
        """Runs the step planned and unplanned on the same arguments and compares them.

        Donated arguments are copied before, so that they stay alive.
        """
        if self._takes_modules(args, kwargs):
            _, arrays = self._on_modules.prepare(args, kwargs)
            return self._on_modules.latest.check(*arrays)
        made = self.compile(*args, **kwargs)
        plain = self._plain(*args, **kwargs)
        _, *left = self._statics.split(args, kwargs)
        copied = _jax.tree.map(lambda x: x.copy() if isinstance(x, _jax.Array) else x, left)
        report = made.report
        return compare(report.temp_bytes, report.plain_temp_bytes, made.executable(*copied[0], **copied[1]), plain)

    def save(self, path: str) -> None:
        """Writes the plan of the last signature; `ckpt.jax.load` replays it."""
        latest = self._latest()
        if latest.plan is None:
            raise CkptError("the step runs as plain jit does: there is no plan to save")
        SavedPlan(latest.traced.problem.text, latest.plan.text).save(path)


def jit(
    function: Callable[..., Any] | None = None,
    *,
    budget: Budget | None = None,
    device: str | KernelModel | None = None,
    pins: dict[str, str] | None = None,
    exact: bool = False,
    time_limit: float | None = None,
    effort: float | None = None,
    unroll_limit: int = 60_000,
    progress: Progress | None = None,
    **jit_options: Any,
) -> Any:
    """Returns `function` planned into `budget`, compiled by `jax.jit`.

    Args:
        function: a training step: forward pass, backward pass and update.
        budget: the most temporary memory that XLA may take per device, without
            arguments and results: bytes, "12GiB", or "50%" of plain `jit`'s.
            `None` orders and fuses the step, and recomputes nothing.
        device: "cpu", "gpu", "tpu" or a `KernelModel`; by default the backend.
        pins: "save" or "recompute" by patterns on layers: `{"h_*/attn": "save"}`.
        exact: on the CPU, the same bits at every budget; takes more time.
        time_limit: seconds of the first search for a plan, by default a millisecond
            for each op, between 0.5 and 5 seconds; where XLA takes more than
            planned, each further search has half of the time before it.
        effort: seconds of counted work in place of `time_limit`: the same plan on
            every machine and under every load.
        unroll_limit: the ops that unrolled scans may add to a plan; where these are more, the longest scans stay one op each.
        progress: called with each new line for people while the planner searches;
            by default, a bar shows on a terminal and in a notebook.
        jit_options: passed on to `jax.jit`, such as `donate_argnums` and `static_argnames`.

    Raises (at the first call per shapes):
        BudgetError: no plan meets the budget.
        UnsupportedStep: JAX cannot trace the step.
    """
    if budget is not None:
        parse_budget(budget, 1 << 40)
    options = PlanOptions(budget, device, pins, exact, time_limit, effort, unroll_limit, progress)
    if function is None:
        return lambda decorated: Step(decorated, options, jit_options)
    return Step(function, options, jit_options)


def load(path: str, function: Callable[..., Any], **jit_options: Any) -> Step:
    """Returns `function` with the plan of `Step.save`, without a search.

    Raises at the first call:
        PlanMismatch: the plan belongs to another step; names the difference.
    """
    return Step(function, PlanOptions(), jit_options, SavedPlan.load(path))


def planned(
    function: Callable[..., Any] | None = None,
    *,
    budget: int | str | None = None,
    device: str | KernelModel | None = None,
    pins: dict[str, str] | None = None,
    time_limit: float | None = None,
    effort: float | None = None,
    unroll_limit: int = 60_000,
) -> Any:
    """Returns `function` so that tracing it gives the planned order.

    For functions that run inside the user's own `jit` or `shard_map`. The plan
    is made for the shapes of the trace; a share refers to the planner's own
    unlimited plan. On the CPU the outer `jit` needs the compile options of
    `ckpt.jax.compiler_options()`, or XLA undoes the plan.
    """
    if budget is not None:
        parse_budget(budget, 1 << 40)
    options = PlanOptions(budget, device, pins, False, time_limit, effort, unroll_limit)
    if function is None:
        return lambda decorated: Planned(decorated, options)
    return Planned(function, options)


def plan(function: Callable[..., Any], *example_args: Any, **options: Any) -> Planned:
    """Plans `function` for the shapes of `example_args` now; see `planned` for the options."""
    result = planned(function, **options)
    _jax.eval_shape(result, *example_args)
    return result


def compiler_options() -> dict[str, Any]:
    """The options of `jax.jit` that keep the plan of `planned` on this backend."""
    return xla.compile_options(_jax.default_backend(), exact=False)
