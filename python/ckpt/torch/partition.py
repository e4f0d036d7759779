"""The partitioner: plans a joint graph of AOTAutograd and splits it."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import hashlib
import itertools
import operator
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import fx

from .. import __version__
from .. import report as schedules
from ..budget import Budget, check_limits, exact_bytes, format_bytes, is_share, parse_budget
from ..errors import BudgetError, CkptError
from ..planner import Plan, budget_error
from ..progress import Progress, shown
from . import _private
from .compiled import compiled_peak
from .kernels import ENGINES, MODELS, KernelModel, calls_pytorch, flops_of, is_inside_of_kernels, place_of
from .memory import held_by, saved_by
from .problem import JointProblem
from .program import Program, read_joint
from .split import as_written, split
from .workspaces import Workspaces


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
        compiled_bytes: the peak of the graphs that run, by inductor's code; `None` where it was not asked.
        is_min_cut: PyTorch's min-cut partition runs in place of the plan.
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
    compiled_bytes: int | None = None
    is_min_cut: bool = False

    @property
    def allocated_bytes(self) -> int:
        """The peak of the graphs that run, without arguments: what PyTorch's allocator gives out."""
        planned = self.held_bytes if self.engine == "eager" else self.planned_bytes
        return (planned if self.compiled_bytes is None else self.compiled_bytes) - self.arguments_bytes

    def __str__(self) -> str:
        lines = [f"ckpt: {self.ops:,} ops in {self.kernels:,} kernels, for {self.engine}"]
        lines.append(f"  as autograd splits it   {format_bytes(self.unplanned_bytes):>14}")
        if self.budget_bytes is not None:
            lines.append(f"  budget                  {format_bytes(self.budget_bytes):>14}")
        if self.engine == "eager":
            lines.append(f"  as planned, at its peak {format_bytes(self.held_bytes):>14}")
        lines.append(f"  arena of the plan       {format_bytes(self.planned_bytes):>14}")
        if self.compiled_bytes is not None:
            lines.append(f"  by inductor's code      {format_bytes(self.compiled_bytes):>14}")
        if self.is_min_cut:
            lines.append("  PyTorch's min-cut partition runs instead: inductor takes less memory for it than for the plan, or repeats less")
        lines.append(f"  kept for the backward   {format_bytes(self.saved_bytes):>14}")
        lines.append(
            f"  extra work {100 * self.extra_flops_share:.2f} % of the step's FLOPs; "
            f"no plan does with less than {100 * self.extra_flops_bound_share:.2f} %"
        )
        lines.append(f"  planned in {self.planning_seconds:.1f} s")
        return "\n".join(lines)


def _min_cut(module: fx.GraphModule, kept: int, options: dict[str, Any]) -> tuple[fx.GraphModule, fx.GraphModule]:
    """PyTorch's own split of a joint graph."""
    for node in module.graph.nodes:
        node.meta.pop("recompute", None)  # of a checkpoint
    with torch._functorch.config.patch(activation_memory_budget=1.0):
        return _private.require("min_cut_rematerialization_partition")(module, (), num_fwd_outputs=kept, **options)


