"""A training step to try `python -m ckpt import` with: a small classifier of token sequences."""

import jax
import jax.numpy as jnp
import numpy as np


def loss(params, tokens, labels):
    hidden = params["embed"][tokens]
    for i, weights in enumerate(params["layers"]):
        with jax.named_scope(f"layer_{i}"):
            hidden = hidden + jax.nn.gelu(hidden @ weights)
    logits = hidden.mean(axis=1) @ params["head"]
    picked = jax.nn.one_hot(labels, logits.shape[-1])
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * picked, axis=-1))


def step(params, tokens, labels):
    value, gradients = jax.value_and_grad(loss)(params, tokens, labels)
    update = lambda weights, gradient: weights - 0.1 * gradient
    return value, jax.tree_util.tree_map(update, params, gradients)


def example_arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: (random.standard_normal(shape) * 0.1).astype(np.float32)
    params = {
        "embed": normal(50, 32),
        "layers": [normal(32, 32) for _ in range(4)],
        "head": normal(32, 10),
    }
    tokens = random.integers(0, 50, (8, 16)).astype(np.int32)
    labels = random.integers(0, 10, (8,)).astype(np.int32)
    return params, tokens, labels
