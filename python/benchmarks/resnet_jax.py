"""Residual networks with batch norms in plain JAX: the model of torch_steps.py, for gpu_rows.py."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpt2_sizes import RATE
from jax_steps import Tree
from resnet_sizes import CLASSES, ResNetSize, kernel, make_batch


def convolved(x: jax.Array, weight: jax.Array, stride: int) -> jax.Array:
    pad = weight.shape[0] // 2
    dims = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, weight, (stride, stride), [(pad, pad)] * 2, dimension_numbers=dims)


def layer(weights: Tree, running: Tree, x: jax.Array, stride: int = 1) -> tuple[jax.Array, Tree]:
    """A convolution and its batch norm; returns the new running statistics as well."""
    x = convolved(x, weights["kernel"], stride)
    mean = x.mean((0, 1, 2))
    variance = ((x - mean) ** 2).mean((0, 1, 2))
    count = x.size // x.shape[-1]
    mixed = {
        "mean": 0.9 * running["mean"] + 0.1 * mean,
        "variance": 0.9 * running["variance"] + 0.1 * variance * (count / (count - 1)),
    }
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weights["scale"] + weights["shift"], mixed


def bottleneck(weights: Tree, running: Tree, x: jax.Array, stride: int) -> tuple[jax.Array, Tree]:
    mixed = {}
    y, mixed["first"] = layer(weights["first"], running["first"], x)
    y, mixed["second"] = layer(weights["second"], running["second"], jax.nn.relu(y), stride)
    y, mixed["third"] = layer(weights["third"], running["third"], jax.nn.relu(y))
    if "short" in weights:
        x, mixed["short"] = layer(weights["short"], running["short"], x, stride)
    return jax.nn.relu(x + y), mixed


def pooled(x: jax.Array) -> jax.Array:
    pads = ((0, 0), (1, 1), (1, 1), (0, 0))
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), pads)


def loss(
    weights: Tree, running: Tree, images: jax.Array, classes: jax.Array, size: ResNetSize, checkpointed: bool
) -> tuple[jax.Array, Tree]:
    mixed: Tree = {"blocks": []}
    x, mixed["stem"] = layer(weights["stem"], running["stem"], images, 2)
    x = pooled(jax.nn.relu(x))
    strides = [stride if number == 0 else 1 for count, _, stride in size.stages for number in range(count)]
    for each, statistics, stride in zip(weights["blocks"], running["blocks"], strides, strict=True):
        run = functools.partial(bottleneck, stride=stride)
        x, new = (jax.checkpoint(run) if checkpointed else run)(each, statistics, x)
        mixed["blocks"].append(new)
    logits = x.mean((1, 2)) @ weights["head"]["kernel"] + weights["head"]["bias"]
    picked = jnp.take_along_axis(logits, classes[:, None], -1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked), mixed


def make_weights(size: ResNetSize) -> Tree:
    """Draws in the order of the parameters of torch_steps.py."""
    random = np.random.default_rng(0)

    def made(inputs: int, outputs: int, extent: int) -> Tree:
        drawn = kernel(random, outputs, inputs, extent, extent).transpose(2, 3, 1, 0)
        return {"kernel": drawn, "scale": np.ones(outputs, np.float32), "shift": np.zeros(outputs, np.float32)}

    weights, channels = {"stem": made(3, 64, 7), "blocks": []}, 64
    for count, inner, stride in size.stages:
        for number in range(count):
            each = {"first": made(channels, inner, 1), "second": made(inner, inner, 3)}
            each["third"] = made(inner, 4 * inner, 1)
            if channels != 4 * inner or (number == 0 and stride > 1):
                each["short"] = made(channels, 4 * inner, 1)
            weights["blocks"].append(each)
            channels = 4 * inner
    weights["head"] = {"kernel": kernel(random, CLASSES, channels).T, "bias": np.zeros(CLASSES, np.float32)}
    return weights


def make(size: ResNetSize, checkpointed: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """Returns `(step, arguments)`; the step returns the loss, and the new weights and running statistics."""

    def step(state: Tree, images: jax.Array, classes: jax.Array) -> tuple[jax.Array, Tree]:
        weights, running = state
        call = functools.partial(loss, size=size, checkpointed=checkpointed)
        (value, mixed), gradients = jax.value_and_grad(call, has_aux=True)(weights, running, images, classes)
        return value, (jax.tree.map(lambda w, g: w - RATE * g, weights, gradients), mixed)

    weights = make_weights(size)
    layers = {name: weights[name] for name in ("stem", "blocks")}
    of_layer = lambda w: {"mean": np.zeros_like(w["scale"]), "variance": np.ones_like(w["scale"])}
    running = jax.tree.map(of_layer, layers, is_leaf=lambda tree: "kernel" in tree)
    return step, ((weights, running), *make_batch(size))
