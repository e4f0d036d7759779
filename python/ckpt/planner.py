"""Planning problems and plans, free of any framework.

The doors (`ckpt.jax`, `ckpt.torch`) describe a step as a `Problem` and follow the kernels of
the `Plan` that `Problem.solve` returns. docs/PlanFormat.md defines the text.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from . import _planner
from .budget import check_limits, exact_bytes, format_bytes
from .errors import BudgetError, CkptError, PlanMismatch
from .progress import Progress, shown
from .report import Report


@dataclasses.dataclass
class Read:
    """One operand of an op; the fields are those of docs/PlanFormat.md."""

    value: int
    access: str = "any"
    need: str = "inline"
    destination: bool = False

    def text(self) -> str:
        parts = [str(self.value), self.access]
        if self.need != "inline":
            parts.append(self.need)
        if self.destination:
            parts.append("destination")
        return ":".join(parts)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class ProblemBuilder:
    """Collects the values and ops of a step in program order."""

    def __init__(self, bandwidth: int, launch_ns: int, *, takes_over: bool = True) -> None:
        self._head = [f"bandwidth={bandwidth}", f"launch={launch_ns}"]
        if not takes_over:
            self._head.append("no-takeovers")
        self._layers: dict[str, int] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._lines: list[str] = []
        self._values = 0
        self._ops = 0

    def value(
        self,
        shape: tuple[int, ...],
        nbytes: int,
        *,
        home: str = "arena",
        host: int | None = None,
        keep: str = "free",
        name: str = "",
    ) -> int:
        """Adds a value of `nbytes` bytes and returns its number; a result may lie in a donated argument, its `host`."""
        elements = 1
        for extent in shape:
            elements *= extent
        line = f"value {self._values} bytes={nbytes} elements={elements}"
        line += f" shape={self._shapes.setdefault(shape, len(self._shapes))}"
        if home != "arena":
            line += f" home={home}"
        if host is not None:
            line += f" host={host}"
        if keep != "free":
            line += f" keep={keep}"
        self._lines.append(line + f" name={_quoted(name)}")
        self._values += 1
        return self._values - 1

    def op(
        self,
        kind: str,
        reads: Sequence[Read],
        results: Sequence[int],
        *,
        flops: int = 0,
        compute_ps: int = 0,
        workspace: int = 0,
        once: bool = False,
        effects: bool = False,
        backward: bool = False,
        layer: str = "",
        name: str = "",
    ) -> int:
        """Adds an op of `kind` and returns its number; time is in picoseconds."""
        line = f"op {self._ops} {kind}"
        if reads:
            line += " reads=" + ",".join(read.text() for read in reads)
        if results:
            line += " results=" + ",".join(map(str, results))
        line += f" flops={flops} compute={compute_ps}"
        if workspace:
            line += f" workspace={workspace}"
        for word, holds in (("once", once), ("effects", effects), ("backward", backward)):
            if holds:
                line += f" {word}"
        if layer:
            line += f" layer={self._layers.setdefault(layer, len(self._layers))}"
        self._lines.append(line + f" name={_quoted(name)}")
        self._ops += 1
        return self._ops - 1

    def text(self) -> str:
        layers = [f"layer={_quoted(layer)}" for layer in self._layers]
        return "\n".join([*self._head, *layers, *self._lines]) + "\n"


class Plan:
    """A schedule of kernels with its figures.

    Attributes:
        kernels: pairs of op numbers (program order) and written value numbers,
            in the order in which they run.
        arena_bytes: the planned peak.
        time_ns: the planned time, by the cost model.
        extra_flops: the work that the plan repeats.
    """

    def __init__(self, step: _planner.PlannedStep) -> None:
        self._step = step
        self.kernels: list[tuple[list[int], list[int]]] = step.kernels
        self.arena_bytes: int = step.arena_bytes
        self.time_ns: int = step.time_ns
        self.extra_flops: int = step.extra_flops

    @property
    def text(self) -> str:
        """The plan in the form of docs/PlanFormat.md."""
        return self._step.text


def _milliseconds(effort: float | None) -> int:
    """Of counted work; 0 counts none."""
    return 0 if effort is None else max(1, int(effort * 1000))


def budget_error(
    budget: int, least: int, bound: int, *, beside: str = "", report: str = "", smallest: Plan | None = None
) -> BudgetError:
    """No plan meets the budget; `least` bytes are the fewest that were found.

    Args:
        beside: says how many of the bytes no plan makes less; empty where each counts for the plan.
    """
    proven = f"no plan does with less than {format_bytes(bound)}" if bound else "no bound is known"
    return BudgetError(
        f"no plan was found within {format_bytes(budget)}: the smallest found takes {exact_bytes(least)}{beside}; {proven}",
        budget_bytes=budget,
        smallest_bytes=least,
        bound_bytes=bound,
        report=report,
        smallest=smallest,
    )


class Problem:
    """A planning problem in the form of docs/PlanFormat.md.

    Args:
        text: the problem.
        hosts_results: results' buffers may hold values before the results are
            written, unless they lie in donated arguments (`host`).
    """

    def __init__(self, text: str, *, hosts_results: bool = False) -> None:
        self.text = text
        try:
            self._problem = _planner.PlanningProblem(text, hosts_results)
        except ValueError as error:
            raise CkptError(f"the step cannot be planned: {error}") from None

    @property
    def flops(self) -> int:
        """The work of the step as written, in FLOPs."""
        return self._problem.flops

    @property
    def search_seconds(self) -> float:
        """The time limit where the user gives none: a millisecond for each op, between 0.5 and 5 seconds."""
        return min(5.0, max(0.5, self._problem.ops / 1000))

    @functools.cached_property
    def minimum_bytes_bound(self) -> int:
        """No plan has a smaller arena; 0 where nothing is proven."""
        return self._problem.minimum_bytes_bound()

    def extra_flops_bound(self, plan: Plan) -> int:
        """No plan within the arena of `plan` repeats fewer FLOPs."""
        return self._problem.extra_flops_bound(plan.arena_bytes) if plan.extra_flops else 0

    def extra_flops_bound_share(self, plan: Plan) -> float:
        """The same as a share of the step's FLOPs."""
        return self.extra_flops_bound(plan) / max(1, self.flops)

    def solve(
        self,
        budget_bytes: int | None = None,
        *,
        time_limit: float | None = None,
        effort: float | None = None,
        progress: Progress | None = None,
        or_smallest: bool = False,
    ) -> Plan:
        """Returns the fastest plan found within `budget_bytes` of arena.

        Args:
            budget_bytes: the largest arena; `None` recomputes nothing.
            time_limit: seconds after which the search ends; 0 is one round,
                and `None` is `search_seconds`.
            effort: seconds of counted work in place of the time: the same plan
                on every machine and under every load.
            progress: called with each new line for people; by default, a bar
                shows on a terminal and in a notebook.
            or_smallest: where no plan was found, the smallest one found.

        Raises:
            BudgetError: no plan was found.
            KeyboardInterrupt: at Ctrl-C, within moments.
        """
        check_limits(time_limit, effort)
        limit = self.search_seconds if time_limit is None else time_limit
        with shown(progress, limit if budget_bytes is not None else 0) as watch:
            step = _planner.solve(self._problem, budget_bytes, int(limit * 1000), _milliseconds(effort), watch)
        if step.fits or or_smallest:
            return Plan(step)
        in_the_way = _planner.at_peak(self._problem, step)[:8]
        assert budget_bytes is not None
        raise budget_error(
            budget_bytes,
            step.arena_bytes,
            self.minimum_bytes_bound,
            report="\n".join("  " + sentence for _, _, sentence in in_the_way),
            smallest=Plan(step),
        )

    def frontier(self, points: int, *, time_limit: float | None = None, progress: Progress | None = None) -> list[Plan]:
        """Returns plans from the smallest arena found to the unlimited plan's."""
        check_limits(time_limit)
        limit = self.search_seconds if time_limit is None else time_limit
        with shown(progress, limit) as watch:
            steps = _planner.frontier(self._problem, points, int(limit * 1000), watch)
        return [Plan(step) for step in steps]

    def report(self, plan: Plan, budget_bytes: int | None, title: str) -> Report:
        """Returns the report of `plan` as data, page and picture; it is made when it is asked for."""
        step = plan._step
        return Report(lambda path: _planner.write_report(self._problem, step, budget_bytes, title, path))

    def read_plan(self, text: str) -> Plan:
        """Reads `Plan.text` of the same problem; the simulator judges it again.

        Raises:
            PlanMismatch: the plan breaks a rule of this problem.
        """
        try:
            return Plan(_planner.read_plan(self._problem, text))
        except ValueError as error:
            raise PlanMismatch(f"the plan belongs to another step: {error}") from None
