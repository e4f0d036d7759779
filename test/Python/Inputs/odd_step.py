"""A training step of what frameworks make beside matmuls: random masks, gathers and
updates of all forms, windows that overlap, jax.checkpoint, a loop and a branch."""

import jax
import jax.numpy as jnp
import numpy as np


def gathers(x, rows, columns):
    yield x[:, rows]
    yield x[rows, :, columns]
    yield x[::2, 1:]
    yield x[rows[0]]
    yield jnp.take_along_axis(x, rows[None, :, None], 1)
    yield jax.lax.dynamic_slice(x, (0, rows[1], 0), (4, 2, 3))
    yield x.at[rows, 1].set(0.5)
    yield x.at[1:3, 2:4].add(x[:2, :2])
    yield x.at[rows].multiply(2.0)
    yield x.at[rows].subtract(x[:1])
    yield x.at[:, rows].max(x[:, :1])
    yield jnp.take_along_axis(jax.nn.log_softmax(x), columns[:, None, None], 2)
    yield jax.lax.reduce_window(jnp.round(2 * x), -jnp.inf, jax.lax.max, (1, 3, 2), (1, 2, 1), "SAME")
    yield jax.lax.reduce_window(jnp.round(2 * x), -jnp.inf, jax.lax.max, (1, 2, 2), (1, 1, 1), "VALID")


def loss(x, key, rows, columns):
    mask = jax.random.bernoulli(key, 0.8, x.shape)
    x = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(jnp.where(mask, x, 0))
    total = sum(jnp.sum(part**2) for part in gathers(x, rows, columns))
    looped, _ = jax.lax.scan(lambda carry, row: (jnp.tanh(carry + row), None), x[0], x)
    return total + jnp.sum(jax.lax.cond(rows[2] > 1, jnp.sin, jnp.cos, looped))


def step(x, key, rows, columns):
    key, used = jax.random.split(key)
    value, gradient = jax.value_and_grad(loss)(x, used, rows, columns)
    return value, x - 0.1 * gradient, key


def example_arguments():
    random = np.random.default_rng(0)
    x = random.standard_normal((4, 4, 3)).astype(np.float32)
    rows = np.array([3, 0, 2, 1], np.int32)
    columns = np.array([0, 2, 1, 2], np.int32)
    return x, np.array([1, 2], np.uint32), rows, columns


def loss_of_labels(logits, labels):
    return -jnp.sum(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, :, None] % 3, 2))


def labels_step(x, key, rows, columns):
    return jax.value_and_grad(loss_of_labels)(x, rows[None, :] + columns[:, None])


def loss_of_products(weights, x):
    plain, batched = weights
    return jnp.sum(jnp.tanh(x[:, :, 0] @ plain) ** 2) + jnp.sum(jnp.sin(jnp.einsum("bij,bjk->bik", x, batched)))


def products_step(x, key, rows, columns):
    weights = x[0], jnp.swapaxes(x, 1, 2)
    gradients = jax.grad(loss_of_products)(weights, x)
    norm = sum(jnp.sum(gradient**2) for gradient in gradients)
    return [weight - gradient * jax.lax.rsqrt(norm) for weight, gradient in zip(weights, gradients)]


def applied_step(x, key, rows, columns):
    return jnp.zeros((4, 3)).at[rows[0]].apply(jnp.cos) + x[0]


def refused_step(x, key, rows, columns):
    with jax.named_scope("router"):
        factors = jax.scipy.linalg.schur(x[:, :, 0])
    return factors, jax.lax.linalg.hessenberg(x[:, :, 1])


def unknown_step(x, key, rows, columns):
    return jnp.linalg.eigvals(x[:, :, 1] * 2)
