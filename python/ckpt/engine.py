"""Whole steps in the engine of the project, in this process: `ckpt.compile`.

The package `ckpt-engine` holds the engine. It plans a step, compiles it to machine code for the
CPU, and runs it on arrays of the caller.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import arrays, export
from .budget import Budget, check_limits, is_share, parse_budget
from .errors import ArrayError, BudgetError, CkptError, DeviceError, UnsupportedStep
from .gpu import Gpu, is_on_gpu
from .progress import shown
from .programs import CompiledStep
from .report import Report


@dataclasses.dataclass(frozen=True)
class Source:
    """A step as text in MLIR, and how the caller's values become its flat arrays.

    Attributes:
        name: of the file, for messages.
        bind: from the arguments of a call to arrays in the step's order, and to its return value as a function of results.
        result: from an array of NumPy, or a `GpuArray`, to one of the caller's framework.
        kept: by result that the caller does not see, the argument that it is a new value of.
        own: how many results before those are of gradients and states that the step makes, which the caller does not see either.
        traced: the step of a framework.
    """

    text: str
    name: str = "step.mlir"
    bind: Callable[[tuple[Any, ...]], tuple[list[Any], Callable[[list[Any]], Any]]] = lambda args: (list(args), _alone)
    result: Callable[[Any, str], Any] = lambda array, element: array
    kept: Mapping[int, int] = dataclasses.field(default_factory=dict)
    own: int = 0
    traced: export.ExportedStep | None = None


def _alone(results: list[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


class PlannedStep:
    """A step in MLIR with its plan.

    Attributes:
        report: figures, live ranges and recomputations; a `ckpt.Report`.
    """

    def __init__(self, source: Source, options: list[str], seconds: float, is_on_gpu: bool, gpu_options: str) -> None:
        self._engine = _engine()
        self.source = source
        self._is_on_gpu = is_on_gpu
        with _own_errors(self._engine), shown(None, seconds) as watch:
            self._step = self._engine.PlannedStep(source.text, source.name, " ".join(options), is_on_gpu, gpu_options, watch)
        self.report = Report(self._step.report)

    @property
    def text(self) -> str:
        """The program with its plan, as `ckpt-opt --ckpt-plan` prints it."""
        return self._step.text

    def compile(self, threads: int, arena: Any = None) -> Program:
        """Machine code of the step, which runs in an `Arena` of the engine, by default one of its own; see `ckpt.compile`."""
        with _own_errors(self._engine):
            arena = arena or self._engine.Arena(self._is_on_gpu)
            return Program(self._engine, self._step.compile(threads, arena), arena, self.source, self.report)


@dataclasses.dataclass(frozen=True)
class Taken:
    """A call as a program takes it: the flat arrays, their memory, and the return value as a function of results."""

    given: list[Any]
    views: list[Any]
    returned: Callable[[list[Any]], Any]


class Program:
    """A step with its plan and its machine code, for the calls that are like its example; see `programs.Program`."""

    def __init__(self, engine: Any, step: Any, arena: Any, source: Source, report: Report) -> None:
        self._engine, self._step, self._arena, self._source, self.report = engine, step, arena, source, report
        self._memory = Gpu(engine) if arena.is_on_gpu else arrays.Host()
        self.arguments: list[arrays.Tensor] = step.arguments
        self.results: list[arrays.Tensor] = step.results
        self._donated: list[int] = step.donated

    @property
    def arena_bytes(self) -> int:
        return self._arena.bytes

    @property
    def arena(self) -> Any:
        """The `Arena` of the engine, which other programs may share."""
        return self._arena

    def of(self, source: Source) -> Program | None:
        """The program of an equal text, which another example gave."""
        return Program(self._engine, self._step, self._arena, source, self.report) if source.text == self._source.text else None

    @property
    def traced(self) -> export.ExportedStep | None:
        return self._source.traced

    def take(self, args: tuple[Any, ...]) -> Taken:
        given, returned = self._source.bind(args)
        if len(given) != len(self.arguments):
            raise ArrayError(f"expected {len(self.arguments)} arrays, but got {len(given)}")
        kept = self._source.kept
        with _own_errors(self._engine):
            views = [
                self._memory.take(array, tensor, _title("argument", number, tensor), writable=number in kept.values())
                for number, (array, tensor) in enumerate(zip(given, self.arguments))
            ]
        return Taken(given, views, returned)

    def run(self, taken: Taken, out: Sequence[Any] | None) -> Any:
        with _own_errors(self._engine):
            made = self._run(taken, out)
        return taken.returned(made)

    def _run(self, taken: Taken, out: Sequence[Any] | None) -> list[Any]:
        views, kept = taken.views, self._source.kept
        made, targets = self._new_results(taken.given, views) if out is None else self._targets(list(out), views)
        self._refuse_shared(views, targets)
        self._step.run(list(map(arrays.extent_of, views)), list(map(arrays.extent_of, targets)))
        for number, argument in kept.items():
            if targets[number] is not views[argument]:
                arrays.assign(views[argument], targets[number])
        self._memory.finish([*targets, *(views[argument] for argument in kept.values())])
        return made

    def _refuse_shared(self, arguments: list[Any], targets: list[Any]) -> None:
        """Refuses an argument that changes while another one has the same memory: the step would not see the change there."""
        in_place = [i for i, result in enumerate(self._donated) if result >= 0 and targets[result] is arguments[i]]
        changed = list({*self._source.kept.values(), *in_place})
        others = [view for i, view in enumerate(arguments) if i not in changed]
        number = arrays.overlap(others, [arguments[i] for i in changed]) if changed else None
        if number is not None:
            title = _title("argument", changed[number], self.arguments[changed[number]])
            raise ArrayError(f"expected {title}, which the step changes, in memory of its own, but another argument shares it")

    def _targets(self, out: list[Any], arguments: list[Any]) -> tuple[list[Any], list[Any]]:
        """The caller's arrays for results and new ones for others, and all memory that results go to."""
        own = len(self.results) - len(self._source.kept)
        shown = own - self._source.own
        if len(out) != shown:
            raise ArrayError(f"expected {shown} arrays in 'out', but got {len(out)}")
        targets = [
            self._memory.take(array, tensor, _title("result", number, tensor), writable=True)
            for number, (array, tensor) in enumerate(zip(out, self.results))
        ]
        for tensor, (array, target) in zip(self.results[shown:own], self._memory.make(self.results[shown:own], arguments)):
            targets.append(target)
            out.append(self._source.result(array, tensor.element))
        targets += [self._kept_target(number, arguments) for number in range(own, len(self.results))]
        kept = [
            view
            for view, result in zip(arguments, self._donated)
            if result < 0 or arrays.extent_of(view) != arrays.extent_of(targets[result])
        ]
        if (number := arrays.overlap(kept, targets)) is not None:
            raise ArrayError(f"expected result {number} in memory of its own, but it overlaps an argument or a result")
        return out, targets

    def _kept_target(self, number: int, arguments: list[Any]) -> Any:
        """The argument that a result is a new value of, where the plan writes it in place."""
        argument = self._source.kept[number]
        if self._donated[argument] == number:
            return arguments[argument]
        return self._memory.like(self.arguments[argument])

    def _new_results(self, given: list[Any], arguments: list[Any]) -> tuple[list[Any], list[Any]]:
        """Arrays for results as the caller sees them, and all memory that results go to."""
        made: list[Any] = [None] * len(self.results)
        targets: list[Any] = [None] * len(self.results)
        for array, view, number in zip(given, arguments, self._donated):
            if number >= 0 and arrays.is_writable(view):
                made[number], targets[number] = array, view
        new = [number for number, target in enumerate(targets) if target is None]
        fresh = self._memory.make([self.results[number] for number in new], arguments)
        for number, (array, targets[number]) in zip(new, fresh):
            made[number] = self._source.result(array, self.results[number].element)
        return made, targets


