"""The kernels that an engine makes of a graph: which ops it fuses, and their costs."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import flop_registry

from ..device import KernelModel
from ..planner import Read
from . import _private
from .program import Op, Value, base_of

aten, prims = torch.ops.aten, torch.ops.prims

ENGINES = ("inductor", "eager")

# Elementwise functions that PyTorch does not tag as such.
_POINTWISE = {
    aten._to_copy,
    aten.clone,
    aten.copy,
    aten.hardtanh_backward,
    aten.lift_fresh_copy,
    aten.threshold_backward,
    aten.where,
    prims.convert_element_type,
}
# Each element is computed from elements elsewhere, or from none.
_MOVES = {
    aten.arange,
    aten.cat,
    aten.constant_pad_nd,
    aten.empty,
    aten.flip,
    aten.full,
    aten.full_like,
    aten.new_zeros,
    aten.ones,
    aten.ones_like,
    aten.repeat,
    aten.scalar_tensor,
    aten.select_backward,
    aten.select_scatter,
    aten.slice_backward,
    aten.slice_scatter,
    aten.stack,
    aten.tril,
    aten.triu,
    aten.zeros,
    aten.zeros_like,
    prims.broadcast_in_dim,
    prims.iota,
}
_GATHERS = {aten.embedding, aten.gather, aten.index, aten.index_select}
_REDUCTIONS = {
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten._softmax,
    aten._softmax_backward_data,
    aten.all,
    aten.amax,
    aten.amin,
    aten.any,
    aten.argmax,
    aten.avg_pool2d,
    aten.linalg_vector_norm,
    aten.logsumexp,
    aten.max,
    aten.mean,
    aten.min,
    aten.native_layer_norm,
    aten.native_layer_norm_backward,
    aten.nll_loss_forward,
    aten.prod,
    aten.sum,
    aten.var,
    aten.var_mean,
    prims.sum,
    prims.var,
}
_RESHAPES = {aten.alias, aten.detach, aten.squeeze, aten.unsqueeze, aten.view, aten._unsafe_view}
_PERMUTATIONS = {aten.permute, aten.t, aten.transpose}


# Rough rates of one CPU core and of a current GPU. No device has been compared
# with them: they order plans, and are no promise of time.
MODELS = {"cpu": KernelModel(), "cuda": KernelModel(3_000_000, 3_000, 400_000_000, 30_000_000)}


@dataclasses.dataclass
class Description:
    """One op as docs/PlanFormat.md describes it."""

    kind: str
    reads: list[Read]
    flops: int
    compute_ps: int


def flops_of(node: fx.Node) -> int:
    """The FLOPs that PyTorch's own counter gives; 0 for ops that it does not count."""
    count = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if count is None:
        return 0
    arguments = pytree.tree_map_only(fx.Node, lambda x: x.meta["val"], (node.args, node.kwargs))
    return int(count(*arguments[0], **arguments[1], out_val=node.meta["val"]))


def _view(op: Op, packet: Any) -> Description:
    access = "reshape" if packet in _RESHAPES else "permute" if packet in _PERMUTATIONS else "any"
    return Description("view", [Read(op.inputs[0].number, access, _need_of(op.inputs[0]))], 0, 0)


def _need_of(value: Value) -> str:
    """How inductor's kernels read `value`: on the CPU, it writes each concatenation to memory."""
    made_by = None if value.op is None else getattr(value.op.node.target, "overloadpacket", None)
    return "memory" if made_by is aten.cat and value.tensor.device.type == "cpu" else "inline"


def _fused(op: Op, packet: Any) -> tuple[str, list[Read]] | None:
    """Kind and reads where inductor fuses `op`; `None` elsewhere."""
    shape = op.outputs[0].shape if op.outputs else ()
    numbers = [value.number for value in op.inputs]
    if torch.Tag.pointwise in getattr(op.node.target, "tags", ()) or packet in _POINTWISE:
        return "fusible", [Read(value.number, "pointwise" if value.shape == shape else "any") for value in op.inputs]
    if packet in _MOVES:
        return "fusible", [Read(number) for number in numbers]
    if packet in _GATHERS and numbers:
        return "fusible", [Read(numbers[0], "gather"), *map(Read, numbers[1:])]
    if packet in _REDUCTIONS:
        return "reduction", [Read(number) for number in numbers]
    return None


def transposed_by(op: Op, engine: str) -> Value | None:
    """What `op` copies in another order of its elements, in loops that may write the operand as well."""
    view = op.inputs[0].op if op.inputs and engine == "inductor" else None
    if view is None or getattr(op.node.target, "overloadpacket", None) is not aten.clone:
        return None
    return view.inputs[0] if getattr(view.node.target, "overloadpacket", None) in _PERMUTATIONS else None


def is_pytorchs(node: fx.Node) -> bool:
    """True where inductor runs PyTorch's own kernel."""
    return _private.is_inductor_fallback(node.target) or flops_of(node) > 0


def is_inside_of_kernels(node: fx.Node) -> bool:
    """True for a result that one kernel of inductor makes and reads."""
    return len(node.users) == 1 and not is_pytorchs(node) and all(user.op != "output" for user in node.users)


def calls_pytorch(op: Op, engine: str) -> bool:
    """True where `engine` runs PyTorch's own kernel of `op`; inductor writes kernels of its own for the others."""
    if op.is_view or engine == "eager":
        return not op.is_view
    return is_pytorchs(op.node)


def describe(op: Op, engine: str, model: KernelModel) -> Description:
    """Classifies `op`; its inputs must have their numbers.

    The eager engine runs each op by itself, and views take neither time nor
    memory. Inductor fuses elementwise ops and reductions.
    """
    packet = getattr(op.node.target, "overloadpacket", None)
    if op.is_view:
        return _view(op, packet)
    products = flops_of(op.node)
    elements = sum(math.prod(value.shape) for value in op.outputs)
    rate = model.product_rate if products else model.element_rate
    work = products or elements
    fused = _fused(op, packet) if engine == "inductor" and not op.ordered else None
    if fused is not None:
        for read, value in zip(fused[1], op.inputs):
            read.need = _need_of(value)
    kind, reads = fused or ("opaque", [Read(base_of(value).number, need="memory") for value in op.inputs])
    return Description(kind, reads, work, work * 1_000_000 // rate)


def home_of(value: Value) -> str:
    """Layer and op of `value`: "h.0.mlp · gelu (model.py:12)"."""
    return f"{layer_of(value.node)} · {value.node.name}".lstrip(" ·") + place_of(value.node)


def layer_of(node: fx.Node) -> str:
    """The module that made `node`, such as "h.0.mlp"; empty where unknown."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    paths = [path for path, _ in stack.values() if path]
    if not paths:
        return ""
    name = re.sub(r"^L\[['\"]\w+['\"]\]", "", paths[-1]).replace("._modules", "")
    return re.sub(r"\[['\"]?(\w+)['\"]?\]", r".\1", name).strip(".")


def place_of(node: fx.Node) -> str:
    """ " (model.py:12)" of the user's code, or an empty string."""
    trace = [line for line in (node.meta.get("stack_trace") or "").splitlines() if line.strip().startswith("File ")]
    if not trace:
        return ""
    path, _, rest = trace[-1].strip()[len('File "') :].partition('", line ')
    return f" ({path.rsplit('/', 1)[-1]}:{rest.split(',')[0]})"
