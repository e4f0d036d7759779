"""Complex tensors as pairs of real ones, the real and the imaginary part: the file holds real tensors only.

`lowering` calls it on a graph that holds complex values, before torch-mlir reads it. A complex argument or result of
the step is two tensors of the file, one after the other; `TorchStep` takes them apart and joins them.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree

from ...errors import UnsupportedStep
from ..text import NO_FORM
from . import fourier, pairs
from .narrow import tensors_of
from .pairs import Pair, filled, is_pair, pair_of
from .places import Interpreter, in_words

aten = torch.ops.aten


def parts_of(x: Any) -> list[Any]:
    """The arguments or results of the file that stand for an array of the step."""
    if isinstance(x, np.ndarray) and np.iscomplexobj(x):
        x = torch.from_numpy(x)
    if not isinstance(x, torch.Tensor) or not x.is_complex():
        return [x]
    x = x.detach().resolve_conj()
    return [x.real.contiguous(), x.imag.contiguous()]


def constant_parts(x: torch.Tensor) -> Any:
    real, *imag = parts_of(x)
    return Pair(real, imag[0] if imag[0].any() else None) if imag else x


def copied(x: Any, source: Any, non_blocking: bool = False) -> Pair:
    shape = pair_of(x).real.shape
    return Pair(*(part if part is None else part.expand(shape) for part in pair_of(source)))


def converted(x: Any, **options: Any) -> Any:
    """aten._to_copy."""
    x, dtype = pair_of(x), options.get("dtype")
    if dtype == torch.bool:
        return ~pairs.equal(x, 0)
    if dtype is None or not dtype.is_complex:
        return x if dtype is None else x.real.to(dtype)
    return Pair(*(part if part is None else part.to(dtype.to_real()) for part in x))


def norm(x: Any, *arguments: Any, **options: Any) -> torch.Tensor:
    return torch.linalg.vector_norm(pairs.absolute(x), *arguments, **options)


def identity(x: Any, **options: Any) -> Pair:
    return pair_of(x)


def of_parts(target: Callable, places: tuple[int, ...]) -> Callable[..., Any]:
    """An operation that takes the elements of some operands elsewhere or adds them: one on the real parts, one on
    the imaginary ones. Of other operands, it reads the shape."""

    def part(x: Any, k: int) -> Any:
        x = pair_of(x)
        if k == 0 or x.imag is not None:
            return x[k]
        return torch.zeros_like(x.real) if isinstance(x.real, torch.Tensor) else 0

    def of(*arguments: Any, **options: Any) -> Any:
        options = {name: x.to_real() if isinstance(x, torch.dtype) and x.is_complex else x for name, x in options.items()}
        moved = [i for i in places if i < len(arguments)]
        each = lambda x, k: pytree.tree_map(lambda leaf: part(leaf, k), x, is_leaf=is_pair)
        run = lambda k: target(*(each(x, k if i in moved else 0) for i, x in enumerate(arguments)), **options)
        leaves = [leaf for i in moved for leaf in pytree.tree_leaves(arguments[i], is_leaf=is_pair)]
        real, imag = run(0), run(1) if any(pair_of(leaf).imag is not None for leaf in leaves) else None
        if isinstance(real, torch.Tensor):
            return Pair(real, imag)
        return [Pair(*both) for both in zip(real, imag or [None] * len(real))]

    return of


# Operations that move or add up elements, with the places of the operands that hold the elements.
MOVING = {
    (): "empty.memory_format empty_like new_empty new_zeros ones ones_like zeros zeros_like",
    (0,): """cat diagonal embedding expand flip gather index.Tensor index_select mean mean.dim permute
        repeat roll select.int select_backward slice.Tensor slice_backward split.Tensor split_with_sizes
        squeeze squeeze.dim squeeze.dims stack sum sum.dim_IntList t transpose.int tril triu unbind.int unfold unsqueeze
        scalar_tensor""",
    (0, 1): "select_scatter slice_scatter diagonal_scatter",
    (0, 2): "_index_put_impl constant_pad_nd index_put",
    (0, 3): "index_add scatter.src scatter_add",
    (1,): "fill.Scalar full full_like",
    (1, 2): "where.self",
    (2,): "new_full",
}
FORMS: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((aten.view.default, aten._unsafe_view.default, aten.reshape.default), of_parts(torch.reshape, (0,))),
    **dict.fromkeys((aten._conj.default, aten._conj_physical.default, aten.conj_physical.default), pairs.conjugate),
    **dict.fromkeys((aten.neg.default, aten._neg_view.default), pairs.negate),
    **dict.fromkeys((aten.mul.Tensor, aten.mul.Scalar), pairs.multiply),
    **dict.fromkeys((aten.div.Tensor, aten.div.Scalar), pairs.divide),
    **dict.fromkeys((aten.add.Tensor, aten.add.Scalar), pairs.add),
    **dict.fromkeys((aten.sub.Tensor, aten.sub.Scalar), pairs.subtract),
    **dict.fromkeys((aten.eq.Tensor, aten.eq.Scalar), pairs.equal),
    **dict.fromkeys((aten.ne.Tensor, aten.ne.Scalar), lambda x, y: ~pairs.equal(x, y)),
    **{
        getattr(aten, name).default: identity
        for name in ("alias", "clone", "detach", "lift_fresh_copy", "resolve_conj", "resolve_neg")
    },
    **{
        getattr(aten, name).default: functools.partial(pairs.multiply, product=getattr(torch, name))
        for name in ("bmm", "dot", "mm", "mv")
    },
    aten._fft_c2c.default: lambda x, *options: Pair(*fourier.complex_to_complex(pair_of(x), *options)),
    aten._fft_c2r.default: lambda x, *options: fourier.complex_to_real(pair_of(x), *options)[0],
    aten._fft_r2c.default: lambda x, *options: Pair(*fourier.real_to_complex(pair_of(x), *options)),
    aten._to_copy.default: converted,
    aten.abs.default: pairs.absolute,
    aten.addmm.default: functools.partial(pairs.multiply_add, product=torch.mm),
    aten.angle.default: pairs.angle,
    aten.baddbmm.default: functools.partial(pairs.multiply_add, product=torch.bmm),
    aten.complex.default: Pair,
    aten.copy.default: copied,
    aten.cos.default: pairs.cosine,
    aten.cosh.default: pairs.hyperbolic_cosine,
    aten.exp.default: pairs.exponential,
    aten.exp2.default: lambda x: pairs.exponential(pairs.multiply(x, math.log(2))),
    aten.imag.default: pairs.imaginary,
    aten.isinf.default: lambda x: torch.isinf(x.real) | torch.isinf(pairs.imaginary(x)),
    aten.isnan.default: lambda x: torch.isnan(x.real) | torch.isnan(pairs.imaginary(x)),
    aten.linalg_vector_norm.default: norm,
    aten.log.default: pairs.logarithm,
    aten.log10.default: lambda x: pairs.divide(pairs.logarithm(x), math.log(10)),
    aten.log2.default: lambda x: pairs.divide(pairs.logarithm(x), math.log(2)),
    aten.polar.default: pairs.polar,
    aten.pow.Tensor_Scalar: pairs.power,
    aten.real.default: lambda x: x.real,
    aten.reciprocal.default: lambda x: pairs.divide(1, x),
    aten.rsub.Scalar: lambda x, number, alpha=1: pairs.subtract(number, x, alpha=alpha),
    aten.rsqrt.default: lambda x: pairs.divide(1, pairs.root(x)),
    aten.sgn.default: pairs.sign,
    aten.sigmoid.default: lambda x: pairs.divide(pairs.add(pairs.hyperbolic_tangent(pairs.divide(x, 2)), 1), 2),
    aten.sin.default: pairs.sine,
    aten.sinh.default: pairs.hyperbolic_sine,
    aten.sqrt.default: pairs.root,
    aten.tan.default: lambda x: pairs.multiply(pairs.hyperbolic_tangent(pairs.multiply(x, 1j)), -1j),
    aten.tanh.default: pairs.hyperbolic_tangent,
    aten.var.correction: lambda x, *dimensions, **options: sum(torch.var(part, *dimensions, **options) for part in filled(x)),
    aten.vdot.default: lambda x, y: pairs.multiply(pairs.conjugate(x), y, torch.dot),
    aten.view_as_complex.default: pairs.as_complex,
    aten.view_as_real.default: pairs.as_real,
    operator.getitem: operator.getitem,
}
for places, names in MOVING.items():
    for name in names.split():
        target = operator.attrgetter(name if "." in name else f"{name}.default")(aten)
        FORMS[target] = of_parts(target, places)
# Of real tensors that are parts, with strides of their own; PyTorch negates the imaginary part of a conjugate lazily.
OF_PARTS = {aten.view.default: torch.reshape, aten._neg_view.default: torch.neg, aten.resolve_neg.default: torch.clone}


def holds_complex(graph: torch.fx.GraphModule) -> bool:
    return any(value.is_complex() for node in graph.graph.nodes for value in values_of(node))


def values_of(node: torch.fx.Node) -> list[torch.Tensor]:
    if node.op != "get_attr":
        return tensors_of(node)
    value = getattr(node.graph.owning_module, node.target)
    return [value] if isinstance(value, torch.Tensor) else []


def meets_complex(node: torch.fx.Node) -> bool:
    """Whether an operation makes or reads a complex value."""
    operands = pytree.tree_leaves((node.args, node.kwargs))
    return any(isinstance(operand, complex) for operand in operands) or any(
        value.is_complex() for each in (node, *operands) if isinstance(each, torch.fx.Node) for value in values_of(each)
    )


def select_part(node: torch.fx.Node) -> None:
    """The real or the imaginary part itself, which PyTorch notes as a row of both."""
    source = node.args[0] if node.target == aten.select.int else None
    if isinstance(source, torch.fx.Node) and source.target == aten.view_as_real.default:
        _, dimension, index = node.args
        if dimension % source.meta["val"].ndim == source.meta["val"].ndim - 1:
            node.target = aten.imag.default if index % 2 else aten.real.default
            node.args = source.args


def fitted(made: Any, like: Any) -> Any:
    """A result with the shape and the type of the traced one."""
    if isinstance(made, (list, tuple)) and not is_pair(made):
        return [fitted(*both) for both in zip(made, like, strict=True)]
    if is_pair(made):
        return Pair(fitted(made.real, like), fitted(made.imag, like))
    if not isinstance(made, torch.Tensor):
        return made
    made = made.to(like.dtype.to_real())
    return made if made.shape == like.shape else made.expand(like.shape)


class Paired(Interpreter):
    """Runs a graph of ATen operations on pairs; its arguments and results are those of the file."""

    def __init__(self, graph: torch.fx.GraphModule):
        for node in graph.graph.nodes:
            select_part(node)
        graph.graph.eliminate_dead_code()
        self.complex = {node: node.target for node in graph.graph.nodes if node.op == "call_function" and meets_complex(node)}
        self.refuse()
        for node in graph.graph.nodes:
            if node in self.complex:
                node.target = FORMS[node.target]
            else:
                node.target = OF_PARTS.get(node.target, node.target)
        super().__init__(graph)
        # Before the second trace, which would note the parts as operations.
        self.constants = {node: constant_parts(*values_of(node)) for node in graph.graph.nodes if node.op == "get_attr"}

    def refuse(self) -> None:
        refused: dict[str, str] = {}
        for node, target in self.complex.items():
            if target not in FORMS:
                refused.setdefault(str(target), in_words(node.meta))
        if refused:
            advice = "write it with their real and imaginary parts"
            lines = [f"{name} of complex numbers{place}: {advice}" for name, place in refused.items()]
            raise UnsupportedStep("\n  ".join([NO_FORM, *lines]))

    def run_node(self, node: torch.fx.Node) -> Any:
        if node.op == "get_attr":
            return self.constants[node]
        if node.op == "placeholder" and node.meta["val"].is_complex():
            return Pair(next(self.args_iter), next(self.args_iter))
        made = super().run_node(node)
        if node.op == "output":
            return [part for value in made for part in (filled(value) if is_pair(value) else [value])]
        return fitted(made, node.meta["val"]) if node in self.complex else made