@contextlib.contextmanager
def _own_errors(engine: Any) -> Iterator[None]:
    """The engine's errors as those of the package."""
    try:
        yield
    except engine.BudgetTooSmall as error:
        figures, _, message = str(error).partition("\n")
        asked, smallest, bound = map(int, figures.split())
        raise BudgetError(message, budget_bytes=asked, smallest_bytes=smallest, bound_bytes=bound) from None
    except engine.RefusedStep as error:
        raise UnsupportedStep(str(error)) from None
    except engine.GpuError as error:
        raise DeviceError(str(error)) from None


def _title(kind: str, number: int, tensor: arrays.Tensor) -> str:
    return f"{kind} {number} ({tensor.label})" if tensor.label else f"{kind} {number}"


def _engine() -> Any:
    try:
        import ckpt_engine
    except ImportError as error:
        raise CkptError(f"ckpt.compile needs the package ckpt-engine beside ckpt-mlir: {error}") from None
    return ckpt_engine


def _budget_option(budget: Budget) -> str:
    if is_share(budget):
        parse_budget(budget, 1 << 40)
        return f"budget={str(budget).strip()}"
    return f"budget={parse_budget(budget)}B"


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the programs of a step are made; see `ckpt.compile`. `gpu_options` are those of `--ckpt-lower-to-nvvm-pipeline`."""

    budget: Budget | None = None
    device: str | None = None
    threads: int = 1
    time_limit: float = 5.0
    gpu_options: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.threads <= 1024:
            raise CkptError(f"expected 1 to 1024 threads, but got {self.threads}")
        if self.device not in (None, "cpu", "cuda"):
            raise CkptError(f"expected the device 'cpu' or 'cuda', but got {self.device!r}")
        check_limits(self.time_limit)
        if self.budget is not None:
            _budget_option(self.budget)

    def compiled(self, step: Any, example_args: tuple[Any, ...]) -> CompiledStep[Program]:
        """A step as `ckpt.compile` returns it."""
        compiled = CompiledStep(step, self.program)
        if example_args or not _takes_arguments(step):
            compiled.prepare(example_args)
        return compiled

    def program(self, step: Any, example_args: tuple[Any, ...], earlier: list[Program]) -> Program:
        """A program for an example, in the arena of the others of the step."""
        source = _source(step, example_args, [program.traced for program in earlier if program.traced])
        if same := next(filter(None, (program.of(source) for program in earlier)), None):
            return same
        if not earlier:
            return self.planned(source, self.budget, self.is_on_gpu(source, example_args)).compile(self.threads)
        arena, budget = earlier[0].arena, self.budget
        if budget is not None and is_share(budget):
            # Bytes that the step already holds cost nothing more.
            whole = self.planned(source, None, arena.is_on_gpu)
            if whole.report.figures["peak_bytes"] <= arena.bytes:
                return whole.compile(self.threads, arena)
            if parse_budget(budget, whole.report.figures["baseline_peak_bytes"]) < arena.bytes:
                budget = arena.bytes
        return self.planned(source, budget, arena.is_on_gpu).compile(self.threads, arena)

    def is_on_gpu(self, source: Source, example_args: tuple[Any, ...]) -> bool:
        """Whether the step runs on the GPU: where it has to, or where its example has arrays."""
        if self.device is not None or not example_args:
            return self.device == "cuda"
        return any(map(is_on_gpu, source.bind(example_args)[0]))

    def planned(self, source: Source, budget: Budget | None, is_on_gpu: bool, more_options: Sequence[str] = ()) -> PlannedStep:
        options = [f"time-limit={max(0, int(self.time_limit * 1000))}", *more_options]
        if budget is not None:
            options.append(_budget_option(budget))
        return PlannedStep(source, options, self.time_limit if budget is not None else 0, is_on_gpu, self.gpu_options)


def compile(
    step: Callable[..., Any] | str | os.PathLike[str],
    *example_args: Any,
    budget: Budget | None = None,
    device: str | None = None,
    threads: int = 1,
    time_limit: float = 5.0,
) -> CompiledStep[Program]:
    """Plans a step, compiles it for this machine, and returns it as a callable.

    A call that differs from the example, as by a shape, a type, a setting of a module or
    a number that Python code needs, compiles the step again with its arguments as the
    example; the budget, the threads and the time limit hold there, too. Under a share,
    such a program may take the bytes of a larger one before it.

    Args:
        step: a function of JAX or PyTorch, the path of a file in MLIR, or its text.
        example_args: of a function: arrays that say shapes and types. Without them the
            first call compiles a function that takes arguments, so that `ckpt.compile`
            is a decorator.
        budget: the largest arena: bytes, "12GiB", or "50%" of the arena without
            recomputation. `None` recomputes nothing. Arguments and results,
            which are the caller's, do not count.
        device: "cpu", or "cuda", the first GPU. By default the GPU where the first
            example has arrays there, else the CPU.
        threads: of large kernels on the CPU; results do not depend on them.
        time_limit: seconds after which the search for a plan ends.

    Raises:
        BudgetError: no plan meets the budget.
        DeviceError: there is no GPU that the step could run on.
        UnsupportedStep: an operation that the engine does not run; names it.
    """
    return Settings(budget, device, threads, time_limit).compiled(step, example_args)


def plan(
    step: Callable[..., Any] | str | os.PathLike[str],
    *example_args: Any,
    budget: Budget | None = None,
    time_limit: float = 5.0,
    more_options: Sequence[str] = (),
) -> PlannedStep:
    """A step with its plan for the CPU; `more_options` are those of `ckpt-opt --ckpt-plan`."""
    if not example_args and _takes_arguments(step):
        raise CkptError("expected example arguments after the step: parameters, a batch")
    return Settings(budget, "cpu", 1, time_limit).planned(_source(step, example_args), budget, False, more_options)


def _source(step: Any, example_args: tuple[Any, ...], earlier: Sequence[export.ExportedStep] = ()) -> Source:
    if callable(step):
        traced = export.trace(step, example_args, earlier)
        result = _tensor_of if traced.is_of_torch else Source.result
        text = traced.export()
        traced.release()
        return Source(text, "step.mlir", traced.bind, result, traced.kept, traced.own, traced)
    if example_args:
        raise CkptError("expected example arguments for a function only, but got some for a step in MLIR")
    if isinstance(step, str) and "\n" in step:
        return Source(step)
    try:
        with open(step, encoding="utf-8") as file:
            return Source(file.read(), os.fspath(step))
    except OSError as error:
        raise CkptError(f"{os.fspath(step)!r} cannot be read: {error.strerror}") from None


def _takes_arguments(step: Any) -> bool:
    """Whether a step is a function that has to be called with arguments, or may be, as far as its signature says."""
    if not callable(step):
        return False
    try:
        parameters = inspect.signature(step).parameters.values()
    except ValueError:
        return True
    return any(each.kind == each.VAR_POSITIONAL or each.default is each.empty and each.kind != each.VAR_KEYWORD for each in parameters)


def _tensor_of(array: Any, element: str) -> Any:
    """A tensor of PyTorch in the memory of `array`."""
    import torch

    names = {"bf16": torch.bfloat16, "f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}
    if not isinstance(array, np.ndarray):
        tensor = torch.from_dlpack(array)
    elif element in names:
        tensor = torch.from_numpy(arrays.bits_of(array).view(f"i{array.dtype.itemsize}"))
    else:
        tensor = torch.from_numpy(array)
    return tensor.view(names[element]) if element in names else tensor
