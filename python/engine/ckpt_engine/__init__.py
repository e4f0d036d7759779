"""The engine of ckpt as a module: `ckpt.compile` of the package `ckpt-mlir` calls it."""

from ._engine import (
    Arena,
    BudgetTooSmall,
    GpuError,
    GpuMemory,
    PlannedStep,
    RefusedStep,
    Step,
    Tensor,
    copy_from_gpu,
    copy_on_gpu,
    copy_to_gpu,
    describe_array,
    gpu_array,
)

__all__ = [
    "Arena",
    "BudgetTooSmall",
    "GpuError",
    "GpuMemory",
    "PlannedStep",
    "RefusedStep",
    "Step",
    "Tensor",
    "copy_from_gpu",
    "copy_on_gpu",
    "copy_to_gpu",
    "describe_array",
    "gpu_array",
]
