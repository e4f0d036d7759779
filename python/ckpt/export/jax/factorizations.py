"""Factorizations and solves of matrices as loops over columns or rows, which write the carried matrix in place.

The results are those of LAPACK, signs and pivots included, but for the order of sums. Eigenvectors have signs of their own.
Each function is a rule for the primitive of its name (rules.py), and takes any number of leading dimensions.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

# A symmetric matrix takes six to ten sweeps.
MOST_SWEEPS = 15


def of_matrices(function: Callable) -> Callable:
    """Applies a function along all leading dimensions, in a scope whose loops stay loops (stablehlo/linalg.py)."""

    @functools.wraps(function)
    @jax.named_scope(f"ckpt.{function.__name__}")
    def of_batches(*operands: jax.Array, **parameters: Any) -> Any:
        outer = operands[0].shape[:-2]
        one = functools.partial(function, **parameters)
        if not outer:
            return one(*operands)
        results = jax.vmap(one)(*(x.reshape(math.prod(outer), *x.shape[-2:]) for x in operands))
        return jax.tree.map(lambda x: x.reshape(*outer, *x.shape[1:]), results)

    return of_batches


def put_column(x: jax.Array, j: Any, column: jax.Array) -> jax.Array:
    return jax.lax.dynamic_update_slice_in_dim(x, column[:, None], j, 1)


def put_row(x: jax.Array, i: Any, row: jax.Array) -> jax.Array:
    return jax.lax.dynamic_update_slice_in_dim(x, row[None], i, 0)


def row_of(x: jax.Array, i: Any) -> jax.Array:
    return jax.lax.dynamic_index_in_dim(x, i, 0, keepdims=False)


def column_of(x: jax.Array, j: Any) -> jax.Array:
    return jax.lax.dynamic_index_in_dim(x, j, 1, keepdims=False)


def loop(count: int, body: Callable, first: Any) -> Any:
    """What `body` makes of `first` in `count` iterations; JAX traces a body for a matrix without elements too."""
    return jax.lax.fori_loop(0, count, body, first) if count > 0 else first


product = functools.partial(jnp.matmul, precision="highest")


@of_matrices
def cholesky(a: jax.Array, **unused: Any) -> jax.Array:
    """The lower factor; not a number if the matrix is not positive definite."""
    rows = jnp.arange(a.shape[0])

    def append(j, lower):
        rest = column_of(a, j) - product(lower, jnp.conj(row_of(lower, j)))
        column = rest / jnp.sqrt(row_of(jnp.real(rest), j))
        return put_column(lower, j, jnp.where(rows >= j, column, 0))

    lower = loop(a.shape[0], append, jnp.zeros_like(a))
    return jnp.where(jnp.isnan(jnp.real(lower[-1:, -1:])), jnp.nan, lower)


@of_matrices
def triangular_solve(
    a: jax.Array,
    b: jax.Array,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> jax.Array:
    """The solution x of op(a) x = b, or of x op(a) = b."""
    a = jnp.conj(a) if conjugate_a else a
    if transpose_a == left_side:
        a, lower = a.T, not lower
    b = b if left_side else b.T
    size = a.shape[0]
    inner = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    diagonal = jnp.ones(size, a.dtype) if unit_diagonal else jnp.diagonal(a)

    def solve(step, x):
        i = step if lower else size - 1 - step
        rest = row_of(b, i) - product(row_of(inner, i), x)
        return put_row(x, i, rest / row_of(diagonal, i))

    x = loop(size, solve, jnp.zeros_like(b))
    return x if left_side else x.T


def swap(x: jax.Array, i: Any, j: Any) -> jax.Array:
    one, other = row_of(x, i), row_of(x, j)
    return put_row(put_row(x, i, other), j, one)


@of_matrices
def lu(a: jax.Array, **unused: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Both factors in one matrix, the pivot of each row, and the order of rows, by partial pivoting."""
    rows, columns = jnp.arange(a.shape[0], dtype=jnp.int32), jnp.arange(a.shape[1], dtype=jnp.int32)

    def eliminate(j, state):
        a, pivots, order = state
        column = column_of(a, j)
        sizes = jnp.where(rows >= j, jnp.abs(jnp.real(column)) + jnp.abs(jnp.imag(column)), -1)
        pivot = jnp.argmax(sizes).astype(jnp.int32)
        a, order = swap(a, j, pivot), swap(order[:, None], j, pivot)[:, 0]
        column, row = column_of(a, j), row_of(a, j)
        divisor = row_of(column, j)
        factors = column / jnp.where(divisor == 0, 1, divisor)
        a = put_column(a, j, jnp.where(rows > j, factors, column))
        a = a - jnp.where(rows > j, factors, 0)[:, None] * jnp.where(columns > j, row, 0)
        return a, jnp.where(jnp.arange(pivots.size) == j, pivot, pivots), order

    pivots = jnp.zeros(min(a.shape), jnp.int32)
    return loop(min(a.shape), eliminate, (a, pivots, rows))


