"""GPT-2 in plain JAX: a step of gradient descent with its arguments, for compiled_rows.py and gpu_rows.py."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpt2_sizes import RATE, Size, make_tokens, make_weights


@dataclasses.dataclass(frozen=True)
class Form:
    """How the step is written.

    Attributes:
        dtype: of the values between the layers; weights, normalizations and the loss are of float32.
        attention: the implementation of `jax.nn.dot_product_attention`; `None` writes it out.
        checkpointed: each block is a `jax.checkpoint`.
    """

    dtype: Any = jnp.float32
    attention: str | None = None
    checkpointed: bool = False


def normalized(x: Any, weights: Any) -> Any:
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weights["scale"]
    return (scaled + weights["bias"]).astype(x.dtype)


def linear(x: Any, weights: Any) -> Any:
    return x @ weights["kernel"].astype(x.dtype) + weights["bias"].astype(x.dtype)


def attention(x: Any, weights: Any, heads: int, implementation: str | None) -> Any:
    batch, length, width = x.shape
    parts = jnp.split(linear(x, weights["qkv"]), 3, -1)
    if implementation:
        q, k, v = (part.reshape(batch, length, heads, -1) for part in parts)
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=implementation)
        return linear(mixed.reshape(x.shape), weights["out"])
    q, k, v = (part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32((width // heads) ** 0.5)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return linear(mixed.transpose(0, 2, 1, 3).reshape(x.shape), weights["out"])


def block(x: Any, weights: Any, heads: int, implementation: str | None) -> Any:
    with jax.named_scope("attn"):
        x = x + attention(normalized(x, weights["norm_1"]), weights, heads, implementation)
    with jax.named_scope("mlp"):
        hidden = jax.nn.gelu(linear(normalized(x, weights["norm_2"]), weights["up"]))
        return x + linear(hidden, weights["down"])


def loss(weights: Any, tokens: Any, heads: int, form: Form) -> Any:
    x = (weights["tokens"][tokens] + weights["places"]).astype(form.dtype)
    run = functools.partial(block, heads=heads, implementation=form.attention)
    run = jax.checkpoint(run) if form.checkpointed else run
    for i, each in enumerate(weights["blocks"]):
        with jax.named_scope(f"h_{i}"):
            x = run(x, each)
    logits = (normalized(x, weights["norm"]) @ weights["tokens"].T.astype(form.dtype))[:, :-1].astype(jnp.float32)
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def make(size: Size, form: Form = Form()) -> tuple[Any, tuple[Any, Any]]:
    """Returns `(step, arguments)`; the step returns the loss and the new weights."""

    def step(weights: Any, tokens: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, tokens, size.heads, form)
        return value, jax.tree.map(lambda weight, gradient: weight - RATE * gradient, weights, gradients)

    return step, (make_weights(size), make_tokens(size))
