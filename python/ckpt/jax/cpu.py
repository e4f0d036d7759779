"""XLA's CPU backend: the buffers that it adds to an op, and forms of ops that need none.

`ckpt.jax.kernels` asks for the scratch bytes of an op and for the ops that XLA never fuses;
`ckpt.jax.emit` writes reductions and products in forms that XLA fuses or reads in place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax

from .program import Op

# XLA reduces a longer dimension in windows of this many elements, and a window's operand
# stands in memory. A dimension of windows, reduced in two steps, needs no such operand.
_WINDOW = 32
_SPLIT = frozenset("reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor".split())
_CUMULATIONS = ("cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum")
# A fused concatenation of more operands, or of long rows, is slow: XLA writes these.
_MOST_OPERANDS = 8
_LEAST_ROW_BYTES = 64
_LEAST_BYTES = 2048


def _bytes(aval: Any) -> int:
    return math.prod(aval.shape) * aval.dtype.itemsize


def _is_threefry(op: Op) -> bool:
    return "rbg" not in str(op.inputs[0].aval.dtype)


def stands_alone(op: Op) -> bool:
    """True if XLA fuses `op` neither with its operands nor with its readers."""
    if op.name == "concatenate":
        out, axis = op.outputs[0].aval, op.eqn.params["dimension"]
        is_last = axis == out.ndim - 1 and out.ndim > 1
        is_long = out.shape[axis] * out.dtype.itemsize >= _LEAST_ROW_BYTES and _bytes(out) >= _LEAST_BYTES
        return len(op.inputs) > _MOST_OPERANDS or (is_last and is_long)
    return op.name in ("random_bits", "threefry2x32") or op.name.startswith(("reduce_window", "select_and_"))


def scratch_bytes(op: Op) -> int:
    """Bytes that stand in memory while XLA runs `op`, next to its operands and results."""
    name, out = op.name, op.outputs[0].aval
    if name == "conv_general_dilated":
        return _convolution_copies(op) + _wide_copies(op)
    if name == "dot_general":
        return _product_copies(op) + _wide_copies(op)
    if name == "ragged_dot_general":
        return _ragged_copies(op)
    if name == "random_bits":
        return 3 * math.prod(out.shape) * 4 if _is_threefry(op) else 0
    if name == "select_and_scatter_add":
        return _selection_bytes(op)
    if name in _CUMULATIONS:
        return _bytes(out) + 2 * _bytes(out) // _WINDOW
    if name in _SPLIT:
        return _partial_bytes(op)
    return _bytes(out) if name == "cholesky" else 0


def _ragged_copies(op: Op) -> int:
    """One copy of the operands for each group, with zeros for the rows of others; of matrices by group, one copy."""
    left, right = (_bytes(value.aval) for value in op.inputs[:2])
    groups = op.inputs[2].aval.shape[-1]
    by_group = bool(op.eqn.params["ragged_dot_dimension_numbers"].rhs_group_dimensions)
    return groups * left + (right if by_group else groups * right)


def _selection_bytes(op: Op) -> int:
    """XLA selects among tuples of an element and its indices, before it writes the result."""
    source, operand = (value.aval for value in op.inputs)
    padded = _bytes(operand) if any(map(any, op.eqn.params["padding"])) else 0
    indices = 4 * operand.ndim
    selected = math.prod(source.shape) * (indices + source.dtype.itemsize)
    return padded + math.prod(operand.shape) * indices + selected - _bytes(operand)


# --- Reductions --------------------------------------------------------------


def _windows(op: Op) -> dict[int, int]:
    """By each reduced dimension, a divisor: the elements along it that the first of two steps reduces.

    Empty where one step does. Both steps reduce about as many elements, so that a sum of many
    numbers is as precise as that of few.
    """
    shape, axes = op.inputs[0].aval.shape, op.eqn.params["axes"]
    number = math.prod(shape[axis] for axis in axes)
    if number == 0 or (number <= _WINDOW**2 and all(shape[axis] <= _WINDOW for axis in axes)):
        return {}
    most = max(_WINDOW, math.isqrt(number))
    windows = {}
    for axis in sorted(axes, reverse=True):
        windows[axis] = max(d for d in range(1, min(_WINDOW, most) + 1) if shape[axis] % d == 0)
        most //= windows[axis]
    return windows


def _is_reduced_in_steps(op: Op) -> bool:
    return any(window > 1 for window in _windows(op).values())


def _partial_bytes(op: Op) -> int:
    """Without steps, XLA writes the operand of a reduction of long dimensions."""
    windows = _windows(op)
    return _bytes(op.inputs[0].aval) // math.prod(windows.values()) if windows else 0


def _reduced_in_steps(op: Op, operand: Any) -> Any:
    """The reduction of windows, and then that of their results, as XLA does it with an operand in memory."""
    windows, params = _windows(op), dict(op.eqn.params)
    shape: list[int] = []
    first, second = [], []
    for axis, extent in enumerate(operand.shape):
        window = windows.get(axis)
        if window is None:
            shape.append(extent)
            continue
        if window < extent:
            second.append(len(shape) - len(first))
            shape.append(extent // window)
        if window > 1:
            first.append(len(shape))
            shape.append(window)
    primitive = op.eqn.primitive
    partial = primitive.bind(operand.reshape(shape), **{**params, "axes": tuple(first)})
    # XLA would merge the two.
    return primitive.bind(jax.lax.optimization_barrier(partial), **{**params, "axes": tuple(second)})


# --- Products ----------------------------------------------------------------


def _convolution_copies(op: Op) -> int:
    """Bytes of the operands and the result that do not lie as NHWC or HWIO."""

    def copied(aval: Any, order: tuple[int, ...]) -> int:
        extents = [dimension for dimension in order if aval.shape[dimension] != 1]
        return 0 if extents == sorted(extents) else _bytes(aval)

    specs = op.eqn.params["dimension_numbers"]
    (batch, feature, *space), (out, into, *window) = specs.lhs_spec, specs.rhs_spec
    out_batch, out_feature, *out_space = specs.out_spec
    return (
        copied(op.inputs[0].aval, (batch, *space, feature))
        + copied(op.inputs[1].aval, (*window, into, out))
        + copied(op.outputs[0].aval, (out_batch, *out_space, out_feature))
    )


def _wide_copies(op: Op) -> int:
    """Bytes of the operands and the result as numbers of 32 bits, if they are narrower floats."""

    def widened(aval: Any) -> int:
        is_narrow = jax.numpy.issubdtype(aval.dtype, jax.numpy.floating) and aval.dtype.itemsize < 4
        return math.prod(aval.shape) * 4 if is_narrow else 0

    return sum(widened(value.aval) for value in (*op.inputs, *op.outputs))


def _groups(ndim: int, contracted: Sequence[int], batch: Sequence[int]) -> tuple[list[int], bool] | None:
    """The free dimensions of an operand, and whether they come first; `None` if XLA copies it."""
    free = [axis for axis in range(ndim) if axis not in contracted and axis not in batch]
    for order, free_first in (((*batch, *free, *contracted), True), ((*batch, *contracted, *free), False)):
        if list(order) == list(range(ndim)):
            return free, free_first
    return None


def _sides(op: Op) -> list[tuple[Any, tuple[list[int], bool] | None]]:
    """Both operands of a product with their groups of dimensions."""
    contracted, batch = op.eqn.params["dimension_numbers"]
    return [
        (value.aval, _groups(len(value.aval.shape), contracted[i], batch[i])) for i, value in enumerate(op.inputs[:2])
    ]


def _product_copies(op: Op) -> int:
    return sum(_bytes(aval) for aval, groups in _sides(op) if groups is None)


def _as_matrices(op: Op, operands: Sequence[Any]) -> Any | None:
    """The product with one free and one contracted dimension, which XLA multiplies without a copy."""
    contracted, batch = op.eqn.params["dimension_numbers"]
    sides, depth, batches = _sides(op), len(contracted[0]), len(batch[0])
    if depth < 2 or any(groups is None for _, groups in sides):
        return None
    matrices, dims = [], []
    for operand, (aval, groups) in zip(operands, sides):
        free, free_first = groups
        extents = [math.prod(aval.shape[axis] for axis in axes) for axes in (free, contracted[len(matrices)])]
        matrices.append(operand.reshape(*aval.shape[:batches], *(extents if free_first else extents[::-1])))
        dims.append((batches + free_first,))
    leading = tuple(range(batches))
    params = {**op.eqn.params, "dimension_numbers": (tuple(dims), (leading, leading))}
    return op.eqn.primitive.bind(*matrices, **params).reshape(op.outputs[0].aval.shape)


def run(op: Op, operands: Sequence[Any]) -> list[Any]:
    """Binds `op` to `operands`, one per input, in the form that needs the fewest bytes."""
    if op.name in _SPLIT and _is_reduced_in_steps(op):
        return [_reduced_in_steps(op, operands[0])]
    if op.name == "dot_general":
        product = _as_matrices(op, operands)
        if product is not None:
            return [product]
    if op.name.startswith("scatter"):
        # XLA would merge a reshape before the updates with its own one behind them, and copy these for it.
        return op.run([*operands[:2], jax.lax.optimization_barrier(operands[2])])
    return op.run(operands)
