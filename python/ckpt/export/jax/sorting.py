"""Sorting with static shapes: by counting, for each element, those that come before it.

The rank of an element is a plain reduction over comparisons, and the order the inverse of the ranks, another one.
Both are exact and stable, and take n * n operations for n elements, none of which stands in memory.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp

# How many times as many elements as are wanted make it cheaper to look for one after the other.
MANY = 32


def equal_zeros(x: jax.Array) -> jax.Array:
    """Floating-point numbers as JAX sorts them: zeros of both signs are equal, and what is not a number is last."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(x == 0, jnp.zeros((), x.dtype), jnp.where(x != x, jnp.array(jnp.nan, x.dtype), x))


def ordered(x: jax.Array) -> jax.Array:
    """Integers in the total order of all bit patterns, which is that of jax.lax.top_k."""
    if x.dtype == jnp.bool_:
        return x.astype(jnp.int32)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    integer = jnp.dtype(f"int{8 * x.dtype.itemsize}")
    bits = jax.lax.bitcast_convert_type(x, integer)
    return jnp.where(bits < 0, bits ^ jnp.iinfo(integer).max, bits)


def comes_before(left: Sequence[jax.Array], right: Sequence[jax.Array]) -> jax.Array:
    """Whether the keys on the left are before those on the right, the first that differ decide."""
    result = left[-1] < right[-1]
    for one, other in zip(reversed(left[:-1]), reversed(right[:-1])):
        result = (one < other) | (one == other) & result
    return result


def order_of(keys: Sequence[jax.Array], count: int) -> jax.Array:
    """The places of the first elements by their keys, along the last axis; equal ones in the order they have."""
    length = keys[0].shape[-1]
    places = jnp.arange(length, dtype=jnp.int32)
    keys = [*keys, jnp.broadcast_to(places, keys[0].shape)]
    before = comes_before([key[..., None, :] for key in keys], [key[..., :, None] for key in keys])
    ranks = jnp.sum(before.astype(jnp.int32), -1, dtype=jnp.int32)
    found = ranks[..., None, :] == jnp.arange(count, dtype=jnp.int32)[:, None]
    return jnp.sum(jnp.where(found, places, 0), -1, dtype=jnp.int32)


def take(x: jax.Array, order: jax.Array) -> jax.Array:
    return jnp.take_along_axis(x, order, -1, mode="clip")


def sort(*operands: jax.Array, dimension: int, num_keys: int, **unused) -> list[jax.Array]:
    """jax.lax.sort, stable."""
    operands = [jnp.moveaxis(operand, dimension, -1) for operand in operands]
    keys = [ordered(equal_zeros(operand)) for operand in operands[:num_keys]]
    order = order_of(keys, operands[0].shape[-1])
    return [jnp.moveaxis(take(operand, order), -1, dimension) for operand in operands]


def top_k(operand: jax.Array, *, k: int, axis: int = -1, **unused) -> list[jax.Array]:
    """jax.lax.top_k: few of many by the largest again and again, otherwise by sorting."""
    operand = jnp.moveaxis(operand, axis, -1)
    # The largest first: the complement of an integer turns its order around.
    keys = ~ordered(operand)
    order = smallest(keys, k) if 0 < k * MANY <= operand.shape[-1] else order_of([keys], k)
    return [jnp.moveaxis(x, -1, axis) for x in (take(operand, order), order)]


def approximate_top_k(operand: jax.Array, *, k: int, reduction_dimension: int, is_max_k: bool, **options) -> list[jax.Array]:
    """jax.lax.approx_max_k and approx_min_k, which may find the right elements: as many as JAX returns."""
    search = functools.partial(jax.lax.approx_max_k, k=k, reduction_dimension=reduction_dimension, **options)
    count = jax.eval_shape(search, operand)[0].shape[reduction_dimension]
    values, places = top_k(operand if is_max_k else -operand, k=count, axis=reduction_dimension)
    return [values if is_max_k else -values, places]


def smallest(keys: jax.Array, count: int) -> jax.Array:
    """The places of the smallest keys, one after the other."""
    places = jnp.arange(keys.shape[-1], dtype=jnp.int32)
    taken = jnp.zeros(keys.shape, jnp.bool_)
    found = []
    for _ in range(count):
        rest = jnp.where(taken, jnp.iinfo(keys.dtype).max, keys)
        place = jnp.min(jnp.where(~taken & (rest == rest.min(-1, keepdims=True)), places, places.size), -1, keepdims=True)
        taken = taken | (places == place)
        found.append(place)
    return jnp.concatenate(found, -1).astype(jnp.int32)
