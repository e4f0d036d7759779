"""A small GPT-like training step, by a Python loop or by scan."""

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, VOCAB, BATCH, LENGTH = 3, 64, 4, 256, 2, 64


def _parameters():
    random = np.random.default_rng(0)

    def normal(*shape):
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    def block():
        return {
            "qkv": normal(WIDTH, 3 * WIDTH),
            "out": normal(WIDTH, WIDTH),
            "up": normal(WIDTH, 4 * WIDTH),
            "down": normal(4 * WIDTH, WIDTH),
        }

    return {"embedding": normal(VOCAB, WIDTH), "blocks": [block() for _ in range(LAYERS)]}


def _norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _block(weights, x):
    with jax.named_scope("attn"):
        parts = jnp.split(_norm(x) @ weights["qkv"], 3, -1)
        q, k, v = (p.reshape(BATCH, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for p in parts)
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(4)
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
        mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
        x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ weights["out"]
    with jax.named_scope("mlp"):
        return x + jax.nn.gelu(_norm(x) @ weights["up"]) @ weights["down"]


def _loss(parameters, tokens, scanned):
    x = parameters["embedding"][tokens]
    if scanned:
        x, _ = jax.lax.scan(lambda x, weights: (_block(weights, x), None), x, parameters["blocks"])
    else:
        for i, weights in enumerate(parameters["blocks"]):
            with jax.named_scope(f"h_{i}"):
                x = _block(weights, x)
    logits = (_norm(x) @ parameters["embedding"].T)[:, :-1]
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def make_step(scanned):
    def step(parameters, tokens):
        loss, gradients = jax.value_and_grad(_loss)(parameters, tokens, scanned)
        return loss, jax.tree.map(lambda w, g: w - 0.1 * g, parameters, gradients)

    parameters = _parameters()
    if scanned:
        parameters["blocks"] = jax.tree.map(lambda *each: np.stack(each), *parameters["blocks"])
    tokens = np.random.default_rng(1).integers(0, VOCAB, (BATCH, LENGTH)).astype(np.int32)
    return step, (parameters, tokens)
