"""Cumulations, sorting and what is built on them, with gradients: ties, numbers that are none, zeros of both signs."""

import jax
import jax.numpy as jnp
import numpy as np


def cumulations(x):
    yield jnp.cumsum(x, 1)
    yield jnp.cumprod(1 + x / 8, 0)
    yield jax.lax.cummax(x, 0)
    yield jax.lax.cumlogsumexp(x, 1, reverse=True)


def cumulated_step(x, integers):
    value, gradient = jax.value_and_grad(lambda x: sum(jnp.sum(jnp.sin(part)) for part in cumulations(x)))(x)
    special = x.at[2, 2].set(jnp.inf).at[1].set(-jnp.inf).at[0, 30:].set(jnp.nan)
    return value, gradient, jnp.cumsum(special, 1), jax.lax.cumlogsumexp(special, 1), jnp.cumsum(integers)


def cumulated_arguments():
    random = np.random.default_rng(0)
    return random.standard_normal((3, 40)).astype(np.float32), random.integers(-9, 9, 1100).astype(np.int32)


def order_loss(x):
    return jnp.sum(jnp.sin(jnp.sort(x, 0))) + jnp.sum(jax.lax.top_k(x, 3)[0] ** 2) + jnp.median(x) + jnp.sum(jax.lax.approx_min_k(x, 2)[0] ** 3)


def ordered_step(x, special, key):
    return [
        jax.value_and_grad(order_loss)(x),
        jnp.sort(special),
        jnp.argsort(special, descending=True),
        jax.lax.top_k(special, 4),
        jax.lax.top_k(x.reshape(-1), 1),
        jax.lax.approx_max_k(x, 2, reduction_dimension=0),
        jax.lax.approx_min_k(x, 3),
        jnp.lexsort((special, jnp.round(x[0, :12]))),
        jax.random.permutation(key, x, axis=1),
    ]


def ordered_arguments():
    random = np.random.default_rng(0)
    special = np.array([1, np.nan, -0.0, 0.0, np.inf, -np.inf, 2, 2, -np.nan, 0.0, -3, 2], np.float32)
    return random.standard_normal((3, 12)).astype(np.float32), special, np.array([1, 2], np.uint32)