@of_matrices
def geqrf(a: jax.Array, **unused: Any) -> tuple[jax.Array, jax.Array]:
    """The upper factor, below it the vectors of the reflections, and their scales (Householder, 1958)."""
    rows, columns, count = jnp.arange(a.shape[0]), jnp.arange(a.shape[1]), min(a.shape)

    def reflect(j, state):
        a, scales = state
        column = column_of(a, j)
        first = row_of(column, j)
        below = jnp.sum(jnp.where(rows > j, jnp.abs(column) ** 2, 0))
        norm = jnp.sqrt(jnp.abs(first) ** 2 + below)
        turned = jnp.where(jnp.real(first) < 0, norm, -norm)
        kept = (below == 0) & (jnp.imag(first) == 0)
        vector = jnp.where(rows > j, column / jnp.where(kept, 1, first - turned), rows == j)
        scale = jnp.where(kept, 0, (turned - first) / jnp.where(norm == 0, 1, turned))
        a = a - jnp.conj(scale) * vector[:, None] * jnp.where(columns >= j, product(jnp.conj(vector), a), 0)
        a = put_column(a, j, jnp.where(rows > j, vector, column_of(a, j)))
        return a, jnp.where(jnp.arange(count) == j, scale, scales)

    return loop(count, reflect, (a, jnp.zeros(count, a.dtype)))


@of_matrices
def united(vectors: jax.Array, scales: jax.Array, *, width: int) -> jax.Array:
    """The first columns of the product of reflections, whose scales are a matrix of one row."""
    rows, count = jnp.arange(vectors.shape[0]), scales.shape[-1]

    def unite(step, q):
        j = count - 1 - step
        vector = jnp.where(rows > j, column_of(vectors, j), rows == j)
        return q - row_of(scales[0], j) * vector[:, None] * product(jnp.conj(vector), q)

    return loop(count, unite, jnp.eye(vectors.shape[0], width, dtype=vectors.dtype))


def householder_product(a: jax.Array, scales: jax.Array, **unused: Any) -> jax.Array:
    """The orthogonal factor, from the results of geqrf."""
    return united(a, scales[..., None, :], width=a.shape[-1])


def qr(a: jax.Array, *, full_matrices: bool, **unused: Any) -> tuple[jax.Array, jax.Array]:
    """Both factors."""
    vectors, scales = geqrf(a)
    width = a.shape[-2] if full_matrices else min(a.shape[-2:])
    return united(vectors, scales[..., None, :], width=width), jnp.triu(vectors)[..., :width, :]


def rotations(left: jax.Array, middle: jax.Array, right: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Cosines and sines that make the middle of two by two symmetric matrices zero (Golub and Van Loan, 8.5)."""
    ratio = (right - left) / jnp.where(middle == 0, 1, 2 * middle)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
    tangent = jnp.where(middle == 0, 0, tangent)
    cosine = 1 / jnp.sqrt(1 + tangent * tangent)
    return cosine, tangent * cosine


def turn(first: jax.Array, second: jax.Array, cosine: jax.Array, sine: jax.Array) -> tuple[jax.Array, jax.Array]:
    return cosine * first - sine * second, sine * first + cosine * second


def take_turns(first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The next pairs of a round-robin tournament: all rows move on by one but the first."""
    if first.shape[0] == 1:
        return first, second
    return (
        jnp.concatenate([first[:1], second[:1], first[1:-1]]),
        jnp.concatenate([second[1:], first[-1:]]),
    )


def sweep(step: Any, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Rotates half as many pairs of rows and columns as there are rows, all apart from each other."""
    matrix, vectors = state
    half = matrix.shape[0] // 2
    middle = jnp.diagonal(matrix[:half, half:])
    cosine, sine = rotations(jnp.diagonal(matrix)[:half], middle, jnp.diagonal(matrix)[half:])
    cosine, sine = cosine[:, None], sine[:, None]
    both = lambda x: jnp.concatenate(take_turns(*turn(x[:half], x[half:], cosine, sine)))
    return both(both(matrix).T).T, both(vectors)


@of_matrices
def eigh(a: jax.Array, *, lower: bool = True, sort_eigenvalues: bool = True, **unused: Any) -> tuple[jax.Array, jax.Array]:
    """Eigenvectors and eigenvalues of a symmetric matrix, by rotations in parallel order (Brent and Luk, 1985)."""
    size = a.shape[0]
    a = jnp.tril(a) + jnp.tril(a, -1).T if lower else jnp.triu(a) + jnp.triu(a, 1).T
    even = size + size % 2
    matrix = jnp.pad(a, (0, even - size))
    tolerance = jnp.finfo(a.dtype).eps ** 2 * jnp.sum(a * a)

    def continues(state):
        matrix, _, count = state
        outside = jnp.sum(jnp.where(jnp.eye(even, dtype=bool), 0, matrix * matrix))
        return (count < MOST_SWEEPS) & (outside > tolerance)

    def again(state):
        return (*loop(even - 1, sweep, state[:2]), state[2] + 1)

    matrix, vectors, _ = jax.lax.while_loop(continues, again, (matrix, jnp.eye(even, dtype=a.dtype), 0))
    values, vectors = jnp.diagonal(matrix)[:size], vectors[:size, :size]
    if sort_eigenvalues:
        order = jnp.argsort(values)
        values, vectors = values[order], vectors[order]
    return vectors.T, values