class _Compiled:
    """Two graphs as inductor compiles them."""

    def __init__(self, planning: _Planning, graphs: tuple[fx.GraphModule, fx.GraphModule]) -> None:
        self._planning, self.graphs = planning, graphs

    @functools.cached_property
    def peak(self) -> int:
        """Bytes of both graphs, by inductor's code; it writes the code, and compiles no kernel of it."""
        planning, kept = self._planning, len(self._planning.program.forward_outputs)
        counts = planning.options.count_gradients
        with shown(planning.progress, 0) as watch:
            if watch is not None:
                watch("inductor writes its code")
            return compiled_peak(*self.graphs, kept, planning.program.mutations, counts, planning.workspaces)

    @functools.cached_property
    def held(self) -> int:
        """Bytes of both graphs, by rules of the kernels of inductor: about `peak`, and known without inductor."""
        planning = self._planning
        kept, skipped = len(planning.program.forward_outputs), planning.program.mutations
        return held_by(*self.graphs, kept, skipped, planning.options.count_gradients, is_inside_of_kernels)

    @functools.cached_property
    def flops(self) -> int:
        """The work of both graphs, by PyTorch's formulas."""
        nodes = (node for graph in self.graphs for node in graph.graph.nodes if node.op == "call_function")
        return sum(map(flops_of, nodes))

    def is_within(self, nbytes: int) -> bool:
        """The peak is no more than `nbytes`; where the saved tensors are more, nobody asks inductor."""
        saved = saved_by(self.graphs[0], len(self._planning.program.forward_outputs))
        return saved <= nbytes and self.peak <= nbytes


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
        min_cut: Callable[[], tuple[fx.GraphModule, fx.GraphModule]] | None,
    ) -> None:
        """
        Args:
            min_cut: makes PyTorch's own split of the joint graph; `None` where inductor does not compile it.
            before: bytes of earlier pieces of the module that stand while the graphs run.
            granted: bytes of the budget that the piece had for other shapes; 0 for its first shape.
        """
        self.program, self.options, self.progress = program, options, progress
        self.before, self.granted, self._min_cut = before, granted, min_cut
        share = options.budget is not None and is_share(options.budget)
        self.takes_smallest = share and piece.is_part
        self.start = time.perf_counter()
        self.workspaces = Workspaces()
        self.workspaces.note(op.node for op in program.ops if calls_pytorch(op, options.engine))
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

    @functools.cached_property
    def min_cut(self) -> _Compiled:
        """PyTorch's own split of the graph."""
        assert self._min_cut is not None
        return _Compiled(self, self._min_cut())

    def _fits_min_cut(self, nbytes: int) -> bool:
        return self._min_cut is not None and self.min_cut.is_within(nbytes)

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
        others = self.unplanned - self.arguments
        if self._min_cut is not None:
            others = min(others, self.min_cut.held)
        return best if best.arena_bytes <= others else min(best, within(others, 1), key=lambda plan: plan.arena_bytes)

    def _planned(self, ask: int, want: int) -> tuple[Plan, tuple[fx.GraphModule, fx.GraphModule]]:
        """A plan within `ask`, or the smallest one, where the graphs that run hold no more than `want` without its gaps."""
        try:
            plan = self._solve(ask)
            return plan, split(self.program, self.joint, plan)
        except BudgetError as error:
            if error.smallest is None:
                raise
            graphs = split(self.program, self.joint, error.smallest)
            if self.options.engine == "inductor":
                fits = self._fits_min_cut(ask) and self.min_cut.flops <= _Compiled(self, graphs).flops
            else:
                fits = self._held(*graphs) + self.arguments <= want
            if not fits:
                raise self._refusal(error, graphs, want) from None
            return error.smallest, graphs

    def _refusal(self, error: BudgetError, graphs: tuple[fx.GraphModule, fx.GraphModule], want: int) -> BudgetError:
        """The planner's `error` in bytes of the user's budget."""
        held = self._held(*graphs) if self.options.engine == "eager" else 0
        others = self.arguments + self.before
        kinds = ["arguments"] * bool(self.arguments) + ["values that graphs before a graph break keep"] * bool(self.before)
        return budget_error(
            want + self.before,
            max(error.smallest_bytes, held) + others,
            error.bound_bytes and error.bound_bytes + others,
            beside=f", of which {format_bytes(others)} are {' and '.join(kinds)}" if others else "",
            report=error.report,
            smallest=error.smallest,
        )

    def _takes_min_cut(self, ours: _Compiled, room: int | None) -> bool:
        """Inductor repeats less for PyTorch's own split than for the plan, or repeats no more and takes less memory.

        Its code for both says it, so that no search has to find a plan below min-cut. The plan knows inductor's kernels by rules only.
        """
        if self._min_cut is None or not (room is None or self._fits_min_cut(room)):
            return False
        if self.min_cut.flops != ours.flops:
            return self.min_cut.flops < ours.flops
        return self.min_cut.is_within(ours.peak - 1)

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
            return self._finish(plan, _Compiled(self, split(self.program, self.joint, plan)), None)
        room = ask = max(1, want - self.arguments)
        tried: list[tuple[int, Plan, _Compiled]] = []
        for _ in range(self.MOST_ROUNDS):
            try:
                plan, graphs = self._planned(ask, want)
            except BudgetError:
                if not tried or self.options.engine == "eager":
                    raise
                break
            runs = _Compiled(self, graphs)
            peak = 0 if self._takes_min_cut(runs, room) else self._peak(runs)
            if peak <= room:
                return self._finish(plan, runs, want)
            tried.append((peak, plan, runs))
            if plan.arena_bytes > ask:
                break
            ask = max(1, min(ask, plan.arena_bytes) - (peak - room))
        peak, plan, runs = min(tried, key=operator.itemgetter(0))
        self._exceed(peak + self.arguments, want)
        return self._finish(plan, runs, want)

    def _peak(self, runs: _Compiled) -> int:
        """Bytes that the engine holds at the peak of its graphs; 0 where another compiler than inductor takes them."""
        if self.options.engine == "eager":
            return self._held(*runs.graphs)
        return 0 if self._min_cut is None else runs.peak

    def _exceed(self, least: int, want: int) -> None:
        """Says that graphs which take `least` bytes run, or raises a `BudgetError`."""
        if self.takes_smallest:
            text = f"a graph beside a graph break takes {format_bytes(least)}, the least that was found, more than "
            text += f"{self.options.budget} of its own peak, {format_bytes(want)}"
        elif self.options.engine == "inductor":
            text = f"inductor takes {format_bytes(least + self.before)} for the plan, by an order and a fusion of its own, more than "
            text += f"the budget of {format_bytes(want + self.before)}: the engine 'eager' keeps to it"
        else:
            raise BudgetError(
                f"the graphs of the plans that were tried hold {exact_bytes(least + self.before)}, "
                f"more than the budget of {format_bytes(want + self.before)}",
                budget_bytes=want + self.before,
                smallest_bytes=least + self.before,
            )
        warnings.warn(text, stacklevel=4)

    def _report(self, plan: Plan, want: int | None) -> schedules.Report:
        # The arena holds no arguments.
        within = None if want is None else want - self.arguments
        return self.joint.problem.report(plan, within, "the joint graph")

    def _finish(self, plan: Plan, runs: _Compiled, want: int | None) -> tuple[fx.GraphModule, fx.GraphModule, Report]:
        flops = max(1, self.joint.problem.flops)
        extra = plan.extra_flops / flops
        if is_min_cut := self._takes_min_cut(runs, None if want is None else want - self.arguments):
            runs = self.min_cut
            once = sum(flops_of(op.node) for op in self.program.ops if not op.is_view)
            extra = max(0, runs.flops - once) / flops
        report = Report(
            engine=self.options.engine,
            budget_bytes=want,
            unplanned_bytes=self.unplanned,
            planned_bytes=plan.arena_bytes + self.arguments,
            held_bytes=self._held(*runs.graphs) + self.arguments,
            saved_bytes=saved_by(runs.graphs[0], len(self.program.forward_outputs)),
            extra_flops_share=extra,
            kernels=len(plan.kernels),
            ops=len(self.program.ops),
            planning_seconds=time.perf_counter() - self.start,
            arguments_bytes=self.arguments,
            compiled_bytes=runs.peak + self.arguments if "peak" in vars(runs) else None,
            is_min_cut=is_min_cut,
            schedule=self._report(plan, want),
            prove_share=functools.partial(self.joint.problem.extra_flops_bound_share, plan),
        )
        return *runs.graphs, report


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
        self, gm: fx.GraphModule, joint_inputs: Sequence[object], *, num_fwd_outputs: int, **options: Any
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        as_traced = fx.GraphModule(gm, copy.deepcopy(gm.graph))
        program = read_joint(gm, num_fwd_outputs, self.options.engine)
        piece = _private.piece()
        self._warn_of(piece, program)
        granted = self._granted.get(piece.key, 0)
        is_inductor = self.options.engine == "inductor" and options.get("compiler") == "inductor"
        min_cut = functools.partial(_min_cut, as_traced, num_fwd_outputs, options) if is_inductor else None
        planning = _Planning(program, self.options, self.progress, piece, self._before(piece), granted, min_cut)
        forward, backward, report = planning.run()
        self._kept[piece.key] = report.saved_bytes
        self._granted[piece.key] = max(granted, report.budget_bytes or 0)
        self.reports.append(report)
        return forward, backward

    def uuid(self) -> str:
        """Of the plan: PyTorch's caches on disk hold one entry for each budget, options and planner."""
        return f"ckpt {digest_of(Path(__file__).parent.parent)} {self.options} {torch.__version__}"

    def __reduce__(self) -> Any:
        fields = {field.name: getattr(self.options, field.name) for field in dataclasses.fields(self.options)}
        return _restored, (fields,)


@functools.cache
def digest_of(package: Path) -> str:
    """Of the files that make plans for PyTorch; in a checkout, many of them share one version."""
    files = [*package.glob("*.py"), *package.glob("_planner*"), *package.glob("torch/*.py")]
    digest = hashlib.sha256(__version__.encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _restored(fields: dict[str, Any]) -> Partitioner:
    return Partitioner(**fields)
