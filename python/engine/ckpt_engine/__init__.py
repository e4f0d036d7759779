"""The engine of ckpt as a module: `ckpt.compile` of the package `ckpt-mlir` calls it."""

from ._engine import Arena, BudgetTooSmall, PlannedStep, RefusedStep, Step, Tensor

__all__ = ["Arena", "BudgetTooSmall", "PlannedStep", "RefusedStep", "Step", "Tensor"]
