"""Steps with complex numbers, Fourier transforms, and factorizations of matrices."""

import jax
import jax.numpy as jnp
import numpy as np


def spectral_loss(weights, x):
    for real, imag in weights:
        spectrum = jnp.fft.rfft(x, axis=1)
        low = jnp.einsum("bmc,mcd->bmd", spectrum[:, : real.shape[0]], real + 1j * imag)
        x = jnp.tanh(jnp.fft.irfft(low, n=x.shape[1], axis=1))
    return jnp.mean(jnp.abs(jnp.fft.fft2(x, axes=(0, 1))) ** 2)


def spectral_step(weights, x):
    value, gradients = jax.value_and_grad(spectral_loss)(weights, x)
    return value, jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, gradients)


def spectral_arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    # A length with a prime factor beyond the tables.
    return [(normal(5, 4, 4), normal(5, 4, 4)) for _ in range(3)], normal(3, 74, 4)


def evolved(angles, gates, state):
    def layer(state, given):
        gate, angle = given
        state = gate @ (jnp.exp(1j * angle) * state)
        return state.at[0].set(1j * state[0]), jnp.abs(state)

    return jax.lax.scan(layer, state, (gates, angles))


def state_step(angles, gates, state, heights):
    def energy(angles):
        last, sizes = evolved(angles, gates, state)
        return jnp.sum(heights * jnp.abs(last) ** 2) + jnp.mean(sizes), last

    (_, last), gradient = jax.value_and_grad(energy, has_aux=True)(angles)
    return angles - 0.1 * gradient, last


def state_arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    number = lambda *shape: (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)
    return normal(3, 16), np.linalg.qr(number(3, 16, 16))[0], number(16), normal(16)


def matrices_loss(x, y):
    kernel = x @ x.T / 8 + jnp.eye(x.shape[0])
    factor = jnp.linalg.cholesky(kernel)
    solved = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    _, volume = jnp.linalg.slogdet(kernel)
    return jnp.sum(solved**2) + volume + jnp.sum(jnp.linalg.inv(kernel) * 0.1)


def matrices_step(x, y):
    value, gradient = jax.value_and_grad(matrices_loss)(x, y)
    values, vectors = jnp.linalg.eigh(gradient.T @ gradient + jnp.eye(x.shape[1]))
    orthogonal, _ = jnp.linalg.qr(x)
    reflections, scales = jnp.linalg.qr(x, mode="raw")
    product = jax.lax.linalg.householder_product(reflections.T, scales)
    singular = jnp.linalg.svd(gradient, compute_uv=False), jnp.linalg.pinv(x), reflections, product
    return value, x - 0.1 * gradient @ (vectors * values**-0.5) @ vectors.T, orthogonal, singular


def matrices_arguments():
    random = np.random.default_rng(0)
    return random.standard_normal((24, 12)).astype(np.float32), random.standard_normal((24, 2)).astype(np.float32)


def triangular_step(x):
    return jax.scipy.linalg.schur(x), jnp.sort(x + 1j)


def triangular_arguments():
    return (np.ones((4, 4), np.float32),)
