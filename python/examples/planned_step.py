"""A step of JAX in half of its memory: docs/Jax.md walks through it."""

import ckpt.jax
import jax
import jax.numpy as jnp
import numpy as np


def loss(weights, x):
    for i, (up, down) in enumerate(weights):
        with jax.named_scope(f"block_{i}"):
            x = x + jax.nn.gelu(x @ up) @ down
    return jnp.mean(x**2)


def step(weights, x):
    value, gradients = jax.value_and_grad(loss)(weights, x)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def main():
    random = np.random.default_rng(0)
    weights = [
        (
            random.standard_normal((128, 512)).astype(np.float32) / 16,
            random.standard_normal((512, 128)).astype(np.float32) / 16,
        )
        for _ in range(8)
    ]
    x = random.standard_normal((1024, 128)).astype(np.float32)

    planned = ckpt.jax.jit(step, budget="50%")
    results = planned(weights, x)
    print(planned.report)

    expected = jax.jit(step)(weights, x)
    pairs = zip(jax.tree.leaves(results), jax.tree.leaves(expected))
    print("largest difference", max(float(jnp.abs(a - e).max()) for a, e in pairs))


if __name__ == "__main__":
    main()
