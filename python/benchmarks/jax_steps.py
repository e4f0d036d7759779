"""Training steps in plain JAX: the rows of jax_rows.py.

`make(name)` returns `(step, arguments)`; each step returns its loss and the new parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Tree = Any


class Weights:
    """Draws parameters; equal calls in equal order give equal weights."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def __call__(self, *shape: int) -> np.ndarray:
        fan_in = int(np.prod(shape[:-1])) or 1
        return (self.random.standard_normal(shape) / fan_in**0.5).astype(np.float32)


def trained(loss: Callable[..., jax.Array]) -> Callable[..., Any]:
    """A step of gradient descent on `loss(parameters, *batch)`."""

    def step(parameters: Tree, *batch: Any) -> tuple[jax.Array, Tree]:
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, parameters, gradients)

    return step


def normed(x: jax.Array, axes: tuple[int, ...] = (-1,)) -> jax.Array:
    centred = x - x.mean(axes, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(axes, keepdims=True) + 1e-5)


def attended(weights: Tree, x: jax.Array, heads: int, causal: bool) -> jax.Array:
    """Self-attention over `x` of batch, length and width."""
    batch, length, width = x.shape
    parts = jnp.split(normed(x) @ weights["qkv"], 3, -1)
    q, k, v = (part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / (width / heads) ** 0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ weights["out"]


def _attention(draw: Weights, width: int) -> Tree:
    return {"qkv": draw(width, 3 * width), "out": draw(width, width)}


def _cross_entropy(logits: jax.Array, classes: jax.Array) -> jax.Array:
    picked = jnp.take_along_axis(logits, classes[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def gpt(scanned: bool = False) -> tuple[Any, Any]:
    """Six layers of width 384, by a Python loop or by a scan over stacked layers."""
    layers, width, heads, vocabulary, batch, length = 6, 384, 6, 8192, 2, 256
    draw = Weights()

    def block(x: jax.Array, weights: Tree) -> jax.Array:
        x = attended(weights, x, heads, causal=True)
        return x + jax.nn.gelu(normed(x) @ weights["up"]) @ weights["down"]

    def loss(parameters: Tree, tokens: jax.Array) -> jax.Array:
        x = parameters["embedding"][tokens] + parameters["places"]
        if scanned:
            x, _ = jax.lax.scan(lambda x, weights: (block(x, weights), None), x, parameters["blocks"])
        else:
            for weights in parameters["blocks"]:
                x = block(x, weights)
        return _cross_entropy((normed(x) @ parameters["embedding"].T)[:, :-1], tokens[:, 1:])

    blocks = [
        _attention(draw, width) | {"up": draw(width, 4 * width), "down": draw(4 * width, width)} for _ in range(layers)
    ]
    parameters = {"embedding": draw(vocabulary, width), "places": draw(length, width), "blocks": blocks}
    if scanned:
        parameters["blocks"] = jax.tree.map(lambda *each: np.stack(each), *blocks)
    tokens = draw.random.integers(0, vocabulary, (batch, length)).astype(np.int32)
    return trained(loss), (parameters, tokens)


def convolved(x: jax.Array, weight: jax.Array, stride: int = 1) -> jax.Array:
    dims = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, weight, (stride, stride), "SAME", dimension_numbers=dims)


def resnet() -> tuple[Any, Any]:
    """Bottleneck blocks with batch norms in four stages of 3, 4, 6 and 3, as in ResNet-50."""
    draw = Weights()

    def norm(weights: Tree, x: jax.Array) -> jax.Array:
        return normed(x, (0, 1, 2)) * weights["scale"] + weights["shift"]

    def bottleneck(weights: Tree, x: jax.Array, stride: int) -> jax.Array:
        y = jax.nn.relu(norm(weights["first"], convolved(x, weights["first"]["kernel"])))
        y = jax.nn.relu(norm(weights["second"], convolved(y, weights["second"]["kernel"], stride)))
        y = norm(weights["third"], convolved(y, weights["third"]["kernel"]))
        if "short" in weights:
            x = norm(weights["short"], convolved(x, weights["short"]["kernel"], stride))
        return jax.nn.relu(x + y)

    def convolution(*shape: int) -> Tree:
        return {
            "kernel": draw(*shape),
            "scale": np.ones(shape[-1:], np.float32),
            "shift": np.zeros(shape[-1:], np.float32),
        }

    def block(inputs: int, inner: int, outputs: int) -> Tree:
        made = {"first": convolution(1, 1, inputs, inner), "second": convolution(3, 3, inner, inner)}
        made["third"] = convolution(1, 1, inner, outputs)
        return made | ({"short": convolution(1, 1, inputs, outputs)} if inputs != outputs else {})

    stages = ((3, 32, 1), (4, 64, 2), (6, 128, 2), (3, 256, 2))

    def loss(parameters: Tree, images: jax.Array, classes: jax.Array) -> jax.Array:
        x = jax.nn.relu(norm(parameters["stem"], convolved(images, parameters["stem"]["kernel"], 2)))
        blocks = iter(parameters["blocks"])
        for count, _, stride in stages:
            for number in range(count):
                x = bottleneck(next(blocks), x, stride if number == 0 else 1)
        return _cross_entropy(x.mean((1, 2)) @ parameters["head"], classes)

    blocks, channels = [], 32
    for count, inner, _ in stages:
        for _ in range(count):
            blocks.append(block(channels, inner, 4 * inner))
            channels = 4 * inner
    parameters = {"stem": convolution(7, 7, 3, 32), "blocks": blocks, "head": draw(channels, 100)}
    images = draw.random.standard_normal((8, 64, 64, 3)).astype(np.float32)
    return trained(loss), (parameters, images, draw.random.integers(0, 100, 8).astype(np.int32))


def _grouped(x: jax.Array) -> jax.Array:
    batch, height, width, channels = x.shape
    return normed(x.reshape(batch, height, width, 8, channels // 8), (1, 2, 4)).reshape(x.shape)


def _enlarged(x: jax.Array) -> jax.Array:
    batch, height, width, channels = x.shape
    wide = jnp.broadcast_to(x[:, :, None, :, None], (batch, height, 2, width, 2, channels))
    return wide.reshape(batch, 2 * height, 2 * width, channels)


def unet(diffusion: bool = False) -> tuple[Any, Any]:
    """Three scales with skips; as a diffusion step with noise, times and attention in the middle."""
    draw = Weights()
    widths = (32, 64, 128)

    def residual(weights: Tree, x: jax.Array, embedded: jax.Array | None) -> jax.Array:
        y = convolved(jax.nn.silu(_grouped(x)), weights["first"])
        if embedded is not None:
            y = y + (embedded @ weights["time"])[:, None, None]
        y = convolved(jax.nn.silu(_grouped(y)), weights["second"])
        return y + (convolved(x, weights["short"]) if "short" in weights else x)

    def network(parameters: Tree, x: jax.Array, embedded: jax.Array | None) -> jax.Array:
        x, skips = convolved(x, parameters["stem"]), []
        for weights in parameters["down"]:
            x = residual(weights, x, embedded)
            skips.append(x)
            x = convolved(x, weights["smaller"], 2)
        x = residual(parameters["middle"], x, embedded)
        if diffusion:
            batch, height, width, channels = x.shape
            x = attended(parameters["attention"], x.reshape(batch, height * width, channels), 4, False).reshape(x.shape)
        for weights in parameters["up"]:
            x = jnp.concatenate([convolved(_enlarged(x), weights["larger"]), skips.pop()], -1)
            x = residual(weights, x, embedded)
        return convolved(jax.nn.silu(_grouped(x)), parameters["head"])

    def denoising(parameters: Tree, images: jax.Array, seed: jax.Array) -> jax.Array:
        one, two = jax.random.split(jax.random.wrap_key_data(seed))
        time = jax.random.uniform(one, images.shape[:1])
        noise = jax.random.normal(two, images.shape)
        angles = time[:, None] * jnp.exp(jnp.arange(16) * 0.5)
        embedded = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1) @ parameters["embedding"]
        share = jnp.cos(time * np.pi / 2)[:, None, None, None]
        mixed = share * images + jnp.sqrt(1 - share**2) * noise
        return jnp.mean((network(parameters, mixed, jax.nn.silu(embedded)) - noise) ** 2)

    def segmenting(parameters: Tree, images: jax.Array, classes: jax.Array) -> jax.Array:
        return _cross_entropy(network(parameters, images, None), classes)

    def block(inputs: int, outputs: int) -> Tree:
        made = {"first": draw(3, 3, inputs, outputs), "second": draw(3, 3, outputs, outputs), "time": draw(64, outputs)}
        return made | ({"short": draw(1, 1, inputs, outputs)} if inputs != outputs else {})

    down = [
        block(before, width) | {"smaller": draw(3, 3, width, width)}
        for before, width in zip((widths[0], *widths), widths)
    ]
    up = [
        block(2 * width, width) | {"larger": draw(3, 3, before, width)}
        for before, width in zip((widths[-1], *widths[::-1]), widths[::-1])
    ]
    parameters = {"stem": draw(3, 3, 3, widths[0]), "down": down, "up": up, "middle": block(widths[-1], widths[-1])}
    parameters |= {
        "attention": _attention(draw, widths[-1]),
        "embedding": draw(32, 64),
        "head": draw(3, 3, widths[0], 3),
    }
    images = draw.random.standard_normal((4, 64, 64, 3)).astype(np.float32)
    if diffusion:
        return trained(denoising), (parameters, images, np.array([0, 1], np.uint32))
    return trained(segmenting), (parameters, images, draw.random.integers(0, 3, (4, 64, 64)).astype(np.int32))


def lstm() -> tuple[Any, Any]:
    """Two layers over 64 steps of time, by a scan."""
    draw = Weights()
    width, batch, length, vocabulary = 256, 16, 64, 512

    def layer(weights: Tree, x: jax.Array) -> jax.Array:
        def cell(state: Tree, gates: jax.Array) -> Tree:
            hidden, memory = state
            i, f, g, o = jnp.split(gates + hidden @ weights["state"], 4, -1)
            memory = jax.nn.sigmoid(f + 1) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
            return (hidden, memory), hidden

        zeros = jnp.zeros((batch, width))
        _, made = jax.lax.scan(cell, (zeros, zeros), (x @ weights["input"]).swapaxes(0, 1))
        return made.swapaxes(0, 1)

    def loss(parameters: Tree, tokens: jax.Array) -> jax.Array:
        x = parameters["embedding"][tokens]
        for weights in parameters["layers"]:
            x = layer(weights, x)
        return _cross_entropy((x @ parameters["embedding"].T)[:, :-1], tokens[:, 1:])

    layers = [{"input": draw(width, 4 * width), "state": draw(width, 4 * width)} for _ in range(2)]
    tokens = draw.random.integers(0, vocabulary, (batch, length)).astype(np.int32)
    return trained(loss), ({"embedding": draw(vocabulary, width), "layers": layers}, tokens)


def experts() -> tuple[Any, Any]:
    """Four layers, each with eight experts of which top_k chooses two for a token."""
    draw = Weights()
    tokens, width, hidden, number, capacity = 512, 128, 256, 8, 160

    def layer(weights: Tree, x: jax.Array) -> jax.Array:
        shares = jax.nn.softmax(normed(x) @ weights["router"])
        chosen_shares, chosen = jax.lax.top_k(shares, 2)
        hot = jax.nn.one_hot(chosen, number)
        flat = hot.transpose(1, 0, 2).reshape(2 * tokens, number)
        place = jnp.sum((jnp.cumsum(flat, 0) - flat) * flat, -1).reshape(2, tokens).T
        seats = jax.nn.one_hot(place.astype(jnp.int32), capacity)
        sent = jnp.einsum("nke,nkc->nec", hot, seats)
        returned = jnp.einsum("nk,nke,nkc->nec", chosen_shares, hot, seats)
        inner = jax.nn.relu(jnp.einsum("ecd,edf->ecf", jnp.einsum("nec,nd->ecd", sent, x), weights["up"]))
        return x + jnp.einsum("nec,ecd->nd", returned, jnp.einsum("ecf,efd->ecd", inner, weights["down"]))

    def loss(parameters: Tree, x: jax.Array, target: jax.Array) -> jax.Array:
        for weights in parameters:
            x = layer(weights, x)
        return jnp.mean((x - target) ** 2)

    parameters = [
        {"router": draw(width, number), "up": draw(number, width, hidden), "down": draw(number, hidden, width)}
        for _ in range(4)
    ]
    return trained(loss), (parameters, draw(tokens, width), draw(tokens, width))


STEPS = {
    "gpt": gpt,
    "scan": lambda: gpt(scanned=True),
    "resnet": resnet,
    "unet": unet,
    "diffusion": lambda: unet(diffusion=True),
    "lstm": lstm,
    "experts": experts,
}


def make(name: str) -> tuple[Any, Any]:
    """Returns `(step, arguments)`."""
    return STEPS[name]()
