"""Training steps written with JAX's loops and with Python loops, for scripts/compare-loops.

A step `NAME_loop` is the Python loop, any other `NAME_*` the same with loops of JAX's, and
`NAME_arguments` makes its arguments.
"""

import jax
import jax.numpy as jnp
import numpy as np


def numbers(scale):
    random = np.random.default_rng(0)
    return random, lambda *shape: (random.standard_normal(shape) * scale).astype(np.float32)


def descend(loss, weights, *rest):
    value, gradients = jax.value_and_grad(loss)(weights, *rest)
    return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradients)


# ---------------------------------------------------------------------------
# A GPT with Adam whose blocks are scanned, with and without jax.checkpoint

BATCH, LENGTH, WIDTH, HEADS, WORDS = 2, 32, 32, 2, 64


def normalized(x, gain):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain


def block(x, w):
    split = lambda a: a.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS)
    q, k, v = jnp.split(normalized(x, w["g1"]) @ w["qkv"], 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", split(q), split(k)) / np.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), split(v)).reshape(x.shape)
    x = x + mixed @ w["out"]
    return x + jax.nn.gelu(normalized(x, w["g2"]) @ w["up"]) @ w["down"]


def gpt(layers, mode):
    def loss(p, tokens, labels):
        x = p["words"][tokens]
        if mode == "loop":
            for i in range(layers):
                with jax.named_scope(f"layer_{i}"):
                    x = block(x, jax.tree_util.tree_map(lambda a: a[i], p["layers"]))
        else:
            body = jax.checkpoint(block) if mode == "remat" else block
            x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, p["layers"])
        picked = jnp.take_along_axis(jax.nn.log_softmax(x @ p["words"].T), labels[..., None], -1)
        return -jnp.mean(picked)

    def step(p, m, v, tokens, labels):
        value, g = jax.value_and_grad(loss)(p, tokens, labels)
        each = jax.tree_util.tree_map
        m, v = each(lambda m, g: 0.9 * m + 0.1 * g, m, g), each(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        return value, each(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-6), p, m, v), m, v

    return step


def gpt_arguments(layers):
    def arguments():
        random, n = numbers(0.05)
        stacked = {"g1": 1 + n(layers, WIDTH), "g2": 1 + n(layers, WIDTH), "qkv": n(layers, WIDTH, 3 * WIDTH),
                   "out": n(layers, WIDTH, WIDTH), "up": n(layers, WIDTH, 4 * WIDTH), "down": n(layers, 4 * WIDTH, WIDTH)}
        p = {"words": n(WORDS, WIDTH), "layers": stacked}
        zero = jax.tree_util.tree_map(np.zeros_like, p)
        text = lambda: random.integers(0, WORDS, (BATCH, LENGTH)).astype(np.int32)
        return p, zero, zero, text(), text()

    return arguments


gpt8_loop, gpt8_scan, gpt8_remat = (gpt(8, mode) for mode in ("loop", "scan", "remat"))
gpt48_loop, gpt48_scan, gpt48_remat = (gpt(48, mode) for mode in ("loop", "scan", "remat"))
gpt8_arguments, gpt48_arguments = gpt_arguments(8), gpt_arguments(48)

# ---------------------------------------------------------------------------
# An LSTM over 200 steps


def cell(p, state, x):
    h, s = state
    i, f, o, z = jnp.split(x @ p["w"] + h @ p["u"] + p["b"], 4, -1)
    s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(z)
    return jax.nn.sigmoid(o) * jnp.tanh(s), s


def lstm(mode):
    def loss(p, xs, y):
        state = (jnp.zeros(xs.shape[1:]),) * 2
        if mode == "loop":
            for x in xs:
                state = cell(p, state, x)
        else:
            state, _ = jax.lax.scan(lambda state, x: (cell(p, state, x), None), state, xs)
        return jnp.mean((state[0] @ p["o"] - y) ** 2)

    return lambda p, xs, y: descend(loss, p, xs, y)


def lstm_arguments():
    _, n = numbers(0.1)
    return {"w": n(32, 128), "u": n(32, 128), "b": n(128), "o": n(32, 4)}, n(200, 16, 32), n(16, 4)


lstm_loop, lstm_scan = lstm("loop"), lstm("scan")

# ---------------------------------------------------------------------------
# Gradients of four batches that fori_loop adds up


def accumulated(mode):
    def loss(p, x, y):
        for w in p:
            x = x + jax.nn.gelu(x @ w)
        return jnp.mean((x - y) ** 2)

    def step(p, x, y):
        add = lambda i, sum: jax.tree_util.tree_map(jnp.add, sum, jax.grad(loss)(p, x[i], y[i]))
        sum = jax.tree_util.tree_map(jnp.zeros_like, p)
        if mode == "loop":
            for i in range(4):
                sum = add(i, sum)
        else:
            sum = jax.lax.fori_loop(0, 4, add, sum)
        return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g / 4, p, sum)

    return step


def accumulated_arguments():
    _, n = numbers(0.1)
    return [n(64, 64) for _ in range(4)], n(4, 32, 64), n(4, 32, 64)


accumulated_loop, accumulated_fori = accumulated("loop"), accumulated("fori")

# ---------------------------------------------------------------------------
# Attention by lax.map over chunks of queries


def attention(mode):
    chunks, heads = 4, 2

    def loss(p, x):
        batch, length, width = x.shape
        for w in p:
            split = lambda a: jnp.swapaxes(a.reshape(batch, length, heads, -1), 1, 2)
            q, k, v = map(split, jnp.split(x @ w["in"], 3, -1))
            parts = jnp.moveaxis(q.reshape(batch, heads, chunks, length // chunks, -1), 2, 0)
            attend = jax.checkpoint(lambda q: jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / np.sqrt(width // heads)) @ v)
            mixed = jnp.stack([attend(q) for q in parts]) if mode == "loop" else jax.lax.map(attend, parts)
            mixed = jnp.moveaxis(mixed, 0, 2).reshape(batch, heads, length, -1)
            x = x + jnp.swapaxes(mixed, 1, 2).reshape(x.shape) @ w["out"]
        return jnp.mean(x**2)

    return lambda p, x: descend(loss, p, x)


def attention_arguments():
    _, n = numbers(0.1)
    return [{"in": n(32, 96), "out": n(32, 32)} for _ in range(3)], n(2, 128, 32)


attention_loop, attention_map = attention("loop"), attention("map")
