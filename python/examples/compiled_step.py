"""A step of JAX in the engine of this project, beside jax.jit on the same core: docs/Compile.md walks through it."""

import os
import time

# Both engines run on one core; XLA counts the cores of the process when JAX is imported.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import ckpt  # noqa: E402

LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 4, 256, 4, 2048, 2, 128


def norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def block(weights, x):
    q, k, v = jnp.split((norm(x) @ weights["qkv"]).reshape(BATCH, LENGTH, HEADS, -1), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    x = x + mixed.reshape(x.shape) @ weights["out"]
    return x + jax.nn.gelu(norm(x) @ weights["up"]) @ weights["down"]


def loss(parameters, tokens):
    x = parameters["embedding"][tokens]
    for i, weights in enumerate(parameters["blocks"]):
        with jax.named_scope(f"block_{i}"):
            x = block(weights, x)
    logits = (norm(x) @ parameters["embedding"].T)[:, :-1]
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def step(parameters, tokens):
    value, gradients = jax.value_and_grad(loss)(parameters, tokens)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, parameters, gradients)


def example_arguments():
    random = np.random.default_rng(0)

    def normal(*shape):
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    blocks = [{name: normal(*shape) for name, shape in shapes.items()} for _ in range(LAYERS)]
    tokens = random.integers(0, VOCABULARY, (BATCH, LENGTH)).astype(np.int32)
    return {"embedding": normal(VOCABULARY, WIDTH), "blocks": blocks}, tokens


def fastest(call, runs=5):
    """Milliseconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def main():
    arguments = example_arguments()
    jitted = jax.jit(step).lower(*arguments).compile()
    expected = jitted(*arguments)

    compiled = ckpt.compile(step, *arguments, budget="50%")
    results = compiled(*arguments)
    print(compiled.report)

    pairs = list(zip(jax.tree.leaves(results), jax.tree.leaves(expected)))
    print("largest difference", max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs))
    memory = jitted.memory_analysis().temp_size_in_bytes
    print(f"jax.jit      {memory / 2**20:6.1f} MiB {fastest(lambda: jitted(*arguments)):8.1f} ms")
    print(f"ckpt.compile {compiled.arena_bytes / 2**20:6.1f} MiB {fastest(lambda: compiled(*arguments)):8.1f} ms")


if __name__ == "__main__":
    main()
