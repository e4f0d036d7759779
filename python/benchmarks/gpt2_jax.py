"""GPT-2 in plain JAX: a step of gradient descent with its arguments, for compiled_rows.py."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpt2_sizes import RATE, Size


def normalized(x: Any, weights: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weights["scale"] + weights["bias"]


def linear(x: Any, weights: Any) -> Any:
    return x @ weights["kernel"] + weights["bias"]


def attention(x: Any, weights: Any, heads: int) -> Any:
    batch, length, width = x.shape
    parts = jnp.split(linear(x, weights["qkv"]), 3, -1)
    q, k, v = (part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32((width // heads) ** 0.5)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return linear(mixed.transpose(0, 2, 1, 3).reshape(x.shape), weights["out"])


def block(x: Any, weights: Any, heads: int) -> Any:
    with jax.named_scope("attn"):
        x = x + attention(normalized(x, weights["norm_1"]), weights, heads)
    with jax.named_scope("mlp"):
        hidden = jax.nn.gelu(linear(normalized(x, weights["norm_2"]), weights["up"]))
        return x + linear(hidden, weights["down"])


def loss(weights: Any, tokens: Any, heads: int) -> Any:
    x = weights["tokens"][tokens] + weights["places"]
    for i, each in enumerate(weights["blocks"]):
        with jax.named_scope(f"h_{i}"):
            x = block(x, each, heads)
    logits = (normalized(x, weights["norm"]) @ weights["tokens"].T)[:, :-1]
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def make_weights(size: Size) -> Any:
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    def dense(inner: int, outer: int) -> dict[str, np.ndarray]:
        return {"kernel": normal(inner, outer), "bias": np.zeros(outer, np.float32)}

    def norm() -> dict[str, np.ndarray]:
        return {"scale": np.ones(size.width, np.float32), "bias": np.zeros(size.width, np.float32)}

    def layer() -> dict[str, Any]:
        shapes = {"qkv": (1, 3), "out": (1, 1), "up": (1, 4), "down": (4, 1)}
        products = {name: dense(inner * size.width, outer * size.width) for name, (inner, outer) in shapes.items()}
        return {"norm_1": norm(), "norm_2": norm(), **products}

    return {
        "tokens": normal(size.vocabulary, size.width),
        "places": normal(size.length, size.width),
        "blocks": [layer() for _ in range(size.layers)],
        "norm": norm(),
    }


def make(size: Size) -> tuple[Any, tuple[Any, Any]]:
    """Returns `(step, arguments)`; the step returns the loss and the new weights."""

    def step(weights: Any, tokens: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, tokens, size.heads)
        return value, jax.tree.map(lambda weight, gradient: weight - RATE * gradient, weights, gradients)

    tokens = np.random.default_rng(1).integers(0, size.vocabulary, (size.batch, size.length)).astype(np.int32)
    return step, (make_weights(size), tokens)
