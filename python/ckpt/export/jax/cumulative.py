"""Cumulative sums, products, extrema and log-sums of exponentials as plain reductions.

Within blocks of BLOCK elements, an element is a reduction over those before it, the others masked
out; what comes before a block is the same cumulation of the blocks' totals. So n elements take BLOCK
operations each and log(n) / log(BLOCK) levels, and only totals stand in memory besides the result.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

BLOCK = 32


def lowest(dtype: jnp.dtype) -> jax.Array:
    return jnp.array(-jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min, dtype)


def highest(dtype: jnp.dtype) -> jax.Array:
    return jnp.array(jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max, dtype)


# Of each primitive: how two numbers combine, how many do along an axis, and the number that changes none.
KINDS = {
    "cumsum": (jax.lax.add, jnp.sum, lambda dtype: jnp.zeros((), dtype)),
    "cumprod": (jax.lax.mul, jnp.prod, lambda dtype: jnp.ones((), dtype)),
    "cummax": (jax.lax.max, jnp.max, lowest),
    "cummin": (jax.lax.min, jnp.min, highest),
}


def along_last(cumulate: Callable[[jax.Array], jax.Array], x: jax.Array, axis: int, reverse: bool) -> jax.Array:
    """Cumulates along any axis, in either direction, by a function of the last."""
    x = jnp.moveaxis(x, axis, -1)
    x = jnp.flip(cumulate(jnp.flip(x, -1)), -1) if reverse else cumulate(x)
    return jnp.moveaxis(x, -1, axis)


def in_blocks(x: jax.Array, identity: jax.Array) -> jax.Array:
    """The last dimension as blocks, the last of them filled up."""
    length = x.shape[-1]
    block = min(length, BLOCK)
    count = -(-length // block)
    padding = [(0, 0)] * (x.ndim - 1) + [(0, count * block - length)]
    return jnp.pad(x, padding, constant_values=identity).reshape(*x.shape[:-1], count, block)


def masked(blocks: jax.Array, identity: jax.Array) -> jax.Array:
    """Of each element of a block, those before it and itself along a new last dimension."""
    size = blocks.shape[-1]
    before = jnp.arange(size)[None, :] <= jnp.arange(size)[:, None]
    return jnp.where(before, blocks[..., None, :], identity)


def after_blocks(totals: jax.Array, inclusive: jax.Array, identity: jax.Array) -> jax.Array:
    """What comes before each block, from the cumulated totals of the blocks."""
    first = jnp.broadcast_to(identity, (*totals.shape[:-1], 1))
    return jnp.concatenate([first, inclusive[..., :-1]], -1)[..., None]


def cumulate(kind: str, x: jax.Array) -> jax.Array:
    """Cumulates along the last axis."""
    if not x.size:
        return x
    combine, reduce, identity_of = KINDS[kind]
    identity = identity_of(x.dtype)
    blocks = in_blocks(x, identity)
    options = {"dtype": x.dtype} if kind in ("cumsum", "cumprod") else {}
    inside = reduce(masked(blocks, identity), -1, **options)
    if blocks.shape[-2] > 1:
        totals = reduce(blocks, -1, **options)
        inside = combine(inside, jnp.broadcast_to(after_blocks(totals, cumulate(kind, totals), identity), inside.shape))
    return inside.reshape(*x.shape[:-1], -1)[..., : x.shape[-1]]


def cumulate_exponentials(x: jax.Array) -> jax.Array:
    """The logarithm of cumulated exponentials, each relative to the largest number before it."""
    if not x.size:
        return x
    identity = lowest(x.dtype)
    blocks = in_blocks(x, identity)
    largest = in_blocks(cumulate("cummax", x), identity)
    largest = jnp.where(jnp.isfinite(largest), largest, 0)
    inside = jnp.log(jnp.sum(jnp.exp(masked(blocks, identity) - largest[..., None]), -1)) + largest
    if blocks.shape[-2] > 1:
        totals = jax.nn.logsumexp(blocks, -1)
        before = after_blocks(totals, cumulate_exponentials(totals), identity)
        inside = jnp.logaddexp(inside, jnp.broadcast_to(before, inside.shape))
    return inside.reshape(*x.shape[:-1], -1)[..., : x.shape[-1]]
