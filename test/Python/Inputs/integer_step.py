"""Integers and booleans of all kinds that are multiplied as wider numbers, and what else conversions are for."""

import jax
import jax.numpy as jnp
import numpy as np


def numbers(array):
    return array.astype(jnp.float32)


def integers(array):
    return array.astype(jnp.int32)


def convolve(images, filters, **options):
    return jax.lax.conv_general_dilated(
        images, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **options
    )


def dots(mask, bytes, signed, x):
    """As jnp writes them: a conversion, then a product of one type."""
    for array in mask, bytes, signed:
        yield numbers(array) @ x
        yield x[0] @ numbers(array[0])
        yield jnp.einsum("bqk,bdk->bqd", numbers(array), x)
        yield numbers(array[0]) @ x[0, 0]
        yield integers(array) @ integers(bytes)
    yield numbers(mask) @ numbers(bytes)
    yield numbers(x > 0.5) @ x
    yield bytes[0].astype(jnp.bfloat16) @ x[0].astype(jnp.bfloat16)


def wider_results(mask, bytes, signed, x):
    """Products that are wider than what is multiplied, without a conversion."""
    yield jax.lax.dot(bytes[0], bytes[1], preferred_element_type=jnp.int32)
    yield jax.lax.dot(bytes[0], bytes[1], preferred_element_type=jnp.uint32)
    yield jax.lax.dot(bytes[0], bytes[1], preferred_element_type=jnp.float32)
    yield jax.lax.dot(signed[0], signed[1], preferred_element_type=jnp.int32)
    images, filters = bytes.reshape(2, 4, 4, 4), bytes[:1].reshape(2, 2, 4, 4)
    yield convolve(images, filters, preferred_element_type=jnp.int32)


def convolutions(mask, bytes, signed, x):
    for array in mask, bytes, signed:
        yield convolve(numbers(array).reshape(2, 4, 4, 4), x[:1].reshape(2, 2, 4, 4))
        yield convolve(x.reshape(2, 4, 4, 4), numbers(array[:1]).reshape(2, 2, 4, 4))
        yield convolve(integers(array).reshape(2, 4, 4, 4), integers(bytes[:1]).reshape(2, 2, 4, 4))


def others(mask, bytes, signed, x):
    """What is right without care, and has to stay so."""
    for array in mask, bytes, signed:
        yield integers(array).sum(1)
        yield numbers(array).mean(2)
        yield array * x
        yield array > 100
    yield numbers(jnp.max(bytes, 1))
    yield jax.nn.one_hot(bytes[0] % 8, 8) @ x[0]
    yield jnp.argmax(bytes, 1)
    yield bytes[::-1, :, ::-1]
    yield jnp.packbits(mask, axis=1)
    # A conversion of scalars, in the body of a reduction.
    yield jax.lax.reduce(x, np.float32(0), lambda a, b: jnp.maximum(a, b) + 0 * numbers(a > b), (1,))


def step(*arrays):
    loop = lambda carry, row: (carry + numbers(row[0]) @ numbers(row[1]), None)
    looped, _ = jax.lax.scan(loop, arrays[3][0], arrays[:2])
    return looped, [list(part(*arrays)) for part in (dots, wider_results, convolutions, others)]


def example_arguments():
    random = np.random.default_rng(0)
    mask = random.integers(0, 2, (2, 8, 8)).astype(bool)
    bytes = random.integers(0, 256, (2, 8, 8)).astype(np.uint8)
    signed = random.integers(-128, 128, (2, 8, 8)).astype(np.int8)
    return mask, bytes, signed, random.standard_normal((2, 8, 8)).astype(np.float32)


def brain_step(x, weights):
    """Floating-point operands stay narrow."""
    return jax.lax.dot(x, weights, preferred_element_type=jnp.float32)


def brain_arguments():
    return jnp.ones((8, 8), jnp.bfloat16), jnp.ones((8, 8), jnp.bfloat16)
