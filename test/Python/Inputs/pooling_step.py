"""Gradients of pooling with windows that overlap, leave gaps or reach into padding. Integers make elements equal."""

import jax
import jax.numpy as jnp
import numpy as np

WINDOWS = (
    ((3, 3), (2, 2), "SAME"),
    ((2, 2), (2, 2), "VALID"),
    ((2, 2), (2, 2), "SAME"),
    ((3, 2), (2, 1), ((1, 2), (0, 1))),
    ((2, 1), (3, 2), "SAME"),
)


def pooled(x, reducer, initial, extents, strides, padding):
    padding = padding if isinstance(padding, str) else ((0, 0), *padding, (0, 0))
    return jax.lax.reduce_window(x, initial, reducer, (1, *extents, 1), (1, *strides, 1), padding)


def pooling_step(x):
    def loss(x):
        total = 0
        for window in WINDOWS:
            total += jnp.sum(pooled(jax.nn.relu(x), jax.lax.max, -jnp.inf, *window) ** 2)
            total += jnp.sum(pooled(x, jax.lax.min, jnp.inf, *window) ** 3)
        return total

    return jax.value_and_grad(loss)(x)


def pooling_arguments():
    return (np.random.default_rng(0).integers(-4, 5, (2, 9, 8, 3)).astype(np.float32),)
