"""The kernels that XLA makes of a step: which ops it fuses, and their costs.

`KernelModel` is the description of one backend. `describe` classifies one op by
it; `ckpt.jax.problem` turns the description into a planning problem.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .. import device
from ..planner import Read
from . import cpu
from .program import Op, Value

# One element from the elements at the same place.
_POINTWISE = frozenset(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh bitcast_convert_type
    cbrt ceil clamp clz complex conj convert_element_type copy copy_p cos cosh digamma div
    eq erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le lgamma
    log log1p log2 logistic lt max min mul mulhi ne neg nextafter not one_minus_square or
    population_count pow real reduce_precision rem round rsqrt select_n
    sharding_constraint shift_left shift_right_arithmetic shift_right_logical sign sin
    sinh sqrt square stop_gradient sub tan tanh threefry2x32 xor""".split()
)
# Functions that take some eight times as long as an addition.
_SLOW = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc
    exp exp2 expm1 lgamma log log1p log2 logistic pow sin sinh tan tanh""".split()
)
_REDUCTIONS = frozenset(
    """argmax argmin reduce reduce_and reduce_max reduce_min reduce_or reduce_prod
    reduce_sum reduce_window reduce_window_max reduce_window_min reduce_window_sum
    reduce_xor select_and_gather_add select_and_scatter_add""".split()
)
# Each element is computed from elements elsewhere.
_MOVES = frozenset(
    """broadcast_in_dim concatenate dynamic_slice iota pvary random_bits random_seed
    random_wrap random_unwrap rev split""".split()
)
_COLLECTIVES = frozenset(
    """all_gather all_gather_invariant all_gather_reduced all_reduce all_to_all pbroadcast pmax pmin ppermute
    psum psum2 psum_invariant psum_scatter ragged_all_to_all reduce_scatter unreduced_psum
    unreduced_reduce_scatter""".split()
)


def is_collective(op: Op) -> bool:
    return op.name in _COLLECTIVES


def is_product(op: Op) -> bool:
    return op.name in ("dot_general", "conv_general_dilated", "ragged_dot_general")


def elements_of(value: Any) -> int:
    return math.prod(getattr(value.aval, "shape", ()))


@dataclasses.dataclass(frozen=True)
class KernelModel(device.KernelModel):
    """How a backend of XLA runs a step: the rates of `ckpt.device.KernelModel`, and which ops XLA fuses.

    Attributes:
        product_epilogues: elementwise readers of a product join its kernel.
        transposes_in_place: products read a transposed operand where it lies.
        cpu_buffers: XLA writes the buffers of `ckpt.jax.cpu`.
    """

    product_epilogues: bool = False
    transposes_in_place: bool = False
    cpu_buffers: bool = False


# Rough rates of one CPU core and of current accelerators. No device has been
# compared with them: they order plans, and are no promise of time.
MODELS = {
    "cpu": KernelModel(cpu_buffers=True),
    "gpu": KernelModel(3_000_000, 3_000, 400_000_000, 30_000_000, True, True),
    "tpu": KernelModel(1_200_000, 1_000, 200_000_000, 4_000_000, True, False),
}


@dataclasses.dataclass
class Description:
    """One op as docs/PlanFormat.md describes it."""

    kind: str
    reads: list[Read]
    flops: int = 0
    is_product: bool = False
    workspace: int = 0


def _read(value: Value, access: str = "any", need: str = "inline", destination: bool = False) -> Read:
    return Read(value.number, access, need, destination)


def _product(op: Op, model: KernelModel, depth: int, values: list[Value]) -> Description:
    need = [_read(value, need="memory") for value in values]
    kind = "contraction" if model.product_epilogues else "opaque"
    return Description(kind, need, 2 * elements_of(op.outputs[0]) * depth, True)


def _ragged_product(op: Op, model: KernelModel, values: list[Value]) -> Description:
    """The rows of a group meet the matrix of that group alone; the CPU multiplies all rows by all matrices."""
    dimensions = op.eqn.params["ragged_dot_dimension_numbers"]
    (contracted, _), _ = dimensions.dot_dimension_numbers
    groups = op.inputs[2].aval.shape[-1]
    flops = 2 * elements_of(op.outputs[0]) * math.prod(op.inputs[0].aval.shape[d] for d in contracted)
    if not set(dimensions.lhs_ragged_dimensions).isdisjoint(contracted):
        flops = flops if model.cpu_buffers else flops // max(1, groups)
    elif model.cpu_buffers and dimensions.rhs_group_dimensions:
        flops *= groups
    return Description("opaque", [_read(value, need="memory") for value in values], flops, True)


def _view_or_move(op: Op, values: list[Value], model: KernelModel) -> Description | None:
    """Ops that only rename or move elements."""
    name, params = op.name, op.eqn.params
    size = elements_of(op.outputs[0])
    keeps_order = name in ("reshape", "squeeze", "expand_dims", "pvary") or (
        name == "broadcast_in_dim" and len(values) == 1 and elements_of(values[0]) == size
    )
    if keeps_order and len(values) == 1:
        return Description("view", [_read(values[0], "reshape")])
    if name == "transpose":
        if model.transposes_in_place:
            return Description("view", [_read(values[0], "permute")])
        return Description("fusible", [_read(values[0])])
    if name == "slice":
        whole = not any(params["start_indices"]) and all(s == 1 for s in params["strides"] or ())
        return Description("fusible", [_read(values[0], "aligned" if whole else "any")])
    if name == "pad":
        at_end = all(low == 0 and inner == 0 and high >= 0 for low, high, inner in params["padding_config"])
        return Description("fusible", [_read(v, "aligned" if at_end and v.aval.shape else "any") for v in values])
    if name == "gather":
        return Description("fusible", [_read(values[0], "gather"), *map(_read, values[1:])])
    if name in _MOVES:
        return Description("fusible", [_read(value) for value in values])
    return None


def _describe(op: Op, model: KernelModel) -> Description:
    name, params = op.name, op.eqn.params
    values = op.reads
    out = op.outputs[0] if op.outputs else None
    opaque = Description("opaque", [_read(value, need="memory") for value in values], sum(map(elements_of, op.outputs)))
    if out is None or op.eqn.effects:
        return opaque
    if name in _POINTWISE:
        flops = elements_of(out) * (8 if name in _SLOW else 1)
        return Description(
            "fusible",
            [_read(v, "pointwise" if v.aval.shape == out.aval.shape else "any") for v in values],
            flops,
        )
    if name == "dot_general":
        (contracted, _), _ = params["dimension_numbers"]
        depth = math.prod(op.inputs[0].aval.shape[d] for d in contracted)
        return _product(op, model, depth, values)
    if name == "conv_general_dilated":
        weight = op.inputs[1].aval.shape
        out_channels = weight[params["dimension_numbers"].rhs_spec[0]]
        return _product(op, model, math.prod(weight) // max(1, out_channels), values)
    if name == "ragged_dot_general":
        return _ragged_product(op, model, values)
    if name in _REDUCTIONS:
        return Description("reduction", [_read(value) for value in values], sum(map(elements_of, values)))
    if (name.startswith("scatter") or name == "dynamic_update_slice") and isinstance(op.inputs[0], Value):
        opaque.reads[0].destination = True
        return opaque
    return _view_or_move(op, values, model) or opaque


def describe(op: Op, model: KernelModel) -> Description:
    """Classifies `op`; its values must have their numbers."""
    description = _describe(op, model)
    if model.cpu_buffers and op.outputs and not op.eqn.effects:
        if cpu.stands_alone(op):
            description.kind = "opaque"
            description.reads = [_read(value, need="memory") for value in op.reads]
        description.workspace = cpu.scratch_bytes(op)
    return description


def is_anchor(op: Op, model: KernelModel) -> bool:
    """True if a kernel has at most one such op."""
    return describe(op, model).kind not in ("fusible", "view")
