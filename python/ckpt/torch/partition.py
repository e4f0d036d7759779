"""The partitioner: plans a joint graph of AOTAutograd and splits it."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import itertools
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from .. import __version__
from .. import report as schedules
from ..budget import Budget, check_limits, format_bytes, is_share, parse_budget
from ..errors import BudgetError, CkptError
from ..planner import Plan
from ..progress import Progress
from . import _private
from .kernels import ENGINES, MODELS, KernelModel, is_inside_of_kernels, place_of
from .memory import held_by, saved_by
from .problem import JointProblem
from .program import Program, read_joint
from .split import as_written, split
from .workspaces import measure_ops


@dataclasses.dataclass(frozen=True)
class PlanOptions:
    """What the user asks of a plan; `ckpt.torch.backend` documents each field."""

    budget: Budget | None = None
    engine: str = "inductor"
    device: str | KernelModel | None = None
    count_arguments: bool = False
    count_gradients: bool = True
    time_limit: float | None = None
    effort: float | None = None

    def check(self) -> None:
        if self.engine not in ENGINES:
            raise CkptError(f"expected an engine among {', '.join(ENGINES)}, but got {self.engine!r}")
        if self.budget is not None:
            parse_budget(self.budget, 1 << 40)
        check_limits(self.time_limit, self.effort)
        if isinstance(self.device, str) and self.device not in MODELS:
            raise CkptError(f"expected a device among {', '.join(MODELS)}, but got {self.device!r}")

    def model(self, program: Program) -> KernelModel:
        if isinstance(self.device, KernelModel):
            return self.device
        kinds = {value.tensor.device.type for value in program.inputs}
        name = self.device or next((kind for kind in sorted(kinds) if kind in MODELS and kind != "cpu"), "cpu")
        return MODELS[name]


@dataclasses.dataclass
class Report(schedules.PlannedReport):
    """What a planned graph takes; sizes are bytes of intermediate tensors, and of
    gradients unless the budget leaves them out.

    Attributes:
        unplanned_bytes: the peak of autograd's own split, run op by op.
        planned_bytes: the arena of the plan, with the gaps between its slots.
        held_bytes: the peak of the planned graphs, run op by op without gaps.
        saved_bytes: kept between the forward pass and the backward pass.
        arguments_bytes: of parameters, buffers and inputs, where the sizes count them; else 0.
    """

    engine: str
    budget_bytes: int | None
    unplanned_bytes: int
    planned_bytes: int
    held_bytes: int
    saved_bytes: int
    extra_flops_share: float
    kernels: int
    ops: int
    planning_seconds: float
    arguments_bytes: int

    @property
    def allocated_bytes(self) -> int:
        """The peak of the plan without arguments: what PyTorch's allocator gives out."""
        return (self.held_bytes if self.engine == "eager" else self.planned_bytes) - self.arguments_bytes

    def __str__(self) -> str:
        lines = [f"ckpt: {self.ops:,} ops in {self.kernels:,} kernels, for {self.engine}"]
        lines.append(f"  as autograd splits it   {format_bytes(self.unplanned_bytes):>14}")
        if self.budget_bytes is not None:
            lines.append(f"  budget                  {format_bytes(self.budget_bytes):>14}")
        if self.engine == "eager":
            lines.append(f"  as planned, at its peak {format_bytes(self.held_bytes):>14}")
        lines.append(f"  arena of the plan       {format_bytes(self.planned_bytes):>14}")
        lines.append(f"  kept for the backward   {format_bytes(self.saved_bytes):>14}")
        lines.append(
            f"  extra work {100 * self.extra_flops_share:.2f} % of the step's FLOPs; "
            f"no plan does with less than {100 * self.extra_flops_bound_share:.2f} %"
        )
        lines.append(f"  planned in {self.planning_seconds:.1f} s")
        return "\n".join(lines)


