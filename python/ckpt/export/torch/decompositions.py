"""ATen operations that torch-mlir has no linalg form for, in others that have one."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree

from ...errors import UnsupportedStep
from . import bessel, comparisons, convolutions, factorizations, groups, indexing, ordering, pooling, special

aten = torch.ops.aten


def squeezed(x: torch.Tensor, dimensions: list[int]) -> torch.Tensor:
    """aten.squeeze.dims: torch-mlir knows only the form with one dimension."""
    single = {dimension % x.ndim for dimension in dimensions if x.shape[dimension] == 1} if x.ndim else set()
    return x.view([size for i, size in enumerate(x.shape) if i not in single])


def viewed(x: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """aten.view of a tensor that has other strides than in the step: decompositions, PyTorch's own as well, keep shapes alone."""
    return NotImplemented if x.is_contiguous() else x.contiguous().view(sizes)


def padded(x: torch.Tensor, padding: list[int], value: float = 0) -> Any:
    """aten.constant_pad_nd where it also takes elements away, which torch-mlir lowers to something else."""
    if min(padding, default=0) >= 0:
        return NotImplemented
    for i, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        size = x.shape[-1 - i]
        x = x.narrow(-1 - i, max(-low, 0), size + min(low, 0) + min(high, 0))
    return torch.constant_pad_nd(x, [max(side, 0) for side in padding], value)


def replicated_gradient(spatial: int) -> Callable[..., torch.Tensor]:
    """The gradient of padding by the nearest element: what is outside belongs to the first and the last one."""

    def gradient_of(gradient: torch.Tensor, x: torch.Tensor, padding: list[int]) -> torch.Tensor:
        if min(padding) < 0:
            raise UnsupportedStep("padding that takes elements away is not supported with the nearest element")
        for i, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
            dimension, size = x.ndim - 1 - i, x.shape[-1 - i]
            before, inside, after = gradient.split([low, size, high], dimension)
            edge = lambda part: part.sum(dimension, keepdim=True)
            inner = [0, 0] * i
            if low:
                inside = inside + torch.constant_pad_nd(edge(before), [*inner, 0, size - 1])
            if high:
                inside = inside + torch.constant_pad_nd(edge(after), [*inner, size - 1, 0])
            gradient = inside
        return gradient

    return gradient_of


def rolled(x: torch.Tensor, shifts: list[int], dimensions: list[int] = ()) -> torch.Tensor:
    """aten.roll, as two parts that change places."""
    if not dimensions:
        return rolled(x.flatten(), shifts, [0]).reshape(x.shape)
    for shift, dimension in zip(shifts, dimensions):
        count = shift % max(1, x.shape[dimension])
        if count:
            first, last = x.split([x.shape[dimension] - count, count], dimension)
            x = torch.cat([last, first], dimension)
    # Dense, as PyTorch's is: views of it follow in the trace.
    return x.contiguous()


def zeros_of_tangent(x: torch.Tensor, other: torch.Tensor, *, self_num_batch_dims: int = 0) -> torch.Tensor:
    """aten._new_zeros_with_same_feature_meta: of forward differentiation."""
    return torch.zeros([*x.shape[:self_num_batch_dims], *other.shape], dtype=other.dtype, device=other.device)


