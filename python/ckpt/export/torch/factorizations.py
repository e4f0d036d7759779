"""Factorizations and solves of matrices [..., n, n], one column or row after the other.

The results are those of LAPACK, signs and pivots included, but for the order of sums. PyTorch stops at a matrix that is
singular or not positive definite; here its results are not numbers. Each size takes operations of its own, hence MOST_ROWS.
`decompositions` holds the list with the other operations.
"""

from collections.abc import Callable
from typing import Any

import torch

from ...errors import UnsupportedStep

aten = torch.ops.aten
Tensor = torch.Tensor
MOST_ROWS = 64

# Older versions of PyTorch solve by the factors of the transposed matrix, where the matrix lies row by row: their gradients read those.
SOLVES_BY_TRANSPOSED = aten._linalg_solve_ex(torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.ones(2))[1][0, 1].item() != 2


def places(x: Tensor, dimension: int = -1) -> Tensor:
    """The numbers of the rows or columns; refuses matrices that would take too many operations."""
    if x.shape[dimension] > MOST_ROWS:
        raise UnsupportedStep(
            f"a factorization or solve of {x.shape[dimension]} rows or columns is not supported, at most of {MOST_ROWS}: "
            "compute it outside of the step and pass the result as an argument"
        )
    return torch.arange(x.shape[dimension], device=x.device)


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[..., None])[..., 0]


def no_errors(x: Tensor) -> Tensor:
    return torch.zeros(x.shape[:-2], dtype=torch.int32, device=x.device)


def lower_factor(a: Tensor) -> Tensor:
    rows = places(a)
    lower = torch.zeros_like(a)
    for j in range(a.shape[-1]):
        rest = a[..., j] - times(lower, lower[..., j, :])
        column = rest / torch.sqrt(rest[..., j : j + 1])
        lower = torch.select_scatter(lower, torch.where(rows >= j, column, torch.zeros_like(column)), -1, j)
    return lower


def cholesky(a: Tensor, upper: bool = False) -> Tensor:
    return lower_factor(a.mT).mT.contiguous() if upper else lower_factor(a)


