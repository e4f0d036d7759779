"""The exceptions of the package; each message is one clear sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .planner import Plan


class CkptError(Exception):
    """Base of every exception that this package raises on purpose."""


class UnsupportedStep(CkptError):
    """The step, or the way in which it is called, cannot be planned."""


class BudgetError(CkptError):
    """No plan meets the budget.

    Attributes:
        budget_bytes: the bytes that were asked for.
        smallest_bytes: the smallest bytes for which a plan was found.
        bound_bytes: no plan needs fewer bytes; 0 where nothing is proven.
        report: lines that name the values that stand in the way.
        smallest: the plan of `smallest_bytes`, where the planner found one.
    """

    def __init__(
        self,
        message: str,
        *,
        budget_bytes: int,
        smallest_bytes: int,
        bound_bytes: int = 0,
        report: str = "",
        smallest: Plan | None = None,
    ) -> None:
        super().__init__(f"{message}\n{report}" if report else message)
        self.budget_bytes = budget_bytes
        self.smallest_bytes = smallest_bytes
        self.bound_bytes = bound_bytes
        self.report = report
        self.smallest = smallest


class PlanMismatch(CkptError):
    """A saved plan belongs to another step; the message names the difference."""


class DeviceError(CkptError):
    """A GPU that is missing, short of memory or at fault, or its driver."""


class ArrayError(CkptError):
    """An array on another device, or of another type, shape or layout than the step takes."""


class OtherCall(ArrayError):
    """A call that a compiled step does not fit, as it differs from the example of the compilation.

    A check of a call that compares it with the example raises this error: a program of its own would take the call, and `ckpt.compile`
    makes one. A check that any example would fail, as for an array on another device, raises an `ArrayError`.
    """