class _Planning:
    """Plans one joint graph, and again with less until the graphs fit."""

    MOST_ROUNDS = 4
    # Searches for the plan without a budget, and how much of the fastest plan's time such a plan may take.
    FREE_ROUNDS, FREE_TIME = 5, 1.03

    def __init__(
        self,
        program: Program,
        options: PlanOptions,
        progress: Progress | None,
        piece: _private.Piece,
        before: int,
        granted: int,
    ) -> None:
        """
        Args:
            before: bytes of earlier pieces of the module that stand while the graphs run.
            granted: bytes of the budget that the piece had for other shapes; 0 for its first shape.
        """
        self.program, self.options, self.progress = program, options, progress
        self.before, self.granted = before, granted
        share = options.budget is not None and is_share(options.budget)
        self.takes_smallest = share and piece.is_part
        self.start = time.perf_counter()
        measure_ops(program, options.engine)
        model, free = options.model(program), options.budget is None
        self.joint = JointProblem(
            program, options.engine, model, gradients_count=options.count_gradients, repeats_products=not free
        )
        self.arguments = sum(value.nbytes for value in program.inputs) if options.count_arguments else 0
        self.unplanned = self._held(*as_written(program)) + self.arguments

    def _held(self, forward: fx.GraphModule, backward: fx.GraphModule) -> int:
        """Bytes that the eager engine holds at the peak of both graphs."""
        kept, skipped = len(self.program.forward_outputs), self.program.mutations
        return held_by(forward, backward, kept, skipped, self.options.count_gradients)

    def _solve(self, nbytes: int | None) -> Plan:
        limit, effort = self.options.time_limit, self.options.effort
        return self.joint.problem.solve(
            nbytes, time_limit=limit, effort=effort, progress=self.progress, or_smallest=self.takes_smallest
        )

    def _min_cut(self) -> int:
        """Bytes of PyTorch's own split of the graph, at the peak of inductor's kernels."""
        module = fx.GraphModule(self.program.module, copy.deepcopy(self.program.module.graph))
        for node in module.graph.nodes:
            node.meta.pop("recompute", None)  # of a checkpoint
        kept = len(self.program.forward_outputs)
        with torch._functorch.config.patch(activation_memory_budget=1.0):
            split = _private.require("min_cut_rematerialization_partition")(module, (), num_fwd_outputs=kept)
        return held_by(*split, kept, self.program.mutations, self.options.count_gradients, is_inside_of_kernels)

    def _solve_free(self) -> Plan:
        """The least memory that costs nothing: inductor's kernels make elementwise operands again for nothing.

        Bisects between the fastest plan's arena and half of it, in the time of one search. Whatever its time, the plan takes no more
        than the graphs of autograd and of PyTorch's own partitioner where one is found.
        """
        best = fastest = self._solve(None)
        if self.options.engine != "inductor":
            return fastest
        effort, slowest = self.options.effort, self.FREE_TIME * fastest.time_ns
        limit = self.joint.problem.search_seconds if self.options.time_limit is None else self.options.time_limit

        def within(nbytes: int, rounds: int) -> Plan:
            limits = {"time_limit": limit / rounds, "effort": effort and effort / rounds}
            return self.joint.problem.solve(nbytes, **limits, progress=self.progress, or_smallest=True)

        least = fastest.arena_bytes // 2
        for _ in range(self.FREE_ROUNDS):
            ask = (least + best.arena_bytes) // 2
            plan = within(ask, self.FREE_ROUNDS)
            if plan.arena_bytes <= ask and plan.time_ns <= slowest:
                best = plan
            else:
                least = ask
        # Both add the gradients of a weight one by one, which takes more time and less memory than their sum at the end.
        others = min(self.unplanned - self.arguments, self._min_cut())
        return best if best.arena_bytes <= others else min(best, within(others, 1), key=lambda plan: plan.arena_bytes)

    def _planned(self, ask: int, want: int) -> tuple[Plan, tuple[fx.GraphModule, fx.GraphModule]]:
        """A plan within `ask`, or, in the eager engine, one whose graphs hold no more than `want` without its gaps."""
        try:
            plan = self._solve(ask)
            return plan, split(self.program, self.joint, plan)
        except BudgetError as error:
            if error.smallest is None or self.options.engine != "eager":
                raise
            graphs = split(self.program, self.joint, error.smallest)
            if self._held(*graphs) + self.arguments > want:
                raise
            return error.smallest, graphs

    def _want(self) -> int | None:
        budget = self.options.budget
        if budget is None:
            return None
        if not is_share(budget):
            return parse_budget(budget) - self.before
        whole = self.unplanned
        if self.options.engine == "inductor":
            whole = self._solve(None).arena_bytes + self.arguments
        # Gradients of parameters do not shrink with a batch: the last one of an epoch may need a larger share.
        return max(parse_budget(budget, whole), self.granted)

    def run(self) -> tuple[fx.GraphModule, fx.GraphModule, Report]:
        want = self._want()
        if want is None:
            plan = self._solve_free()
            return self._finish(plan, *split(self.program, self.joint, plan), None)
        ask = want - self.arguments
        if ask <= 0:
            taken, budget = self.arguments + self.before, want + self.before
            raise BudgetError(
                f"arguments, and the values that graphs before a graph break keep for their backward passes, take "
                f"{format_bytes(taken)}, no less than the budget of {format_bytes(budget)}",
                budget_bytes=budget,
                smallest_bytes=taken,
            )
        for _ in range(self.MOST_ROUNDS):
            plan, graphs = self._planned(ask, want)
            over = self._held(*graphs) + self.arguments - want
            if self.takes_smallest and plan.arena_bytes > ask:
                self._warn(plan.arena_bytes + self.arguments, want)
                return self._finish(plan, *graphs, want)
            if over <= 0 or self.options.engine != "eager":
                return self._finish(plan, *graphs, want)
            ask = min(ask, plan.arena_bytes) - over
        raise BudgetError(
            f"the graphs of the plans that were tried hold {format_bytes(want + over)}, "
            f"more than the budget of {format_bytes(want)}",
            budget_bytes=want,
            smallest_bytes=want + over,
        )

    def _warn(self, smallest: int, want: int) -> None:
        warnings.warn(
            f"a graph beside a graph break takes {format_bytes(smallest)}, the least that was found, more than "
            f"{self.options.budget} of its own peak, {format_bytes(want)}",
            stacklevel=3,
        )

    def _report(self, plan: Plan, want: int | None) -> schedules.Report:
        # The arena holds no arguments.
        within = None if want is None else want - self.arguments
        return self.joint.problem.report(plan, within, "the joint graph")

    def _finish(
        self, plan: Plan, forward: fx.GraphModule, backward: fx.GraphModule, want: int | None
    ) -> tuple[fx.GraphModule, fx.GraphModule, Report]:
        report = Report(
            engine=self.options.engine,
            budget_bytes=want,
            unplanned_bytes=self.unplanned,
            planned_bytes=plan.arena_bytes + self.arguments,
            held_bytes=self._held(forward, backward) + self.arguments,
            saved_bytes=saved_by(forward, len(self.program.forward_outputs)),
            extra_flops_share=plan.extra_flops / max(1, self.joint.problem.flops),
            kernels=len(plan.kernels),
            ops=len(self.program.ops),
            planning_seconds=time.perf_counter() - self.start,
            arguments_bytes=self.arguments,
            schedule=self._report(plan, want),
            prove_share=functools.partial(self.joint.problem.extra_flops_bound_share, plan),
        )
        return forward, backward, report


