"""ckpt: training steps planned into a memory budget.

`ckpt.jax` plans steps of JAX, `ckpt.torch` plans modules of PyTorch.
`ckpt.planner` is the planner by itself.
"""

from .errors import BudgetError, CkptError, PlanMismatch, UnsupportedStep
from .planner import Plan, Problem

__version__ = "0.1.0"
__all__ = ["BudgetError", "CkptError", "Plan", "PlanMismatch", "Problem", "UnsupportedStep"]
