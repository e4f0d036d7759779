"""Complex numbers as pairs, transforms and factorizations compute what JAX computes; JAX in float64 is the oracle."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("iree.compiler")

from ckpt.export.jax import factorizations  # noqa: E402
from ckpt.export.jax.lowering import join  # noqa: E402
from ckpt.export.jax.parts import Parts, of_parts, split  # noqa: E402

RANDOM = np.random.default_rng(0)


def real(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def complex_(*shape):
    return (real(*shape) + 1j * real(*shape)).astype(np.complex64)


def joined(x):
    return join(x) if isinstance(x, Parts) else np.asarray(x)


def check(function, *arguments, tolerance=3e-6):
    """The results by parts are those of JAX, relative to the largest number."""
    arguments = jax.tree.map(jnp.asarray, arguments)
    program = jax.make_jaxpr(function)(*arguments)
    found = jax.jit(of_parts(program))(*map(split, arguments))
    expected = jax.tree.leaves(function(*arguments))
    assert len(found) == len(expected)
    for one, other in zip(map(joined, found), map(np.asarray, expected)):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        largest = np.abs(other).max(initial=1e-9, where=np.isfinite(other))
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * largest)


X, Y, MATRIX = complex_(5, 4), complex_(5, 4), complex_(4, 6)
UNARY = (
    "abs angle arccos arccosh arcsin arcsinh arctan arctanh conj cos cosh exp exp2 expm1 imag isfinite log log1p negative real "
    "reciprocal sign sin sinh sqrt square tan tanh"
)


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_number(name):
    check(getattr(jnp, name), X)


@pytest.mark.parametrize("name", "add divide equal multiply not_equal power subtract".split())
def test_functions_of_two_numbers(name):
    check(getattr(jnp, name), X, Y)
    check(getattr(jnp, name), X, real(5, 4))
    check(getattr(jnp, name), X, 2.0)


def sequence(first, matrices):
    def iterate(state, matrix):
        state = jnp.tanh(matrix @ state)
        return state, state.real

    return jax.lax.scan(iterate, first, matrices)


def grown(x):
    grow = lambda state: (state[0] * (1 + 1j), state[1] + 1)
    return jax.lax.while_loop(lambda state: jnp.abs(state[0]).sum() < 100, grow, (x, 0))


def recomputed(x):
    return jax.checkpoint(lambda y: jnp.abs(jnp.sin(y)).sum())(x.astype(jnp.complex64))


PROGRAMS = {
    "composites": (jax.nn.sigmoid, X),
    "convolution": (lambda x, k: jax.lax.conv_general_dilated(x, k, (1,), "SAME"), complex_(2, 3, 8), complex_(4, 3, 3)),
    "branch": (lambda x: jax.lax.cond(x.real.sum() > 0, lambda x: x * 2j, lambda x: x.conj(), x), X),
    "constant scalars": (lambda x: jnp.stack([jnp.exp(x) - 1, (1 - x) * 2, x + 1j, x / 2, 1 / x]), X),
    "constant": (lambda x: x * np.array([1, 1j, 2, 3], np.complex64), X),
    "conversion": (lambda x: x.astype(jnp.complex64) * (2 + 1j), real(3)),
    "copy to the device": (lambda x: jax.device_put(x) * 2, X),
    "cuts": (
        lambda x: [f(x) for f in (jnp.arccos, jnp.arccosh, jnp.arcsin, jnp.arcsinh, jnp.arctan, jnp.arctanh)],
        np.array([complex(*x) for x in itertools.product((-3, -0.5, 0.0, 0.5, 3), repeat=2)], np.complex64),
    ),
    "counted": (lambda x: jax.lax.fori_loop(0, 3, lambda i, x: x * x[i], x), X),
    "cumulation": (lambda x: jnp.cumsum(x, 0), X),
    "einsum": (lambda a, b: jnp.einsum("bmc,mcd->bmd", a, b), complex_(2, 3, 4), complex_(3, 4, 5)),
    "gradient": (jax.grad(lambda a: jnp.abs(jnp.exp(1j * a) + a).sum()), real(4)),
    "gradient of a tangent": (jax.grad(lambda x: jnp.abs(jnp.tanh(x)).sum()), X),
    "gradient at zero": (jax.grad(lambda a: jnp.abs(a * (1 + 0j)).sum()), np.zeros(3, np.float32)),
    "gradient of a scan": (jax.grad(lambda m, x: jnp.abs(sequence(x, m)[0]).sum()), complex_(4, 4, 4) / 4, complex_(4)),
    "infinite sizes": (
        lambda x: [f(x) for f in (jnp.exp, jnp.expm1, jnp.sin, jnp.cos, jnp.sinh, jnp.cosh)],
        np.array([100, 100j, -100j], np.complex64),
    ),
    "large logarithms": (jnp.log1p, np.array([1e30, -1e30j, 1e25 + 1e30j], np.complex64)),
    "large quotients": (jnp.divide, np.array([1e30 + 1e30j], np.complex64), np.array([2e30 - 1e30j], np.complex64)),
    "large tangents": (jnp.tanh, np.array([100 + 1j, -50 - 2j, 20 + 3j], np.complex64)),
    "matmul": (jnp.matmul, X, MATRIX),
    "matmul by reals": (jnp.matmul, X, real(4, 6)),
    "mean": (lambda x: x.mean(0), X),
    "movements": (lambda x, y: jnp.tile(jnp.roll(jnp.concatenate([x, y], 1)[::-1, 1:], 1, 0).T.reshape(7, 5), (2, 1)), X, Y),
    "padding": (lambda x: jnp.pad(x, 1, constant_values=2j), X),
    "powers": (lambda x: (x**3, x**-2), X),
    "product": (lambda x: (jnp.prod(x), jnp.prod(x, 0), jnp.prod(x[:, :0], 1)), X),
    "recomputation": (jax.grad(recomputed), real(3)),
    "scan": (sequence, complex_(4), complex_(4, 4, 4) / 4),
    "scattered factors": (lambda x, y: x.at[1, 2:].multiply(y[0, 2:]).at[np.array([3, 0])].multiply(2, unique_indices=True), X, Y),
    "scatter": (lambda x, y: x.at[1, 2:].set(y[0, 2:]).at[np.array([0, 0, 3])].add(y[:3]).at[np.array([1, 1])].subtract(y[:2]), X, Y),
    "selection": (lambda x, y: jnp.where(x.real > 0, x, y), X, Y),
    "square roots on the axis": (jnp.sqrt, np.array([-4 + 0j, 0j, 4 + 0j], np.complex64)),
    "elements outside of the array": (
        lambda x, i: (jnp.take_along_axis(x, i, 0), x.at[i].get(mode="fill", fill_value=2 + 3j), x.at[i].get(mode="fill")),
        X,
        np.array([[0, 7, 1, -9]]),
    ),
    "vmap": (jax.vmap(jnp.vdot), X, Y),
    "while": (grown, X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check(*PROGRAMS[name])


SHAPES = [((3, 128), 1), ((2, 7), 1), ((2, 97), 1), ((60, 1), 1), ((2, 6, 10), 2), ((4, 6, 15), 3), ((1000,), 1)]


@pytest.mark.parametrize("shape, axes", SHAPES)
def test_transforms(shape, axes):
    over = tuple(range(-axes, 0))
    x = complex_(*shape)
    check(lambda x: jnp.fft.fftn(x, axes=over), x)
    check(lambda x: jnp.fft.ifftn(x, axes=over), x)
    check(lambda x: jnp.fft.rfftn(x.real, axes=over), x)
    check(lambda x: jnp.fft.irfftn(jnp.fft.rfftn(x.real, axes=over) * 1j, s=shape[-axes:], axes=over), x)
    check(jax.grad(lambda a: jnp.abs(jnp.fft.rfftn(a, axes=over)).sum()), x.real)


def test_transforms_without_elements_and_with_exact_zeros():
    check(jnp.fft.irfft, np.ones((1, 1), np.complex64))
    check(jnp.fft.fft, np.zeros((0, 4), np.complex64))
    program = jax.make_jaxpr(jnp.fft.fft)(real(2, 8))
    assert not np.any(of_parts(program)(jnp.ones((2, 8)))[0].imag)


def matrices(is_complex, *shape):
    return complex_(*shape) if is_complex else real(*shape)


def compare(found, expected, tolerance=1e-5):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(np.asarray(other)).max(initial=1e-9))


@pytest.mark.parametrize("is_complex", [False, True])
class TestFactorizations:
    """Signs and pivots are those of LAPACK too."""

    def test_cholesky(self, is_complex):
        a = matrices(is_complex, 2, 9, 9)
        a = a @ a.conj().swapaxes(-1, -2) + np.eye(9, dtype=a.dtype)
        compare(factorizations.cholesky(a), jnp.linalg.cholesky(a))
        assert np.isnan(factorizations.cholesky(-a)).all()

    @pytest.mark.parametrize("shape", [(9, 9), (5, 9), (9, 5), (1, 1)])
    def test_lu_and_qr(self, is_complex, shape):
        a = matrices(is_complex, *shape)
        compare(factorizations.lu(a), jax.lax.linalg.lu(a))
        for full in (False, True):
            compare(factorizations.qr(a, full_matrices=full), jax.lax.linalg.qr(a, full_matrices=full))

    @pytest.mark.parametrize("left, lower, transposed", list(itertools.product([False, True], repeat=3)))
    def test_triangular_solve(self, is_complex, left, lower, transposed):
        options = {"left_side": left, "lower": lower, "transpose_a": transposed}
        options |= {"conjugate_a": left == lower, "unit_diagonal": lower == transposed}
        a = matrices(is_complex, 7, 7) / 4 + 3 * np.eye(7, dtype=np.float32)
        b = matrices(is_complex, 7, 3) if left else matrices(is_complex, 3, 7)
        compare(factorizations.triangular_solve(a, b, **options), jax.lax.linalg.triangular_solve(a, b, **options))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 25])
def test_eigenvectors(size):
    a = real(size, size)
    a = a + a.T
    vectors, values = factorizations.eigh(a)
    compare(values, jnp.linalg.eigvalsh(a))
    compare(vectors * values @ vectors.T, a, 3e-5)
    compare(vectors.T @ vectors, np.eye(size), 3e-5)


def test_complex_solves():
    a, b = complex_(4, 4), complex_(4)
    check(lambda a: (jnp.linalg.inv(a), *jnp.linalg.slogdet(a)), a, tolerance=3e-5)
    check(lambda a: jnp.linalg.cholesky(a @ a.conj().T + jnp.eye(4)), a)
    check(jax.grad(lambda b: jnp.abs(jnp.linalg.solve(a, b)).sum()), b, tolerance=3e-5)
