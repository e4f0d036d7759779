"""Planned functions inside the user's own `jit` or `shard_map`, which compile and place them.

`ckpt.jax.planned` and `ckpt.jax.plan` return one; it plans at the first trace per shapes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from ..budget import is_share, parse_budget
from ..errors import CkptError, UnsupportedStep
from ..modules import StepOnModules, hold_modules
from ..planner import Plan, Problem
from ..report import Report
from . import xla
from .arguments import require_function, signature
from .check import Check, compare
from .step import PlanOptions, SavedPlan, TracedStep

# Transformations that would undo the plan, by the types of JAX's tracers.
_REFUSED = {
    "BatchTracer": "cannot be batched by vmap: plan the vmapped step instead",
    "JVPTracer": "cannot be differentiated: plan the gradient instead",
    "LinearizeTracer": "cannot be differentiated: plan the gradient instead",
}


def _refuse_transformations(leaves: list[Any]) -> None:
    for leaf in leaves:
        refused = _REFUSED.get(type(leaf).__name__)
        if refused:
            raise UnsupportedStep(f"a planned step {refused}")


class Planned:
    """A function whose trace gives the planned order.

    Attributes:
        plan: of the shapes that were traced last; a `ckpt.Plan`.
        report: of that plan, in bytes of its arena; text, data and a page.
    """

    def __init__(self, function: Callable[..., Any], options: PlanOptions) -> None:
        require_function(function)
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options
        self._plans: dict[Any, tuple[TracedStep, Plan, int | None]] = {}
        self._last: tuple[TracedStep, Plan, int | None] | None = None
        self._on_modules = StepOnModules(function, lambda pure: Planned(pure, options), signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if hold_modules((args, kwargs)):
            result = self._on_modules(*args, **kwargs)
            self._last = self._on_modules.latest._last
            return result
        _refuse_transformations(jax.tree.leaves((args, kwargs)))
        key = signature(args, kwargs)
        if key not in self._plans:
            self._plans[key] = self._plan(args, kwargs)
        self._last = self._plans[key]
        traced, plan, _ = self._last
        return traced.function(plan)(*args, **kwargs)

    def _plan(self, args: Any, kwargs: Any) -> tuple[TracedStep, Plan, int | None]:
        # Types say along which axes of a mesh a value varies, and where it lies, too.
        types = jax.tree.map(jax.typeof, (args, kwargs))
        traced = TracedStep(self._function, *types, self._options)
        while True:
            plan, want = self._solve(traced.problem)
            if not traced.roll_for(plan):
                return traced, plan, want

    def _solve(self, problem: Problem) -> tuple[Plan, int | None]:
        budget = self._options.budget
        if budget is None:
            return self._options.solve(problem, None), None
        want = parse_budget(budget, self._options.solve(problem, None).arena_bytes if is_share(budget) else 0)
        return self._options.solve(problem, want), want

    def _latest(self) -> tuple[TracedStep, Plan, int | None]:
        if self._last is None:
            raise CkptError("the step was not traced yet: it is planned at the first trace")
        return self._last

    @property
    def plan(self) -> Plan:
        return self._latest()[1]

    @property
    def report(self) -> Report:
        traced, plan, want = self._latest()
        return traced.problem.report(plan, want, traced.title)

    def frontier(self, points: int = 20) -> list[Plan]:
        """Returns plans from the smallest arena to that of no recomputation."""
        return self._latest()[0].problem.frontier(points, time_limit=self._options.time_limit)

    def save(self, path: str) -> None:
        """Writes the plan of the last shapes; `ckpt.jax.load` replays it."""
        traced, plan, _ = self._latest()
        SavedPlan(traced.problem.text, plan.text).save(path)

    def check(self, *args: Any, **kwargs: Any) -> Check:
        """Runs the function by `jax.jit`, planned and unplanned, on the same arguments and compares them."""
        options = xla.compile_options(jax.default_backend(), exact=False)
        planned = xla.compiled(self, args, kwargs, compiler_options=options or None)
        plain = xla.compiled(self._function, args, kwargs)
        return compare(xla.temp_bytes(planned), xla.temp_bytes(plain), planned(*args, **kwargs), plain(*args, **kwargs))