def cholesky_ex(a: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return cholesky(a, upper), no_errors(a)


def solve_rows(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
    """The solution x of a x = b."""
    places(a)
    inner = torch.triu(a, 1) if upper else torch.tril(a, -1)
    x = torch.zeros_like(b)
    for i in reversed(range(a.shape[-1])) if upper else range(a.shape[-1]):
        rest = b[..., i, :] - (inner[..., i : i + 1, :] @ x)[..., 0, :]
        x = torch.select_scatter(x, rest if unit else rest / a[..., i, i, None], -2, i)
    return x


def with_equal_batches(*matrices: Tensor) -> list[Tensor]:
    outer = torch.broadcast_shapes(*(x.shape[:-2] for x in matrices))
    return [x.expand(*outer, *x.shape[-2:]) for x in matrices]


def solve_triangular(a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    a, b = with_equal_batches(a, b)
    if left:
        return solve_rows(a, b, upper, unitriangular)
    return solve_rows(a.mT, b.mT, not upper, unitriangular).mT.contiguous()


def old_solve_triangular(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """aten.triangular_solve."""
    x = solve_triangular(a.mT if transpose else a, b, upper=upper != transpose, unitriangular=unitriangular)
    return x, a.clone()


def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = factor.mT if upper else factor
    return solve_triangular(lower.mT, solve_triangular(lower, b, upper=False), upper=True)


def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device), factor, upper)


def swapped(x: Tensor, order: Tensor) -> Tensor:
    """The rows of `x` [..., n, m] in an order [..., n]."""
    return torch.gather(x, -2, order[..., None].expand(*order.shape, x.shape[-1]))


def swap(count: Tensor, j: int, pivot: Tensor) -> Tensor:
    """All places [..., n], of which `j` and `pivot` [...] changed places."""
    pivot = pivot[..., None]
    return torch.where(count == j, pivot, torch.where(count == pivot, torch.full_like(count, j), count))


def eliminated(a: Tensor) -> tuple[Tensor, Tensor]:
    """Both factors in one matrix and the pivot of each row, counted from 0, by partial pivoting."""
    rows, columns = places(a, -2), places(a)
    pivots = []
    for j in range(min(a.shape[-2:])):
        size = torch.where(rows >= j, a[..., j].abs(), torch.full((), -1, dtype=a.dtype, device=a.device))
        pivots.append(size.argmax(-1))
        a = swapped(a, swap(rows, j, pivots[-1]))
        divisor = a[..., j, j, None]
        factors = a[..., j] / torch.where(divisor == 0, torch.ones_like(divisor), divisor)
        below = torch.where(rows > j, factors, torch.zeros_like(factors))[..., None]
        reduced = torch.where(columns > j, a - below * a[..., j : j + 1, :], a)
        a = torch.where((columns == j) & (rows > j)[:, None], factors[..., None], reduced)
    none = torch.zeros(*a.shape[:-2], 0, dtype=torch.int64, device=a.device)
    return a, torch.stack(pivots, -1) if pivots else none


def order_of(pivots: Tensor, rows: int) -> Tensor:
    """The order [..., n] into which pivots, counted from 0, bring the rows."""
    count = torch.arange(rows, device=pivots.device)
    order = count.expand(*pivots.shape[:-1], rows)
    for j in range(pivots.shape[-1]):
        order = torch.gather(order, -1, swap(count, j, pivots[..., j]))
    return order


def lu_factor_ex(a: Tensor, *, pivot: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    if not pivot:
        raise UnsupportedStep("a factorization without pivots is not supported: torch.linalg.lu_factor with pivot=True is")
    factors, pivots = eliminated(a)
    return factors, (pivots + 1).to(torch.int32), no_errors(a)


def unpacked(factors: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """aten.lu_unpack: the permutation and both factors."""
    rows, columns = factors.shape[-2:]
    inner = min(rows, columns)
    eye = torch.eye(rows, dtype=factors.dtype, device=factors.device)
    none = factors.new_zeros(0)
    order = order_of(pivots.to(torch.int64) - 1, rows)
    permutation = (order[..., None, :] == torch.arange(rows, device=factors.device)[:, None]).to(factors.dtype)
    lower = torch.tril(factors[..., :inner], -1) + eye[:, :inner]
    upper = torch.triu(factors[..., :inner, :])
    return permutation if unpack_pivots else none, lower if unpack_data else none, upper if unpack_data else none


def lu(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    return unpacked(*lu_factor_ex(a, pivot=pivot)[:2])


def lu_solve(factors: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    if not left:
        return lu_solve(factors, pivots, b.mT, adjoint=not adjoint).mT.contiguous()
    factors, b = with_equal_batches(factors, b)
    order = order_of(pivots.to(torch.int64) - 1, factors.shape[-1]).expand(factors.shape[:-1])
    if not adjoint:
        return solve_rows(factors, solve_rows(factors, swapped(b, order), False, True), True, False)
    x = solve_rows(factors.mT, solve_rows(factors.mT, b, False, False), True, True)
    back = (order[..., None, :] == torch.arange(order.shape[-1], device=order.device)[:, None]).to(torch.int64)
    return swapped(x, (back * torch.arange(order.shape[-1], device=order.device)).sum(-1))


def solve_ex(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """aten._linalg_solve_ex; a vector for each matrix of a batch, or for one matrix, has a dimension less."""
    is_transposed = SOLVES_BY_TRANSPOSED and a.is_contiguous() and not a.is_complex()
    factors, pivots, info = lu_factor_ex(a.mT if is_transposed else a)
    is_vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    x = lu_solve(factors, pivots, b[..., None] if is_vector else b, left=left or is_vector, adjoint=is_transposed)
    return x[..., 0] if is_vector else x, factors, pivots, info


def inverse_ex(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    factors, pivots, info = lu_factor_ex(a)
    return lu_solve(factors, pivots, torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)), info


def turns_of(pivots: Tensor, dtype: torch.dtype) -> Tensor:
    """1 or -1: the determinant of the permutation."""
    moved = (pivots - 1 != torch.arange(pivots.shape[-1], device=pivots.device)).to(torch.int64).sum(-1)
    return (1 - 2 * (moved % 2)).to(dtype)


def determinant(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = lu_factor_ex(a)
    return torch.diagonal(factors, 0, -2, -1).prod(-1) * turns_of(pivots, a.dtype), factors, pivots


def log_determinant(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """aten._linalg_slogdet: sign and logarithm of the size."""
    factors, pivots, _ = lu_factor_ex(a)
    diagonal = torch.diagonal(factors, 0, -2, -1)
    sign = torch.sgn(diagonal).prod(-1) * turns_of(pivots, a.dtype)
    return sign, torch.log(diagonal.abs()).sum(-1), factors, pivots


def reflected(a: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """The upper factor, and vectors and scales of the reflections (Householder, 1958)."""
    rows = places(a, -2)
    vectors, scales = [], []
    for j in range(min(a.shape[-2:])):
        column = a[..., j]
        first = column[..., j, None]
        below = torch.where(rows > j, column * column, torch.zeros_like(column)).sum(-1, keepdim=True)
        norm = torch.sqrt(first * first + below)
        turned = torch.where(first < 0, norm, -norm)
        kept = below == 0
        start = torch.where(kept, torch.ones_like(first), first - turned)
        vector = torch.where(rows > j, column / start, (rows == j).to(a.dtype).expand_as(column))
        scale = torch.where(kept, torch.zeros_like(first), (turned - first) / torch.where(kept, torch.ones_like(first), turned))
        vectors.append(vector)
        scales.append(scale)
        a = reflect(a, vector, scale)
    return torch.triu(a), vectors, scales


def reflect(a: Tensor, vector: Tensor, scale: Tensor) -> Tensor:
    return a - (scale * vector)[..., None] * (vector[..., None, :] @ a)


def qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    upper, vectors, scales = reflected(a)
    width = a.shape[-2] if mode == "complete" else min(a.shape[-2:])
    upper = upper[..., :width, :].contiguous()
    if mode == "r":
        return a.new_zeros(0), upper
    q = torch.eye(a.shape[-2], width, dtype=a.dtype, device=a.device).expand(*a.shape[:-1], width)
    for vector, scale in zip(reversed(vectors), reversed(scales)):
        q = reflect(q, vector, scale)
    return q, upper


def householder_product(a: Tensor, scales: Tensor) -> Tensor:
    """The orthogonal columns of reflections, whose vectors lie below the diagonal."""
    rows = places(a, -2)
    q = torch.eye(*a.shape[-2:], dtype=a.dtype, device=a.device).expand(a.shape)
    for j in reversed(range(scales.shape[-1])):
        below = torch.where(rows > j, a[..., j], torch.zeros_like(a[..., j]))
        q = reflect(q, torch.where(rows == j, torch.ones_like(below), below), scales[..., j, None])
    return q


def exponential(a: Tensor) -> Tensor:
    """aten.linalg_matrix_exp: by its series, of the matrix halved until its norm is at most 1, then squared as often."""
    terms, most = 18, 32
    eye = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    norm = a.abs().sum(-2).amax(-1)[..., None, None]
    halvings = torch.ceil(torch.log2(norm.clamp(min=1))).clamp(max=most)
    scaled = a * torch.exp2(-halvings)
    result = eye.expand_as(a)
    for k in reversed(range(1, terms + 1)):
        result = eye + scaled @ result / k
    for k in range(most):
        result = torch.where(halvings > k, result @ result, result)
    return result


def adapt(graph: torch.fx.GraphModule) -> None:
    """Takes out checks of results, which stop a step. Where a matrix is dense, PyTorch factorizes the transposed one
    for a determinant, and the backward pass reads these factors: `tracing` calls it while the strides are the step's."""
    for node in reversed(graph.graph.nodes):
        if node.target == aten._linalg_check_errors.default:
            graph.graph.erase_node(node)
        elif node.target in (aten._linalg_det.default, aten._linalg_slogdet.default):
            (matrix,) = node.args
            if matrix.meta["val"].is_contiguous():
                with graph.graph.inserting_before(node):
                    node.args = (graph.graph.call_function(aten.transpose.int, (matrix, -2, -1)),)
                node.args[0].meta.update(node.meta, val=matrix.meta["val"].mT)


def of_real(form: Callable[..., Any]) -> Callable[..., Any]:
    """A form for real numbers alone."""
    return lambda *arguments, **options: NotImplemented if arguments[0].is_complex() else form(*arguments, **options)


OWN = {
    target.default: of_real(form)
    for target, form in {
        aten._linalg_det: determinant,
        aten._linalg_slogdet: log_determinant,
        aten._linalg_solve_ex: solve_ex,
        aten.cholesky_inverse: cholesky_inverse,
        aten.cholesky_solve: cholesky_solve,
        aten.linalg_cholesky_ex: cholesky_ex,
        aten.linalg_householder_product: householder_product,
        aten.linalg_inv_ex: inverse_ex,
        aten.linalg_lu: lu,
        aten.linalg_lu_factor_ex: lu_factor_ex,
        aten.linalg_lu_solve: lu_solve,
        aten.linalg_matrix_exp: exponential,
        aten.linalg_qr: qr,
        aten.linalg_solve_triangular: solve_triangular,
        aten.lu_unpack: unpacked,
        aten.triangular_solve: old_solve_triangular,
    }.items()
}
