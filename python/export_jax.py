"""Turns a training step written in JAX into a file that ckpt-opt and ckpt-runner read.

The step is a function in a Python file of yours, beside example arguments that
say shapes and types (arrays, or jax.ShapeDtypeStruct). Weights are arguments,
so the result holds none. See docs/ExportFromJax.md for packages and an example.
"""

from iree.compiler import ir
from jax_lowering import Step
from step_file import command_line
from stablehlo_to_linalg import lower_to_linalg


class JaxStep(Step):
    """A step written in JAX, as the command line wants it."""

    def export(self) -> str:
        """The step as text in upstream MLIR dialects."""
        stablehlo = self.stablehlo()
        with ir.Context():
            return lower_to_linalg(stablehlo)


if __name__ == "__main__":
    command_line(__doc__, JaxStep, (ir.MLIRError,))
