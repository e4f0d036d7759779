"""Sums over a dimension that lies on several devices, as one part for each device.

XLA makes a gradient of weights on all devices by an all-reduce. A kernel that waited for it would keep it
from being combined with others; if no kernel waits for it, its operands stand to the end. Later kernels
wait for the parts instead, which no device sends. `emit` takes such sums apart; `step` asks XLA where
values lie, so that `problem` counts the bytes of one device.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .program import Op, Program, Value

Placement = Mapping[Value, NamedSharding]
_Axes = tuple[str, ...]


def observing_function(program: Program, found: dict[Value, Any]) -> Callable[..., list[Any]]:
    """Returns a function of the flat inputs of `program`; its compilation enters where values lie into `found`."""

    def observe(value: Value, array: Any) -> None:
        if getattr(value.aval, "shape", ()) and not jax.dtypes.issubdtype(value.aval.dtype, jax.dtypes.extended):
            jax.debug.inspect_array_sharding(array, callback=lambda sharding: found.update({value: sharding}))

    def run(*arguments: Any) -> list[Any]:
        env = {**dict(zip(program.inputs, arguments)), **program.constants}
        read = lambda operand: env[operand] if isinstance(operand, Value) else operand.val
        for value in (*program.inputs, *program.constants):
            observe(value, env[value])
        for op in program.ops:
            env.update(zip(op.outputs, op.run([read(operand) for operand in op.inputs])))
            for value in op.outputs:
                observe(value, env[value])
        return [read(operand) for operand in program.outputs]

    return run


@dataclasses.dataclass
class Parts:
    """How the devices of `mesh` make one part each: the first dimension of the result numbers them."""

    mesh: Mesh
    reads: list[PartitionSpec]
    result: PartitionSpec

    def run(self, op: Op, operands: Sequence[Any]) -> Any:
        local = lambda *own: op.run(own)[0][None]
        specs = {"mesh": self.mesh, "in_specs": tuple(self.reads), "out_specs": self.result}
        # JAX's check asks for operands that vary along the same axes, as it inserts collectives itself.
        return jax.shard_map(local, **specs, check_vma=False)(*operands)


def total(parts: Any) -> Any:
    """The sum of all devices' parts, in their own type."""
    return jax.lax.reduce(parts, jax.numpy.zeros((), parts.dtype), jax.lax.add, (0,))


def _product(op: Op, left: list[_Axes], right: list[_Axes]) -> tuple[list[_Axes], list[_Axes]] | None:
    (lefts, rights), (left_batch, right_batch) = op.eqn.params["dimension_numbers"]
    summed = [left[i] for i in lefts]
    if summed != [right[i] for i in rights]:
        return None
    rest = [axes for i, axes in enumerate(left) if i not in (*lefts, *left_batch)]
    rest += [axes for i, axes in enumerate(right) if i not in (*rights, *right_batch)]
    return summed, [left[i] for i in left_batch] + rest


def _convolution(op: Op, left: list[_Axes], right: list[_Axes]) -> tuple[list[_Axes], list[_Axes]] | None:
    params = op.eqn.params
    (batch, feature, *places), (out, into, *window) = params["dimension_numbers"][:2]
    whole = not any(left[i] for i in places) and not any(right[i] for i in window)
    if not whole or left[feature] != right[into] or (params["feature_group_count"], params["batch_group_count"]) != (1, 1):
        return None
    result: list[_Axes] = [()] * len(left)
    result[params["dimension_numbers"][2][0]], result[params["dimension_numbers"][2][1]] = left[batch], right[out]
    return [left[feature]], result


def _sum(op: Op, x: list[_Axes]) -> tuple[list[_Axes], list[_Axes]] | None:
    axes = op.eqn.params["axes"]
    return [x[i] for i in axes], [own for i, own in enumerate(x) if i not in axes]


# By primitive: the axes of the mesh on which the dimensions that are summed over lie, and those of the result's.
_SUMMED: dict[str, Callable[..., tuple[list[_Axes], list[_Axes]] | None]] = {
    "conv_general_dilated": _convolution,
    "dot_general": _product,
    **{f"reduce_{kind}": _sum for kind in ("sum", "max", "min", "prod", "and", "or", "xor")},
}
_SUMS = ("conv_general_dilated", "dot_general", "reduce_sum")


def _axes(sharding: NamedSharding, shape: Sequence[int]) -> list[_Axes] | None:
    """The axes on which each dimension lies in equal pieces."""
    entries = [*sharding.spec, *[None] * (len(shape) - len(sharding.spec))]
    axes = [() if entry is None else (entry,) if isinstance(entry, str) else entry for entry in entries]
    if not all(isinstance(each, tuple) for each in axes):
        return None
    pieces = [math.prod(sharding.mesh.shape[name] for name in each) for each in axes]
    return None if any(size % count for size, count in zip(shape, pieces)) else axes


def _is_explicit(value: Value) -> bool:
    """Whether the step names the axes on which values lie itself, as JAX's types of arrays: no sum may change them."""
    mesh = getattr(getattr(value.aval, "sharding", None), "mesh", None)
    return jax.sharding.AxisType.Explicit in (getattr(mesh, "axis_types", None) or ())


def _summed(op: Op, placement: Placement) -> tuple[list[PartitionSpec], _Axes, PartitionSpec] | None:
    """Where the operands of a sum over a dimension on several devices lie, the axes of that dimension, and the result."""
    shardings = [placement.get(value) for value in op.reads]
    if op.name not in _SUMMED or len(op.reads) != len(op.inputs):
        return None
    if not all(isinstance(each, NamedSharding) and each.mesh == shardings[0].mesh for each in shardings):
        return None
    operands = [_axes(sharding, value.aval.shape) for sharding, value in zip(shardings, op.reads)]
    if any(axes is None for axes in operands) or (found := _SUMMED[op.name](op, *operands)) is None:
        return None
    summed = tuple(itertools.chain(*found[0]))
    names = [*summed, *itertools.chain(*found[1])]
    if not summed or len(set(names)) < len(names):
        return None
    return [PartitionSpec(*axes) for axes in operands], summed, PartitionSpec(*found[1])


def share(value: Value, placement: Placement) -> float:
    """The part of `value` that each device holds."""
    if value not in placement:
        return 1.0
    try:
        local = placement[value].shard_shape(value.aval.shape)
    except ValueError:  # The pieces differ in size.
        return 1.0
    return math.prod(local) / max(1, math.prod(value.aval.shape))


def exchanging(program: Program, placement: Placement) -> set[Op]:
    """The ops for whose results devices exchange parts: a plan that repeated one would repeat a collective."""
    return {op for op in program.ops if _summed(op, placement)}


def parts_of(op: Op, placement: Placement) -> Parts | None:
    """How `op` sums on each device first, or `None` where it sums over no dimension that lies on several."""
    found = _summed(op, placement) if op.name in _SUMS and not any(map(_is_explicit, op.reads)) else None
    if found is None:
        return None
    reads, summed, result = found
    return Parts(placement[op.reads[0]].mesh, reads, PartitionSpec(summed, *result))
