"""Memory and collectives of each of four host devices, with plans and without.

usage: jax_devices.py [ROW ...] [--shares 75,50,35]

A GPT of four layers runs data parallel and tensor parallel, each by shardings and by `shard_map`.
Each line names XLA's temporary memory per device in MiB, the collectives of the program, and the largest difference of
a result from that of the step without a plan. Shares refer to the plan that recomputes nothing. Searches count work.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"  # JAX reads it when it is imported.

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import ckpt  # noqa: E402
import ckpt.jax  # noqa: E402
from ckpt.jax import xla  # noqa: E402
from ckpt.jax.check import compare  # noqa: E402
from jax_steps import Tree, Weights, normed, trained  # noqa: E402
from rows import parser_of  # noqa: E402

MIB = 2**20
AXIS = "devices"
LAYERS, WIDTH, HEADS, VOCABULARY, BATCH, LENGTH = 4, 128, 4, 256, 32, 128
EFFORT = 2.0
_COLLECTIVE = re.compile(r" (?:all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(")


def parameters() -> Tree:
    draw = Weights()
    block = {"qkv": (WIDTH, 3, WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    blocks = [{name: draw(*shape) for name, shape in block.items()} for _ in range(LAYERS)]
    return {"embedding": draw(VOCABULARY, WIDTH), "blocks": blocks}


def loss(parameters: Tree, tokens: jax.Array, combine: Callable[[jax.Array], jax.Array] = lambda x: x) -> jax.Array:
    """`combine` sums the parts of a layer that the devices make."""
    x = parameters["embedding"][tokens]
    rows = x.shape[:2]
    for weights in parameters["blocks"]:
        parts = jnp.einsum("btw,wpv->btpv", normed(x), weights["qkv"])
        q, k, v = (part.reshape(*rows, -1, WIDTH // HEADS) for part in jnp.unstack(parts, axis=2))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH / HEADS) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e30)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(*rows, -1)
        x = x + combine(mixed @ weights["out"])
        x = x + combine(jax.nn.gelu(normed(x) @ weights["up"]) @ weights["down"])
    logits = (normed(x) @ parameters["embedding"].T)[:, :-1]
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)


def updated(parameters: Tree, gradients: Tree) -> Tree:
    return jax.tree.map(lambda w, g: w - 0.01 * g, parameters, gradients)


@dataclasses.dataclass
class Row:
    """A step on four devices: `compiled(budget)` is its planned program, and without one that of plain `jit`."""

    arguments: tuple[Any, ...]
    plain: Any
    compiled: Callable[[int | None], Any]


_BLOCK = {"qkv": P(None, None, AXIS), "out": P(AXIS, None), "up": P(None, AXIS), "down": P(AXIS, None)}
SPLIT_WEIGHTS = {"embedding": P(), "blocks": [_BLOCK] * LAYERS}


def _by_shardings(mesh: Mesh, weights: Tree, batch: P, arguments: tuple[Any, ...]) -> Row:
    step, place = trained(loss), lambda spec: NamedSharding(mesh, spec)
    places = jax.tree.map(place, weights, is_leaf=lambda leaf: isinstance(leaf, P))
    placed = jax.device_put(arguments, (places, place(batch)))
    options = {"out_shardings": (place(P()), places)}

    def compiled(budget: int | None) -> Any:
        return ckpt.jax.jit(step, budget=budget, effort=EFFORT, **options).compile(*placed).executable

    return Row(placed, xla.compiled(step, placed, {}, **options), compiled)


def data_by_shardings(mesh: Mesh, arguments: tuple[Any, ...]) -> Row:
    return _by_shardings(mesh, P(), P(AXIS), arguments)


def tensor_by_shardings(mesh: Mesh, arguments: tuple[Any, ...]) -> Row:
    return _by_shardings(mesh, SPLIT_WEIGHTS, P(), arguments)


def _by_shard_map(mesh: Mesh, local: Callable[..., Any], weights: Tree, batch: P, arguments: tuple[Any, ...]) -> Row:
    specs = {"mesh": mesh, "in_specs": (weights, batch), "out_specs": (P(), weights), "check_vma": False}

    def compiled(budget: int | None) -> Any:
        planned = jax.shard_map(ckpt.jax.planned(local, budget=budget, effort=EFFORT), **specs)
        return xla.compiled(planned, arguments, {}, compiler_options=ckpt.jax.compiler_options())

    return Row(arguments, xla.compiled(jax.shard_map(local, **specs), arguments, {}), compiled)


def data_parallel(mesh: Mesh, arguments: tuple[Any, ...]) -> Row:
    def local(parameters: Tree, tokens: jax.Array) -> tuple[jax.Array, Tree]:
        value, gradients = jax.value_and_grad(loss)(parameters, tokens)
        gradients = jax.tree.map(lambda g: jax.lax.pmean(g, AXIS), gradients)
        return jax.lax.pmean(value, AXIS), updated(parameters, gradients)

    return _by_shard_map(mesh, local, P(), P(AXIS), arguments)


def tensor_parallel(mesh: Mesh, arguments: tuple[Any, ...]) -> Row:
    def local(parameters: Tree, tokens: jax.Array) -> tuple[jax.Array, Tree]:
        def share(parameters: Tree, tokens: jax.Array) -> jax.Array:
            return loss(parameters, tokens, lambda x: jax.lax.psum(x, AXIS)) / jax.lax.psum(1, AXIS)

        value, gradients = jax.value_and_grad(share)(parameters, tokens)
        gradients["embedding"] = jax.lax.psum(gradients["embedding"], AXIS)
        return jax.lax.psum(value, AXIS), updated(parameters, gradients)

    return _by_shard_map(mesh, local, SPLIT_WEIGHTS, P(), arguments)


ROWS = {
    "data-shardings": data_by_shardings,
    "data-shard-map": data_parallel,
    "tensor-shardings": tensor_by_shardings,
    "tensor-shard-map": tensor_parallel,
}


def line(name: str, budget: int | None, made: Any, row: Row) -> str:
    check = compare(xla.temp_bytes(made), 0, made(*row.arguments), row.plain(*row.arguments))
    asked = "" if budget is None else f"{budget / MIB:.2f}"
    collectives = len(_COLLECTIVE.findall(made.as_text()))
    return f"  {name:>9} {asked:>7} {check.temp_bytes / MIB:>7.2f} {collectives:>4} {check.largest_difference:.0e}"


def main() -> None:
    options = parser_of(__doc__, ROWS).parse_args()
    mesh = Mesh(np.array(jax.devices()), (AXIS,))
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (BATCH, LENGTH)).astype(np.int32)
    print(f"JAX {jax.__version__} on {len(jax.devices())} devices of {jax.default_backend()}")
    for name in options.rows or ROWS:
        row = ROWS[name](mesh, (parameters(), tokens))
        unlimited = row.compiled(None)
        print(name, line("plain jit", None, row.plain, row), line("no budget", None, unlimited, row), sep="\n")
        for share in map(float, options.shares.split(",")):
            budget = int(xla.temp_bytes(unlimited) * share / 100)
            try:
                text = line(f"{share:g} %", budget, row.compiled(budget), row)
            except ckpt.BudgetError as error:
                text = f"  {share:>7g} % {budget / MIB:>7.2f} none: {str(error).splitlines()[0]}"
            print(text, flush=True)


if __name__ == "__main__":
    main()