def copied_sign(x: torch.Tensor, sign: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point():
        x = x.to(torch.result_type(x, sign) if sign.is_floating_point() else torch.get_default_dtype())
    return torch.where(is_negative(sign), -x.abs(), x.abs())


def hypotenuse(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """aten.hypot, without squares that overflow."""
    long, short = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
    ratio = torch.where((long == 0) | torch.isinf(long), torch.zeros_like(long), short / long)
    return long * torch.sqrt(1 + ratio * ratio)


def remainder_of(x: torch.Tensor, divisor: float) -> torch.Tensor:
    """aten.fmod.Scalar, by a tensor."""
    return torch.fmod(x, torch.full_like(x, divisor))


def product_added(product: Callable[..., torch.Tensor], is_known: bool = False) -> Callable[..., torch.Tensor]:
    """A product of two operands, which PyTorch adds to a third one; that does not count at all with a factor of zero. torch-mlir has
    the one that `is_known` for floats that all count, but rounds floats of 16 bits after each factor, where PyTorch rounds the sum alone."""

    def summed(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor, beta: float, alpha: float) -> torch.Tensor:
        result = product(first, second) if alpha == 1 else alpha * product(first, second)
        return result + torch.zeros_like(x) if beta == 0 else result + (x if beta == 1 else beta * x)

    def of(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor, *, beta: float = 1, alpha: float = 1) -> torch.Tensor:
        if x.is_complex():
            return summed(x, first, second, beta, alpha)
        if not x.is_floating_point():
            return summed(x, first, second, int(beta), int(alpha))
        if x.itemsize == 2 and not alpha == beta == 1:
            return summed(x.float(), first.float(), second.float(), beta, alpha).to(x.dtype)
        return NotImplemented if is_known and beta != 0 else summed(x, first, second, beta, alpha)

    return of


def histogram(x: torch.Tensor, bins: int = 100, least: float = 0, most: float = 0) -> torch.Tensor:
    """aten.histc: of bins of one size, between the extremes of the data where both bounds are the same."""
    x = x.flatten()
    low, high = (x.amin(), x.amax()) if least == most else (torch.full((), each, dtype=x.dtype) for each in (least, most))
    # Equal data lie in the middle of a range of two.
    low, high = torch.where(low == high, low - 1, low), torch.where(low == high, high + 1, high)
    place = torch.clamp(((x - low) * bins / (high - low)).to(torch.int64), max=bins - 1)
    place = torch.where((x >= low) & (x <= high), place, torch.full_like(place, -1))
    return (place == torch.arange(bins, device=x.device)[:, None]).sum(-1).to(x.dtype)


def weight_norm_gradients(
    gradient: torch.Tensor, direction: torch.Tensor, length: torch.Tensor, norms: torch.Tensor, dimension: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of weights that are a direction of a length: the gradients of both."""
    others = [i for i in range(direction.ndim) if i != dimension % direction.ndim]
    along = (gradient * direction).sum(others, keepdim=True) / norms
    return length / norms * (gradient - direction * along / norms), along


def reversed_difference(x: torch.Tensor, number: float, factor: float = 1) -> torch.Tensor:
    """aten.rsub.Scalar, by a tensor: torch-mlir gives a number in front 32 bits."""
    first = torch.full((), number, dtype=torch.result_type(x, number), device=x.device)
    return first - (x if factor == 1 else factor * x)


def with_whole_number(operation: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Arithmetic of floats with a whole number: torch-mlir folds a constant and a negative one as if that had no sign."""

    def of(x: torch.Tensor, number: float | torch.Tensor, *factor: float, **options: Any) -> torch.Tensor:
        if not isinstance(number, int) or not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return NotImplemented
        return operation(x, float(number), *factor, **options)

    return of


def added(x: torch.Tensor, other: float | torch.Tensor, *factor: float, alpha: float = 1) -> torch.Tensor:
    """aten.add, which is the logical or of booleans."""
    if torch.result_type(x, other) == torch.bool and alpha:
        return torch.logical_or(x, torch.as_tensor(other))
    return with_whole_number(torch.add)(x, other, *factor, alpha=alpha)


def remainder_of_floor(x: torch.Tensor, divisor: float) -> torch.Tensor:
    """aten.remainder.Scalar, by a tensor: torch-mlir folds that of a constant to another one."""
    return torch.remainder(x, torch.full((), divisor, dtype=torch.result_type(x, divisor), device=x.device))


def of_bits(operation: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """An operation on bits with a number, by a tensor."""

    def of(x: torch.Tensor, number: int) -> torch.Tensor:
        dtype = torch.result_type(x, number)
        return operation(x.to(dtype), torch.full((), number, dtype=dtype, device=x.device))

    return of


def shifted(x: torch.Tensor, count: int) -> torch.Tensor:
    """aten.__rshift__.Scalar, by a tensor."""
    return torch.bitwise_right_shift(x, torch.full_like(x, count))


def is_negative(x: torch.Tensor) -> torch.Tensor:
    """aten.signbit."""
    return (x < 0) | ((x == 0) & (x.reciprocal() < 0)) if x.is_floating_point() else x < 0


def half_turn(x: torch.Tensor) -> torch.Tensor:
    """aten.angle of real numbers."""
    if x.is_complex():
        return NotImplemented
    wide = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    turned = torch.where(wide < 0, torch.full_like(wide, math.pi), torch.zeros_like(wide))
    return torch.where(wide != wide, wide, turned)


def variance(x: torch.Tensor, dimensions: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> torch.Tensor:
    """aten.var where it divides by zero: torch-mlir's divisor is negative for less elements than the correction."""
    count = math.prod(x.shape[i] for i in dimensions or range(x.ndim))
    if x.is_complex() or count > (1 if correction is None else correction):
        return NotImplemented
    difference = x - x.mean(dimensions, keepdim=True)
    return (difference * difference).sum(dimensions, keepdim=keepdim) / 0


def variance_and_mean(x: torch.Tensor, dimensions: list[int] | None = None, *, keepdim: bool = False, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return aten.var.correction(x, dimensions, keepdim=keepdim, **options), x.mean(dimensions, keepdim=keepdim)


def copied(view: Callable[..., Any]) -> Callable[..., Any]:
    """A view in memory of its own."""
    return lambda *arguments, **options: pytree.tree_map(torch.clone, view(*arguments, **options))


ROOTS = {0.5: torch.sqrt, -0.5: torch.rsqrt, -1: torch.reciprocal, -2: lambda x: torch.reciprocal(x * x)}


def whole_power(x: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """aten.pow.Tensor_Tensor of whole numbers, by squares. Below an exponent of zero, numbers other than 1 and -1 become 0."""
    if x.is_floating_point() or exponent.is_floating_point() or x.is_complex() or exponent.is_complex():
        return NotImplemented
    dtype = torch.result_type(x, exponent)
    x, exponent = x.to(dtype), exponent.to(dtype)
    # Of a larger exponent, the powers of -1, 0 and 1 are right, and those of others are out of range.
    count = torch.where(exponent.abs() < 64, exponent.abs(), 64 + exponent % 2)
    result, square = torch.ones_like(x), x
    for bit in range(7):
        result = torch.where((count >> bit) % 2 != 0, result * square, result)
        square = square * square
    return torch.where((exponent >= 0) | (x * x == 1), result, torch.zeros_like(result))


def filled(size: list[int], number: float, **options: Any) -> torch.Tensor:
    """aten.full of booleans: torch-mlir takes the last bit of a number."""
    if options.get("dtype") != torch.bool or isinstance(number, bool):
        return NotImplemented
    return torch.full(size, bool(number), **options)


def power_of_number(base: float, exponent: torch.Tensor) -> torch.Tensor:
    """aten.pow.Scalar with whole numbers in the exponent, by tensors."""
    if exponent.is_floating_point() or exponent.is_complex() or isinstance(base, complex):
        return NotImplemented
    dtype = torch.result_type(exponent, base)
    return torch.pow(torch.full((), base, dtype=dtype, device=exponent.device), exponent.to(dtype))


def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    """aten.pow.Tensor_Scalar, as PyTorch takes apart some exponents."""
    if x.is_complex() or isinstance(exponent, complex):
        return NotImplemented
    x = x.to(torch.result_type(x, exponent))
    if exponent in (1, 2, 3, 4):
        result = x
        for _ in range(int(exponent) - 1):
            result = result * x
        return result
    if x.is_floating_point() and exponent in ROOTS:
        return ROOTS[exponent](x)
    return torch.pow(x, torch.full_like(x, exponent))


COPIED = """alias.default as_strided.default detach.default diagonal.default expand.default narrow.default permute.default
    select.int slice.Tensor split.Tensor split_with_sizes.default squeeze.default squeeze.dim squeeze.dims t.default transpose.int
    unbind.int unfold.default unsqueeze.default view.default"""
OWN = {
    **comparisons.OWN,
    **factorizations.OWN,
    # Tensors of linalg have no strides.
    torch.ops.prims.copy_strided.default: lambda x, strides: x.clone(),
    aten.__rshift__.Scalar: shifted,
    aten._adaptive_avg_pool2d.default: pooling.adaptive_average_pooling,
    aten._adaptive_avg_pool2d_backward.default: pooling.adaptive_average_pooling_gradient(2),
    aten._adaptive_avg_pool3d.default: pooling.adaptive_average_pooling,
    aten._adaptive_avg_pool3d_backward.default: pooling.adaptive_average_pooling_gradient(3),
    aten._efficientzerotensor.default: torch.zeros,
    aten._grouped_mm.default: groups.products_of_groups,
    aten._new_zeros_with_same_feature_meta.default: zeros_of_tangent,
    aten._weight_norm_interface_backward.default: weight_norm_gradients,
    aten.adaptive_max_pool2d.default: pooling.adaptive_max_pooling,
    aten.adaptive_max_pool2d_backward.default: pooling.adaptive_max_pooling_gradient(2),
    aten.adaptive_max_pool3d.default: pooling.adaptive_max_pooling,
    aten.adaptive_max_pool3d_backward.default: pooling.adaptive_max_pooling_gradient(3),
    aten.add.Scalar: added,
    aten.add.Tensor: added,
    aten.addbmm.default: product_added(lambda first, second: torch.bmm(first, second).sum(0, dtype=first.dtype)),
    aten.addmm.default: product_added(torch.mm, is_known=True),
    aten.addmv.default: product_added(torch.mv),
    aten.all.dim: ordering.is_true_of_one,
    aten.angle.default: half_turn,
    aten.any.dim: ordering.is_true_of_one,
    aten.amax.default: ordering.extreme_of_one,
    aten.amin.default: ordering.extreme_of_one,
    aten.argmax.default: ordering.place_of_extreme(True),
    aten.argmin.default: ordering.place_of_extreme(False),
    aten.as_strided.default: indexing.strided,
    aten.as_strided_scatter.default: indexing.strided_scatter,
    aten.avg_pool1d.default: pooling.with_batch(aten.avg_pool1d, 1),
    aten.avg_pool2d.default: pooling.with_batch(aten.avg_pool2d, 2),
    aten.avg_pool2d_backward.default: pooling.average_pooling_gradient(2),
    aten.avg_pool3d.default: pooling.with_batch(aten.avg_pool3d, 3),
    aten.avg_pool3d_backward.default: pooling.average_pooling_gradient(3),
    aten.bitwise_or.Scalar: of_bits(torch.bitwise_or),
    aten.bitwise_xor.Scalar: of_bits(torch.bitwise_xor),
    aten.constant_pad_nd.default: padded,
    aten.convolution.default: convolutions.of_groups,
    aten.convolution_backward.default: convolutions.gradients,
    aten.copysign.Tensor: copied_sign,
    aten.cummax.default: ordering.extremes(True),
    aten.cummin.default: ordering.extremes(False),
    aten.cumprod.default: ordering.cumulative(lambda x: x.prod(-1), 1),
    aten.cumsum.default: ordering.cumulative(lambda x: x.sum(-1), 0),
    aten.diagonal_backward.default: indexing.diagonal_gradient,
    aten.diagonal_scatter.default: indexing.diagonal_replaced,
    aten.digamma.default: special.digamma,
    aten.embedding_dense_backward.default: indexing.embedding_gradient,
    aten.empty_permuted.default: lambda size, order, **options: torch.empty(size, **options),
    aten.erfc.default: special.complementary_error,
    aten.erfinv.default: special.inverse_error,
    aten.fmod.Scalar: remainder_of,
    aten.full.default: filled,
    aten.gather.default: indexing.with_dimension(aten.gather),
    aten.histc.default: histogram,
    aten.hypot.default: hypotenuse,
    aten.i0.default: bessel.I0,
    aten.index.Tensor: indexing.looked_up,
    aten.index_put.default: indexing.of_booleans(aten.index_put, indexing.put),
    aten.index_reduce.default: indexing.with_dimension(aten.index_reduce, indexing.index_reduced),
    aten.index_select.default: indexing.with_dimension(aten.index_select),
    aten.kthvalue.default: ordering.ranked,
    aten.lgamma.default: special.log_gamma,
    aten.logcumsumexp.default: ordering.log_of_summed_exponentials,
    aten.masked_scatter.default: indexing.masked_filled_in_order,
    aten.masked_scatter_backward.default: indexing.gathered_in_order,
    aten.max.dim: ordering.extreme(True),
    aten.max_pool2d_with_indices.default: pooling.with_batch(aten.max_pool2d_with_indices, 2),
    aten.max_pool2d_with_indices_backward.default: pooling.max_pooling_gradient(2),
    aten.max_pool3d_with_indices.default: pooling.with_batch(aten.max_pool3d_with_indices, 3),
    aten.max_pool3d_with_indices_backward.default: pooling.max_pooling_gradient(3),
    aten.median.default: ordering.middle_of_all(False),
    aten.median.dim: ordering.middle(False),
    aten.min.dim: ordering.extreme(False),
    aten.mul.Scalar: with_whole_number(torch.mul),
    aten.mul.Tensor: with_whole_number(torch.mul),
    aten.nanmedian.default: ordering.middle_of_all(True),
    aten.nanmedian.dim: ordering.middle(True),
    aten.new_empty_strided.default: lambda x, sizes, strides, **options: x.new_empty(sizes, **options),
    aten.polygamma.default: special.polygamma,
    aten.pow.Tensor_Scalar: power,
    aten.pow.Scalar: power_of_number,
    aten.pow.Tensor_Tensor: whole_power,
    aten.prod.dim_int: lambda x, dimension, keepdim=False, dtype=None: NotImplemented if x.ndim else x.sum(dtype=dtype),
    aten.put.default: indexing.put_flat,
    aten.remainder.Scalar: remainder_of_floor,
    aten.repeat_interleave.Tensor: ordering.repeated_places,
    aten.replication_pad1d_backward.default: replicated_gradient(1),
    aten.replication_pad2d_backward.default: replicated_gradient(2),
    aten.replication_pad3d_backward.default: replicated_gradient(3),
    aten.roll.default: rolled,
    aten.rsub.Scalar: reversed_difference,
    aten.scatter.value_reduce: indexing.reduced_by_scatter,
    aten.scatter.src: indexing.with_dimension(aten.scatter, indexing.scattered),
    aten.scatter.value: indexing.with_dimension(aten.scatter, indexing.scattered),
    aten.scalar_tensor.default: lambda number, **options: filled([], number, **options),
    aten.scatter.reduce: indexing.reduced_by_scatter,
    aten.scatter_add.default: indexing.with_dimension(aten.scatter_add, indexing.of_booleans(aten.scatter_add, indexing.scattered_sums)),
    aten.scatter_reduce.two: indexing.with_dimension(aten.scatter_reduce, indexing.of_booleans(aten.scatter_reduce, indexing.scatter_reduced)),
    aten.searchsorted.Scalar: ordering.places_among,
    aten.searchsorted.Tensor: ordering.places_among,
    aten.signbit.default: is_negative,
    aten.sort.default: ordering.sorted_along,
    aten.sort.stable: ordering.stably_sorted,
    aten.special_erfcx.default: special.scaled_complementary_error,
    aten.special_i0e.default: bessel.I0E,
    aten.special_i1.default: bessel.I1,
    aten.special_i1e.default: bessel.I1E,
    aten.special_modified_bessel_i0.default: bessel.I0,
    aten.special_modified_bessel_i1.default: bessel.I1,
    aten.special_ndtri.default: special.inverse_normal,
    aten.squeeze.dims: squeezed,
    aten.std.correction: lambda x, *dimensions, **options: torch.sqrt(aten.var.correction(x, *dimensions, **options)),
    aten.sub.Scalar: with_whole_number(torch.sub),
    aten.sub.Tensor: with_whole_number(torch.sub),
    aten.topk.default: ordering.largest,
    aten.var.correction: variance,
    aten.var_mean.correction: variance_and_mean,
    aten.view.default: viewed,
    **{
        getattr(getattr(aten, f"{view}_copy"), overload): copied(getattr(getattr(aten, view), overload))
        for view, _, overload in (name.partition(".") for name in COPIED.split())
    },
}
