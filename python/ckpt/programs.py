"""The programs of one step, which `ckpt.compile` makes as calls need them."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from .errors import ArrayError, CkptError, OtherCall
from .report import Report

_log = logging.getLogger("ckpt")


class Program(Protocol):
    """A step with its plan and its machine code, for calls that are like its example."""

    report: Report
    arguments: list[Any]
    results: list[Any]
    arena_bytes: int

    def take(self, args: tuple[Any, ...]) -> Any:
        """What a run needs of the arguments of a call.

        Raises:
            OtherCall: another program would take the call.
            ArrayError: no program would.
        """

    def run(self, taken: Any, out: Sequence[Any] | None) -> Any:
        """One run on what `take` returned."""


P = TypeVar("P", bound=Program)


class CompiledStep(Generic[P]):
    """A step as a callable, with the programs that its calls needed.

    A call runs a program that takes it, the one that ran last where it does. Where none does, the step is traced, planned and
    compiled again, with the arguments of the call as the example; the logger `ckpt` says why (`INFO`). A step in MLIR has one program.

    The programs share one arena, as large as the largest of them needs. One run at a time uses it; calls from other threads wait.

    Attributes:
        limit: of programs. A call that needs one more raises a `CkptError`.
    """

    def __init__(self, step: Any, make: Callable[[Any, tuple[Any, ...], list[P]], P]) -> None:
        """`make` returns a program for an example, beside those made before."""
        self.limit = 16
        self._step, self._make = step, make
        self._programs: list[P] = []
        # The program that ran last.
        self._last: P | None = None
        self._making = threading.RLock()
        if callable(step):
            functools.update_wrapper(self, step, updated=())

    def __call__(self, *args: Any, out: Sequence[Any] | None = None, **named: Any) -> Any:
        """Runs the step on arrays of NumPy, JAX or PyTorch, without copies where they are.

        Args:
            args: what the step takes, arrays in C order, where the step runs. A
                step on the GPU takes arrays of the host, too, and copies them.
            out: flat list of arrays that receive the results; by default each
                call makes new ones, for a step on the GPU there unless all
                arguments are on the host. An argument that the step donates
                receives its result in place, where it is writable.
            named: arguments of the step by their names.

        Raises:
            ArrayError: no program of the step takes an array, or it overlaps a result.
            DeviceError: the GPU has too little memory, or fails.
            CkptError: the call needs another program, and the step has as many as `limit` says.
            UnsupportedStep: the step cannot be compiled for the call.
        """
        args = self._bound(args, named) if named else args
        found = self._find(args)
        if isinstance(found, list):
            with self._making:
                found = self._find(args)
                found = self._made_for(args, found) if isinstance(found, list) else found
        self._last, taken = found
        return found[0].run(taken, out)

    def __get__(self, instance: Any, owner: type) -> Any:
        """A method, which an object compiles for itself: tensors that the object holds are arguments."""
        bound = self._step.__get__(instance, owner) if instance is not None and hasattr(self._step, "__get__") else self._step
        if bound is self._step:
            return self
        made = CompiledStep(bound, self._make)
        made.limit = self.limit
        return vars(instance).setdefault(f"ckpt.compile({bound.__qualname__})", made)

    def __reduce__(self) -> Any:
        """A copy compiles itself."""
        return CompiledStep, (self._step, self._make), {"limit": self.limit}

    @property
    def report(self) -> Report:
        """Figures, live ranges and recomputations of the program that ran last, or that was made before the first run."""
        return self._latest.report

    @property
    def arguments(self) -> list[Any]:
        """Name, element type and shape of each tensor that the program of `report` takes."""
        return self._latest.arguments

    @property
    def results(self) -> list[Any]:
        """Name, element type and shape of each tensor that the program of `report` returns."""
        return self._latest.results

    @property
    def arena_bytes(self) -> int:
        """The memory that the object holds for runs: as planned for the program that needs most."""
        return self._latest.arena_bytes

    def prepare(self, example: tuple[Any, ...]) -> None:
        """Makes the program for an example."""
        with self._making:
            self._last = self._make(self._step, example, self._programs)
            self._programs.append(self._last)

    @property
    def _latest(self) -> P:
        if self._last is None:
            raise CkptError("the step has no program yet: its first call compiles it")
        return self._last

    def _find(self, args: tuple[Any, ...]) -> tuple[P, Any] | list[OtherCall]:
        """A program and what it takes of a call, or why there is none."""
        reasons = []
        last = self._last
        for program in sorted(self._programs, key=lambda program: program is not last):
            try:
                return program, program.take(args)
            except OtherCall as reason:
                # Its trace would hold the arguments.
                reasons.append(reason.with_traceback(None))
        return reasons

    def _made_for(self, args: tuple[Any, ...], reasons: list[OtherCall]) -> tuple[P, Any]:
        if not callable(self._step) and reasons:
            raise reasons[0]
        if len(reasons) >= self.limit:
            lines = "\n  ".join(dict.fromkeys(map(str, reasons)))
            raise CkptError(
                f"a call differs from the examples of all {len(reasons)} programs of the step, which is the limit:\n  {lines}\n"
                "make a value that changes often a tensor, give batches a few shapes, or set the attribute 'limit' of the compiled step"
            )
        self._bound(args, {})
        if reasons:
            name = getattr(self._step, "__qualname__", type(self._step).__name__)
            _log.info("%s is compiled again, as program %d: %s", name, len(reasons) + 1, reasons[0])
        made = self._make(self._step, args if callable(self._step) else (), self._programs)
        taken = made.take(args)
        self._programs.append(made)
        return made, taken

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments of a call by their positions; those with defaults before a named one as well."""
        try:
            signature = inspect.signature(self._step)
        except (TypeError, ValueError):
            if not named:
                return args
            raise ArrayError(f"expected {next(iter(named))} by its position: the step does not say the names of its arguments") from None
        try:
            bound = signature.bind(*args, **named)
        except TypeError as error:
            raise ArrayError(f"the arguments of the call are not those of the step: {error}") from None
        last = max((list(signature.parameters).index(name) for name in bound.arguments), default=-1)
        bound.apply_defaults()
        if named and bound.kwargs:
            raise ArrayError(f"expected {next(iter(bound.kwargs))} by its position: a compiled step takes no argument that only has a name")
        return args if not named else bound.args[: last + 1]
