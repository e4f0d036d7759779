"""Turns a training step written in JAX into a file that ckpt-opt and ckpt-runner read.

The step is a function, beside example arguments that say shapes and types (arrays, or
jax.ShapeDtypeStruct). Weights are arguments, so the result holds none.
"""

try:
    from iree.compiler import ir
except ImportError as error:
    raise ImportError(f"a step of JAX becomes MLIR by the package iree-base-compiler: {error}") from None

from ...errors import UnsupportedStep
from ..stablehlo.linalg import lower_to_linalg
from .lowering import Step


class JaxStep(Step):
    """A step written in JAX, as `ckpt.export.trace` returns it."""

    kept: dict[int, int] = {}
    own = 0
    is_of_torch = False

    def export(self) -> str:
        """The step as text in upstream MLIR dialects."""
        stablehlo = self.stablehlo()
        try:
            with ir.Context():
                return lower_to_linalg(stablehlo)
        except ir.MLIRError as error:
            raise UnsupportedStep(str(error)) from None
