"""ckpt: training steps planned into a memory budget.

`ckpt.jax` plans steps of JAX, `ckpt.torch` plans modules of PyTorch, both for the engine of the
framework. `ckpt.compile` runs a whole step in the engine of this project. `ckpt.planner` is the
planner by itself, and `python -m ckpt` the command line.
"""

from typing import Any

from .engine import compile
from .errors import ArrayError, BudgetError, CkptError, DeviceError, PlanMismatch, UnsupportedStep
from .programs import CompiledStep
from .report import Report

__version__ = "0.1.0"
__all__ = [
    "ArrayError",
    "BudgetError",
    "CkptError",
    "CompiledStep",
    "DeviceError",
    "Plan",
    "PlanMismatch",
    "Problem",
    "Report",
    "UnsupportedStep",
    "compile",
]


def __getattr__(name: str) -> Any:
    # The exporter runs in a checkout where nothing is built.
    if name in ("Plan", "Problem"):
        from . import planner

        return getattr(planner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