class Partitioner(_private.require("CustomPartitionerFn")):  # type: ignore[misc]
    """A partitioner of AOTAutograd that splits each joint graph as planned.

    For `torch.compile(model, options={"custom_partitioner_fn": Partitioner(...), **INDUCTOR_OPTIONS})`;
    `ckpt.torch.backend` documents the arguments.

    Attributes:
        reports: one `Report` for each graph that was planned.
    """

    def __init__(self, budget: Budget | None = None, *, progress: Progress | None = None, **options: Any) -> None:
        _private.require_all()
        self.options = PlanOptions(budget, **options)
        self.options.check()
        self.progress = progress
        self.reports: list[Report] = []
        self._told: set[str] = set()
        # Bytes that each piece of a module keeps for its backward pass, by its key.
        self._kept: dict[Any, int] = {}
        # How often each piece was planned, by its key, and when that is worth a warning: by default, Dynamo ends there.
        self._plans: collections.Counter[Any] = collections.Counter()
        self._usual_plans = torch._dynamo.config.recompile_limit
        # The largest budget in bytes that each piece had, by its key.
        self._granted: dict[Any, int] = {}

    def warn_once(self, kind: str, text: str) -> None:
        """Warns unless a warning of this `kind` was given."""
        if kind not in self._told:
            self._told.add(kind)
            warnings.warn(text, stacklevel=4)

    def _warn_of(self, piece: _private.Piece, program: Program) -> None:
        self._plans[piece.key] += 1
        if self._plans[piece.key] > self._usual_plans:
            self.warn_once(
                "shapes",
                f"the same code is planned {self._plans[piece.key]} times, once for each shape and each Python number that "
                "it receives: TORCH_LOGS=recompiles names what changes; pad to few sizes, and pass numbers as tensors",
            )
        if piece.bucket:
            self.warn_once(
                "bucket",
                "DistributedDataParallel splits the module, and each graph is planned by itself: with "
                "torch._dynamo.config.optimize_ddp = False, there is one graph",
            )
        elif piece.is_part:
            self.warn_once(
                "break",
                "a graph break splits the module: each graph is planned by itself, and the code between them runs "
                "unplanned; TORCH_LOGS=graph_breaks names the place",
            )
        for op in program.ops:
            if _private.is_checkpointed(op.node):
                self.warn_once(
                    "checkpoint",
                    f"a checkpoint inside the model has no effect, first at {op.node.name!r}{place_of(op.node)}: "
                    "the plan decides for the whole graph",
                )

    def _before(self, piece: _private.Piece) -> int:
        """Bytes that the pieces before this one keep; a first piece begins a module."""
        if not piece.follows:
            self._kept.clear()
        keys = itertools.takewhile(lambda key: key != piece.key, self._kept)
        return sum(self._kept[key] for key in keys)

    def __call__(
        self, gm: fx.GraphModule, joint_inputs: Sequence[object], *, num_fwd_outputs: int, **_: Any
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        program = read_joint(gm, num_fwd_outputs, self.options.engine)
        piece = _private.piece()
        self._warn_of(piece, program)
        granted = self._granted.get(piece.key, 0)
        planning = _Planning(program, self.options, self.progress, piece, self._before(piece), granted)
        forward, backward, report = planning.run()
        self._kept[piece.key] = report.saved_bytes
        self._granted[piece.key] = max(granted, report.budget_bytes or 0)
        self.reports.append(report)
        return forward, backward

    def uuid(self) -> str:
        """Of the plan: PyTorch's caches hold one entry for each budget, options and version."""
        return f"ckpt {__version__} {self.options} {torch.__version__}"

    def __reduce__(self) -> Any:
        fields = {field.name: getattr(self.options, field.name) for field in dataclasses.fields(self.options)}
        return _restored, (fields,)


def _restored(fields: dict[str, Any]) -> Partitioner:
    return Partitioner(**fields)
