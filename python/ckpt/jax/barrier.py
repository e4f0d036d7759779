"""XLA's barrier for values of every type.

In a `shard_map`, a type says along which axes of the mesh a value varies. `jax.lax.optimization_barrier`
refuses values that vary along different axes, such as weights and activations; a barrier changes none of them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.extend.core as jex
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir

_barrier = jex.Primitive("optimization_barrier")
_barrier.multiple_results = True
_barrier.def_abstract_eval(lambda *types: types)
_barrier.def_impl(lambda *arrays: list(arrays))
mlir.register_lowering(_barrier, lambda _, *values: stablehlo.OptimizationBarrierOp(values).results)


def barrier(tree: Any) -> Any:
    """The arrays of `tree`, of which XLA makes none before all stand in memory."""
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, _barrier.bind(*leaves))
